"""`cobalance datasets export-graph`: the concept graph for other tools."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared.declared import listed
from cobalance.app.cli.shared.options import DatasetName, cleaned
from cobalance.app.cli.shared.stores import opened_store
from cobalance.app.cli.shared.terminal import notes, out
from cobalance.graph.dataset import cliques as kept_cliques
from cobalance.graph.plurals import inflect
from cobalance.workflows.export_graph import files as graph_files, tables as export_tables


def export_graph(
    dataset: DatasetName,
    target: Annotated[Path, typer.Argument(help="The file to write, or the folder, for Neo4j.")],
    format_: Annotated[
        str | None,
        typer.Option(
            "--as",
            help=f"The format: {listed('workflows.export_graph.files.FORMATS')}. Default: by the "
            "suffix.",
        ),
    ] = None,
    centrality: Annotated[
        bool,
        typer.Option(
            "--centrality",
            help="With degree, strength, betweenness, pagerank and community of each concept.",
        ),
    ] = False,
    cliques: Annotated[
        bool, typer.Option("--cliques", help="With the mined cliques as nodes.")
    ] = False,
    split: Annotated[
        str | None, typer.Option(help="Only images of this split are counted.", callback=cleaned)
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace what is there: the file, or all in the folder."),
    ] = False,
) -> None:
    """Write the concept graph as GraphML, GEXF, node-link JSON, or CSV for Neo4j's import.

    Concepts and classes with the images that they share, in all and of each class, and how each
    concept and pair leans to a class.
    """
    with opened_store() as (store, _):
        incidence = export_tables.dataset_incidence(store, dataset, split)
        mined = kept_cliques.load_cliques(store, dataset) if cliques else None
    tables = export_tables.graph_tables(incidence, with_centrality=centrality, cliques=mined)
    command = graph_files.save_graph(tables, target, format_, dataset=dataset, overwrite=overwrite)
    sizes = [
        inflect(len(tables.concepts), "concepts"),
        inflect(len(tables.class_sizes), "classes"),
        inflect(len(tables.pairs), "pairs of concepts"),
        *([] if mined is None else [inflect(len(mined), "cliques")]),
    ]
    notes.print(f"{target}: {', '.join(sizes)}.")
    if command is not None:
        notes.print("To import it, with Neo4j's own tool and an empty database:")
        out.print(command, soft_wrap=True)
