"""Embeddings of a dataset: added, searched for similar images and near duplicates, projected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import pandas as pd

from cobalance.base import (
    Action,
    DataError,
    OptionError,
    Progress,
    UnknownNameError,
    log_run,
    silent,
)
from cobalance.graph import (
    GraphStore,
    Task,
    dataset_state,
    list_tasks,
    read_annotations,
    read_classes,
    read_clusters,
    write_changes,
)
from cobalance.ingest import (
    Vectors,
    groups_of,
    near_pairs,
    nearest,
    principal_axes,
    read_embeddings,
    read_stored,
    read_vectors,
    write_embeddings,
)
from cobalance.statistics import groups_across_splits
from cobalance.workflows.folders import Folders

KIND = "embed"
"""The kind of the tasks that compute embeddings."""


@dataclass(frozen=True, eq=False)
class Embedded:
    """The images of a dataset that are in its counts and have an embedding.

    Parameters
    ----------
    images : pandas.DataFrame
        ``id`` and ``class``, a row for each row of `unit`.
    unit : array, shape (n_images, width)
        Vectors of length 1.
    """

    images: pd.DataFrame
    unit: Vectors

    def row(self, image: str) -> int:
        """The row of an image; UnknownNameError if it has none."""
        rows = self.images.index[self.images["id"] == image]
        if not len(rows):
            raise UnknownNameError("embedded image", image, self.images["id"])
        return int(rows[0])

    def similar(self, image: str, k: int) -> pd.DataFrame:
        """The `k` images most like one: ``id``, ``class``, ``similarity`` (cosine)."""
        rows, cosines = nearest(self.unit, self.row(image), k)
        return self.images.iloc[rows].assign(similarity=cosines).reset_index(drop=True)

    def duplicates(self, threshold: float, progress: Progress = silent) -> pd.DataFrame:
        """Groups of near duplicates, connected by pairs whose cosine is at least `threshold`.

        Returns
        -------
        pandas.DataFrame
            A row an image: ``group`` (from 1, those in several classes first, then the largest),
            ``id``, ``class``, ``classes`` (of the group, in words).
        """
        left, right, _ = near_pairs(self.unit, threshold, progress)

        # Groups come the largest first, and stay so among those of several classes and of one.
        of_several: list[pd.DataFrame] = []
        of_one: list[pd.DataFrame] = []
        for rows in groups_of((left, right), len(self.unit)):
            group = self.images.iloc[rows]
            classes = sorted(set(group["class"]))
            groups = of_several if len(classes) > 1 else of_one
            groups.append(group.assign(classes=" + ".join(classes)))

        columns = ["group", "id", "class", "classes"]
        numbered = [
            group.assign(group=number) for number, group in enumerate(of_several + of_one, start=1)
        ]
        if not numbered:
            return pd.DataFrame(columns=columns)
        return pd.concat(numbered, ignore_index=True)[columns]

    def places(self) -> pd.DataFrame:
        """Each image on the first two principal axes: ``id``, ``class``, ``x``, ``y``."""
        axes = principal_axes(self.unit, 2)
        return self.images.assign(x=axes[:, 0], y=axes[:, 1])


@log_run
def cluster_duplicates(
    store: GraphStore, dataset: str, groups: pd.DataFrame, progress: Progress = silent
) -> None:
    """Make each group of near duplicates a cluster, in place of the dataset's clusters before.

    `groups` is what `Embedded.duplicates` returns; images in none of them are on their own. Mine
    again to count by them. A load of the dataset's file brings back the file's clusters.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    annotations = read_annotations(store, dataset, progress)
    cluster_names = groups.set_index("id")["group"].map("near duplicates {}".format)
    clusters = annotations.images["id"].map(cluster_names).astype("category")
    images = annotations.images.assign(cluster=clusters)
    changed = replace(annotations, images=images)

    # No file gives the digest 0, so that the next load of the file brings its clusters back.
    as_loaded = dict.fromkeys(images.loc[images["cluster"].notna(), "id"], 0)
    state = dataset_state(store, dataset)
    write_changes(store, state, changed, loaded=as_loaded, progress=progress)


