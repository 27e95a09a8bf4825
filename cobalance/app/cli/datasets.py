"""`cobalance datasets`: list, show, drop and rename datasets, and export their graphs."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared import (
    DatasetName,
    Name,
    SimilarityOption,
    TableOutput,
    YesOption,
    clean_names,
    confirm,
    folders,
    notes,
    opened_store,
    out,
    read_environment,
)
from cobalance.base import inflect, options as plugin_options, pandas as pd
from cobalance.base.safe_text import safe_text
from cobalance.graph import CATALOGUE
from cobalance.graph.dataset import cliques as kept_cliques, names, state as states
from cobalance.graph.jobs import status as job_status
from cobalance.workflows import FORMATS, settings as all_settings
from cobalance.workflows.diagnose import tables as diagnose_tables
from cobalance.workflows.embed import search as vectors
from cobalance.workflows.export_graph import files as graph_files, tables as graph_tables
from cobalance.workflows.load import dataset as loading

app = typer.Typer(no_args_is_help=True)
_Centrality = Annotated[
    bool, "With degree, strength, betweenness, pagerank and community of each concept."
]
_WHOLE = ("dataset", "state", "source")
_SPARE = ("updated_at", "classes", "cliques", "concepts")


@app.command("list")
def list_(to: TableOutput) -> None:
    """List all datasets with their sizes and state."""
    with opened_store() as (store, _):
        frame = states.list_datasets(store)
    if frame.empty and to.is_table:
        notes.print("The store is empty. Try `cobalance demo`, or `cobalance ingest FILE`.")
    else:
        if to.is_shown:
            frame = _shorten(frame)
        to.write(frame, unbroken=_WHOLE, spare=_SPARE)


@app.command()
def show(to: TableOutput, dataset: DatasetName, centrality: _Centrality = False) -> None:
    """Show a dataset's classes, splits, and concepts with their images in each class."""
    with opened_store() as (store, _):
        state = states.dataset_state(store, dataset)
        summary = states.list_datasets(store).query("dataset == @dataset")
        size = store.read(CATALOGUE["graph-size"].text, dataset=dataset)[0]
        counts = store.read_frame(CATALOGUE["concepts-by-class"].text, dataset=dataset)
        classes = store.read(CATALOGUE["classes"].text, dataset=dataset)
        splits = names.split_sizes(store, dataset)
        measured = graph_tables.dataset_centrality(store, dataset) if centrality else None

    if to.is_shown:
        to.write(_shorten(summary), unbroken=_WHOLE, spare=_SPARE)
        nodes, edges = inflect(size["nodes"], "nodes"), inflect(size["edges"], "edges")
        out.print(f"Concept graph: {nodes}, {edges}")
        sizes = ", ".join(f"{row['class']} {row['images']:,}" for row in classes)
        out.print(f"Images per class: {sizes}")
        if splits.keys() != {None}:
            sizes = ", ".join(f"{name or '(none)'} {images:,}" for name, images in splits.items())
            out.print(f"Images per split: {sizes}")
        if state.mining is not None:
            stale = "" if state.is_mined else " The images have changed since."
            mining = diagnose_tables.describe_mining(state.mining_options())
            out.print(f"{mining}{stale}")

    # A row for each concept, a column for each class.
    table = counts.pivot_table(
        index=["concept", "images"], columns="class", values="count", aggfunc="sum"
    ).reset_index()
    table.columns.name = None
    table = table.sort_values(["images", "concept"], ascending=[False, True])
    if measured is not None:
        table = table.merge(measured, how="left", on="concept")
    to.write(table, spare=[row["class"] for row in reversed(classes)])


