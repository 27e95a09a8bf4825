"""`cobalance embeddings`: compute or add vectors, find similar images and near duplicates."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared import (
    Assignments,
    DatasetName,
    SimilarityOption,
    TableOutput,
    assigned,
    folders,
    notes,
    opened_store,
    out,
    read_environment,
)
from cobalance.base import Progress, inflect, install_command, needs_extra, plugins
from cobalance.evaluation.training import features as feature_kinds
from cobalance.graph.database import store as stores
from cobalance.graph.tasks import lifecycle as task_lifecycle
from cobalance.workflows.embed import search

app = typer.Typer(no_args_is_help=True)


@app.command()
def add(
    dataset: DatasetName,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Parquet, .npz or CSV with ids and vectors, or a .npy array."
        ),
    ],
    ids: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ids of a .npy array's rows, one a line.")
    ] = None,
    id_column: Annotated[str, "Column with the image's id, or array of .npz."] = "id",
    vector_column: Annotated[
        str | None,
        "Column of vectors in Parquet, or array of .npz. Default: the only one of lists.",
    ] = None,
) -> None:
    """Keep the vectors of a dataset's images, in place of those before."""
    with opened_store() as (store, _):
        n_vectors, n_images = search.add_embeddings(
            store, folders(), dataset, file, ids, id_column=id_column, vector_column=vector_column
        )

    notes.print(
        f"{inflect(n_vectors, 'vectors')} kept; {inflect(n_images, 'images')} of {dataset} have "
        "one."
    )


@app.command()
def compute(
    dataset: DatasetName,
    features: Annotated[
        str, f"Image features: {', '.join(feature_kinds.FEATURES)}."
    ] = feature_kinds.USUAL,
    setting: Annotated[
        Assignments, "An option of the features, such as model=FOLDER. Repeat it."
    ] = None,
    here: Annotated[bool, "Work now, in this process: compute them."] = False,
) -> None:
    """Have a worker compute the vectors of a dataset's images, in place of those before.

    Print the task's id. `pixels` needs no model; the others load one.
    """
    with needs_extra("Computing vectors", "worker"):
        from cobalance.workflows import order_embeddings
    with opened_store() as (store, progress):
        task = order_embeddings(store, dataset, features, assigned(setting))
        run_or_announce(store, task, progress, here=here)

    extra = feature_kinds.FEATURES[features].extra
    if not here and extra and not plugins.is_installed(extra):
        notes.print(f"Workers need the extra {extra}: {install_command(extra)}")


def run_or_announce(
    store: "stores.GraphStore", task: str, progress: Progress, *, here: bool
) -> None:
    """Print a task's id; execute it here, or say how workers do."""
    out.print(task)
    if not here:
        notes.print("Compute them: cobalance work --until-idle")
        return

    with needs_extra("Working here", "worker"):
        from cobalance.workflows import run_here

    settings = read_environment()
    run_here(settings, [task], settings.queue_url(), progress)

    ended = task_lifecycle.read_task(store, task)
    for remark in ended.remarks:
        notes.print(remark)
    if ended.state != "done":
        raise typer.Exit(1)


@app.command()
def similar(
    to: TableOutput,
    dataset: DatasetName,
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="Id of an image.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many images.")] = 20,
) -> None:
    """List the images most like one, by the cosine of their vectors."""
    with opened_store() as (store, _):
        embedded = search.require_embedded(store, folders(), dataset)
    to.write(embedded.similar(image, count))


@app.command()
def duplicates(
    to: TableOutput,
    dataset: DatasetName,
    similarity: SimilarityOption = 0.97,
    as_clusters: Annotated[
        bool,
        typer.Option("--as-clusters", help="Count each group as a cluster, and no other images."),
    ] = False,
) -> None:
    """List groups of near duplicates; those in several classes come first."""
    with opened_store() as (store, progress):
        embedded = search.require_embedded(store, folders(), dataset)
        frame = embedded.duplicates(similarity, progress)
        if as_clusters:
            search.cluster_duplicates(store, dataset, frame, progress)
            notes.print(f"Count them: cobalance mine {dataset}")

    # `classes` lists those of the whole group, `class` is the image's own.
    across = frame[frame["classes"] != frame["class"]]["group"].nunique()
    notes.print(
        f"{inflect(frame['group'].nunique(), 'groups')}, {across:,} of them in several classes."
    )
    to.write(frame)
