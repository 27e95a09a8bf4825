"""`cobalance datasets export-graph`: the concept graph for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobalance.app.cli.shared.declared import listed
from cobalance.app.cli.shared.options import DatasetName, cleaned
from cobalance.app.cli.shared.stores import opened_store
from cobalance.app.cli.shared.terminal import notes, out
from cobalance.graph.plurals import inflect

if TYPE_CHECKING:
    pass


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
    from cobalance.graph.dataset.cliques import load_cliques
    from cobalance.workflows.export_graph.files import save_graph
    from cobalance.workflows.export_graph.tables import dataset_incidence, graph_tables

    with opened_store() as (store, _):
        incidence = dataset_incidence(store, dataset, split)
        mined = load_cliques(store, dataset) if cliques else None
    tables = graph_tables(incidence, with_centrality=centrality, cliques=mined)
    command = save_graph(tables, target, format_, dataset=dataset, overwrite=overwrite)
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