def _shorten(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The list for people: dates for times, demonstrations as such; other formats have all."""
    source = frame["source"].where(~frame["demo"], "demo: " + frame["source"])
    days = frame["updated_at"].str[:10]
    return frame.drop(columns="demo").assign(updated_at=days, source=source).map(_cut)


def _cut(cell: object) -> object:
    """A long text without its middle, on a terminal."""
    half = out.width // 8
    is_long = isinstance(cell, str) and len(cell) > 2 * half + 1
    if not out.is_terminal or not is_long:
        return cell
    return f"{str(cell)[:half]}…{str(cell)[-half:]}"


@app.command()
def check(to: TableOutput, dataset: DatasetName, similarity: SimilarityOption = 0.97) -> None:
    """List clusters, and near duplicates where there are embeddings, that are in several splits."""
    with opened_store() as (store, progress):
        frame = vectors.find_across_splits(store, folders(), dataset, similarity, progress)

    # A group has a row for each of its images.
    kinds = frame.drop_duplicates(["what", "group"])["what"].value_counts()
    counts = [f"{kind} in several splits: {n:,}" for kind, n in kinds.items()]
    notes.print("; ".join(counts) or "Nothing stands in several splits.")
    to.write(frame)


@app.command()
def drop(dataset: DatasetName, yes: YesOption = False) -> None:
    """Delete a dataset and everything derived from it; images that jobs made stay."""
    settings = read_environment()
    with opened_store() as (store, progress):
        states.dataset_state(store, dataset, may_load=False)
        jobs = job_status.list_jobs(store, dataset, limit=plugin_options.NO_LIMIT)
        if not yes:
            confirm(_drop_question(dataset, jobs, settings))
        loading.drop_dataset(store, settings.folders(), dataset, progress)

    notes.print(f"Dropped {dataset!r}.")
    job_folders = [folder for job in jobs if (folder := _folder(job, settings)) is not None]
    if job_folders:
        notes.print("The files of its jobs stay in:")
    for folder in job_folders:
        notes.print(f"  {folder}")


def _drop_question(
    dataset: str, jobs: "list[job_status.Job]", settings: "all_settings.Settings"
) -> str:
    """Question whether to drop a dataset, with the number of its jobs."""
    question = f"Drop {dataset!r} with all its images, cliques and plans"
    if jobs:
        active = sum(job.is_active for job in jobs)
        still = f", {active:,} of them queued or running" if active else ""
        question += f", and its {inflect(len(jobs), 'jobs')}{still} (their files stay in "
        question += f"{settings.folders().output})"
    return safe_text(f"{question}?")


def _folder(job: "job_status.Job", settings: "all_settings.Settings") -> str | None:
    """The folder with a job's files, or None if it has none; behind a URL, by the job's counts."""
    folder = f"{settings.folders().output.rstrip('/')}/{job.id}"
    # A URL would have to be asked: the job's counts tell as much.
    if "://" in folder:
        return folder if job.accepted + job.rejected > 0 else None
    return folder if Path(folder).is_dir() else None


@app.command()
def rename(
    dataset: DatasetName,
    new: Annotated[str, typer.Argument(help="Its new name.", callback=clean_names)],
) -> None:
    """Rename a dataset."""
    with opened_store() as (store, progress):
        loading.rename_dataset(store, folders(), dataset, new, progress)
    notes.print(f"Renamed {dataset!r} to {new!r}.")


@app.command()
def export_graph(
    dataset: DatasetName,
    target: Annotated[Path, typer.Argument(help="The file to write, or the folder, for Neo4j.")],
    format_: Annotated[
        str | None,
        typer.Option("--as"),
        f"The format: {', '.join(FORMATS)}. Default: by the suffix.",
    ] = None,
    centrality: _Centrality = False,
    cliques: Annotated[bool, "With the mined cliques as nodes."] = False,
    split: Annotated[Name, "Only images of this split are counted."] = None,
    overwrite: Annotated[bool, "Replace what is there: the file, or all in the folder."] = False,
) -> None:
    """Write the concept graph as GraphML, GEXF, node-link JSON, or CSV for Neo4j's import.

    Concepts and classes with the images that they share, in all and of each class, and how each
    concept and pair leans to a class.
    """
    with opened_store() as (store, _):
        incidence = graph_tables.dataset_incidence(store, dataset, split)
        mined = kept_cliques.load_cliques(store, dataset) if cliques else None
    tables = graph_tables.graph_tables(incidence, with_centrality=centrality, cliques=mined)

    command = graph_files.save_graph(tables, target, format_, dataset=dataset, overwrite=overwrite)

    sizes = [
        inflect(len(tables.concepts), "concepts"),
        inflect(len(tables.class_sizes), "classes"),
        inflect(len(tables.pairs), "pairs of concepts"),
    ]
    if mined is not None:
        sizes.append(inflect(len(mined), "cliques"))
    notes.print(f"{target}: {', '.join(sizes)}.")
    if command is not None:
        notes.print("To import it, with Neo4j's own tool and an empty database:")
        out.print(command, soft_wrap=True)