def find_across_splits(
    store: GraphStore,
    folders: Folders,
    dataset: str,
    similarity: float = 0.97,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Find clusters and near duplicates that stand in several splits.

    Near duplicates are found among the images with embeddings, if there are any.

    Returns
    -------
    pandas.DataFrame
        A row an image: ``what`` (``cluster`` or ``near duplicates``), ``group`` (the cluster, or a
        number), ``splits`` (of the group, in words), ``split``, ``id``.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset).require_complete("Comparing splits")
    images = read_clusters(store, dataset)

    tables = [images.rename(columns={"cluster": "group"}).assign(what="cluster")]
    embedded = read_embedded(store, folders, dataset)
    if embedded is not None:
        duplicates = embedded.duplicates(similarity, progress)[["group", "id"]]
        duplicates = duplicates.merge(images[["id", "split"]], on="id")
        tables.append(duplicates.assign(what="near duplicates"))

    return groups_across_splits(pd.concat(tables))


def add_embeddings(
    store: GraphStore,
    folders: Folders,
    dataset: str,
    file: Path,
    ids: Path | None = None,
    *,
    id_column: str = "id",
    vector_column: str | None = None,
) -> tuple[int, int]:
    """Keep the embeddings of a dataset's images, in place of those before.

    The other parameters are those of `cobalance.ingest.embeddings.reading.read_embeddings`.

    Returns
    -------
    int, int
        Vectors that were read, and images of the dataset that have one.

    Raises
    ------
    InputError
        The file cannot be read.
    OptionError
        No row is of an image of the dataset; what was kept before stays.
    """
    names, unit = read_embeddings(file, ids, id_column=id_column, vector_column=vector_column)
    return len(names), keep_embeddings(store, folders, dataset, str(file), names, unit)


def keep_embeddings(
    store: GraphStore,
    folders: Folders,
    dataset: str,
    source: str,
    names: Sequence[str],
    unit: Vectors,
) -> int:
    """Keep vectors of length 1; return how many images of the dataset have one.

    Raises
    ------
    OptionError
        No row is of an image of the dataset; what was kept before stays.
    """
    ids = set(read_classes(store, dataset)["id"])
    n_images = len(ids.intersection(names))
    if not n_images:
        raise OptionError(
            f"{source}: none of its {len(names):,} ids is an image of {dataset!r}, such as "
            f"{min(ids, default='')!r}. Name the column that has the images' ids."
        )

    write_embeddings(folders.embeddings, dataset, list(names), unit)
    return n_images


def computed_file(task: str) -> str:
    """Where in the output folder a task leaves its vectors."""
    return f"embeddings/{task}.parquet"


def computing_tasks(store: GraphStore, dataset: str) -> list[Task]:
    """The tasks that compute a dataset's embeddings, newest first."""
    return [task for task in list_tasks(store, dataset) if task.kind == KIND]


def collect_computed(store: GraphStore, folders: Folders, dataset: str) -> None:
    """Keep the vectors that the latest task has left in the output folder, on whichever machine."""
    tasks = computing_tasks(store, dataset)
    latest = next((task for task in tasks if task.state == "done"), None)
    if latest is None:
        return

    output = folders.open_output()
    name = computed_file(latest.id)
    if output.exists(name):
        names, unit = read_vectors(BytesIO(output.read(name)))
        keep_embeddings(store, folders, dataset, name, names, unit)
        output.delete(name)


def read_embedded(store: GraphStore, folders: Folders, dataset: str) -> Embedded | None:
    """Read the embeddings of the images in a dataset's counts; None where it has none."""
    dataset_state(store, dataset)
    collect_computed(store, folders, dataset)
    stored = read_stored(folders.embeddings, dataset)
    if stored is None:
        return None

    names, unit = stored
    # Images may have left the dataset since, or a tag leaves them out of its counts.
    rows = pd.DataFrame({"id": names, "row": range(len(names))}, dtype=object)
    images = read_classes(store, dataset).merge(rows, on="id")
    if images.empty:
        return None
    return Embedded(images[["id", "class"]], unit[images["row"].to_numpy(dtype="int64")])


def require_embedded(store: GraphStore, folders: Folders, dataset: str) -> Embedded:
    """Read a dataset's embeddings; DataError where it has none."""
    embedded = read_embedded(store, folders, dataset)
    if embedded is None:
        raise DataError(
            f"{dataset!r} has no embeddings. ", Action("compute_embeddings", dataset), "."
        )
    return embedded
