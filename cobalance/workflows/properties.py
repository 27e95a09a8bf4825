"""Properties of a dataset's image files: measured by workers, compared by class, as concepts."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.base import (
    IMAGE_PROPERTY,
    CobalanceError,
    DataError,
    Progress,
    check_known,
    log_run,
    silent,
)
from cobalance.graph import (
    GraphStore,
    create_task,
    dataset_state,
    list_tasks,
    read_classes,
    read_left_out,
    replace_mentions,
)
from cobalance.ingest import equal_count_edges, name_bins
from cobalance.statistics import separation_table
from cobalance.vision import FLAGS, NUMBERS, TEXTS, DatasetFiles, image_properties
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.folders import Folders
from cobalance.workflows.images import describe_unread, image_reader, images_with_files

if TYPE_CHECKING:
    from cobalance.generation.worker.resources import RunTask, TaskRun

KIND = "properties"
"""The kind of the tasks that measure image files."""
PROPERTIES = (*NUMBERS, *TEXTS)
SOURCE = "image properties"
"""The source of mentions of properties."""
# Images of a file that is written at once.
_PART = 256
_SHOWN = b"shown"
_SCHEMA = pa.schema(
    [(name, pa.float64() if name in NUMBERS else pa.string()) for name in ("id", *PROPERTIES)]
)


def property_files(folder: Path) -> DatasetFiles:
    """The files with the image properties of all datasets."""
    return DatasetFiles(folder, SOURCE)


@log_run
def order_properties(store: GraphStore, dataset: str, *, created_by: str = "") -> str:
    """Have a worker measure a dataset's image files; return the task's id.

    Errors as of `images_with_files`.
    """
    images_with_files(store, dataset)
    return create_task(store, KIND, "worker", dataset=dataset, created_by=created_by)


def property_tasks(folders: Folders) -> "dict[str, RunTask]":
    """Functions that execute tasks of image properties, by kind."""
    return {KIND: partial(_measure, folders)}


@log_run
def measure_properties(
    store: GraphStore, folders: Folders, dataset: str, progress: Progress = silent
) -> str:
    """Measure a dataset's image files in this process; return which could not be read.

    What a run that was cancelled has measured is not measured again.

    Raises
    ------
    DataError
        No image has an address of its file, or no file can be read.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    state, images = dataset_state(store, dataset), images_with_files(store, dataset)
    place = f"{KIND}/{property_files(folders.properties).path(dataset).stem} {state.digest}"
    note = _measure_images(folders, dataset, images, place, progress)

    _take_over(folders, dataset, place)
    return note


def _measure(folders: Folders, task: "TaskRun") -> str:
    """Measure the images of a worker's task, for `read_properties`; return which it cannot read."""
    dataset = str(task.dataset)
    images = task.graph(partial(images_with_files, dataset=dataset))
    return _measure_images(folders, dataset, images, f"{KIND}/{task.id}", task.progress)


def _measure_images(
    folders: Folders, dataset: str, images: pd.DataFrame, place: str, progress: Progress
) -> str:
    """Measure images that no file of a place in the output folder has; return the unreadable."""
    folder, read = folders.open_output(), image_reader(folders, dataset)
    problems = list[str]()
    # An earlier try has left files of the first images.
    n_parts = len(folder.names(place))
    remaining = images[~images["id"].isin(_read_parts(folder, place)["id"].to_pylist())]
    n_measured = len(images) - len(remaining)

    def measure_one(image: Any) -> dict[str, Any] | None:
        try:
            return {"id": image.id, **image_properties(read(image.uri, image.synthetic))}
        except CobalanceError as error:
            problems.append(f"{image.id}: {error}")
            return None

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        for start in range(0, len(remaining), _PART):
            rows = []
            measured = threads.map(measure_one, remaining[start : start + _PART].itertuples())
            for done, row in enumerate(measured, n_measured + start):
                progress("measure images", done, len(images))
                rows.append(row)
            part = pa.Table.from_pylist([*filter(None, rows)], _SCHEMA)
            name = f"{place}/{n_parts + start // _PART:06}.parquet"
            folder.write_large(name, partial(pq.write_table, part))

    note = describe_unread(sorted(problems))
    if len(problems) == len(images):
        raise DataError(note)
    return note


def _take_over(folders: Folders, dataset: str, place: str) -> None:
    """Keep a dataset's measurements from a place in the output folder, and delete them there."""
    files, output = property_files(folders.properties), folders.open_output()
    _keep(files, dataset, _read_parts(output, place), _list_shown(files, dataset))
    output.delete_folder(place)


def _read_parts(folder: OutputFolder, place: str) -> pa.Table:
    files = [BytesIO(folder.read(f"{place}/{name}")) for name in folder.names(place)]
    return pa.concat_tables([_SCHEMA.empty_table(), *map(pq.read_table, files)])


def read_properties(
    store: GraphStore, folders: Folders, dataset: str, *, left_out: bool = False
) -> pd.DataFrame:
    """Read the properties of a dataset's images: ``id``, ``class`` and `PROPERTIES`.

    What the latest task has left in the output folder is kept first. Images that could not be read
    are missing, and those that a tag leaves out unless `left_out`.

    Raises
    ------
    DataError
        They have not been measured.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset)
    files, output = property_files(folders.properties), folders.open_output()

    # A worker on another machine leaves what it has measured in the output folder.
    tasks = [task for task in list_tasks(store, dataset) if task.kind == KIND]
    latest = next((task for task in tasks if task.state == "done"), None)
    if latest is not None and output.names(place := f"{KIND}/{latest.id}"):
        _take_over(folders, dataset, place)
    if not files.path(dataset).exists():
        raise DataError(
            f"The image files of {dataset!r} have not been measured. Have a worker measure them."
        )

    measured = pq.read_table(files.path(dataset)).to_pandas()
    images = read_classes(store, dataset)
    if left_out:
        rows = [[image["id"], image["class_name"]] for image in read_left_out(store, dataset)]
        images = pd.DataFrame([*images.to_numpy().tolist(), *rows], columns=images.columns)
    return images.merge(measured, on="id")


def compare_classes(images: pd.DataFrame) -> pd.DataFrame:
    """How far each property tells the classes apart; see `separation_table`.

    Of a dataset of one class, or of none, a summary as `pandas.DataFrame.describe` has it.
    """
    values = images[[*PROPERTIES]]
    if len({*images["class"]}) > 1:
        return separation_table(values, images["class"])
    summary = values.describe(include="all").T.drop(columns=["unique", "freq"])
    return summary[summary["count"] > 0].reset_index(names="property")


def extreme_images(images: pd.DataFrame, name: str, n: int = 4) -> pd.DataFrame:
    """The `n` images of each class with the least and with the most of a property.

    Columns are ``class``, ``extreme`` (least or most), ``id`` and the property. UnknownNameError
    for one that there is not.
    """
    check_known("image property", [name], PROPERTIES)
    measured = images.dropna(subset=[name]).sort_values(["class", name, "id"])
    first = measured.groupby("class").cumcount()
    last = measured.groupby("class").cumcount(ascending=False)
    measured["extreme"] = np.where(first < n, "least", "most")
    return measured.loc[(first < n) | (last < n), ["class", "extreme", "id", name]]


def property_concepts(images: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The concepts that properties of images stand for: ``image`` and ``concept``.

    Numbers are in four bins of equal counts. What all images have in common is no concept.

    Examples
    --------
    >>> images = pd.DataFrame({"id": ["a", "b"], "bytes": [10.0, 20.0], "border": [None, "yes"]})
    >>> property_concepts(images, ["bytes", "border"]).values.tolist()
    [['a', 'image: bytes below 20'], ['b', 'image: bytes 20 and above'], ['b', 'image: border']]
    """
    parts = [pd.DataFrame({"image": [], "concept": []})]
    for name in names:
        measured = images[["id", name]].dropna()
        values = measured[name].to_numpy()
        texts = [""] * len(values) if name in FLAGS else values.tolist()
        if name in NUMBERS:
            edges = equal_count_edges(values)
            texts = np.array(name_bins(edges))[np.digitize(values, edges)].tolist()

        # What all images have in common tells none apart.
        if len({*texts}) > 1 or 0 < len(texts) < len(images):
            concepts = [f"{IMAGE_PROPERTY}{name} {text}".strip() for text in texts]
            parts.append(pd.DataFrame({"image": measured["id"], "concept": concepts}))
    return pd.concat(parts, ignore_index=True)


@log_run
def show_properties(
    store: GraphStore,
    folders: Folders,
    dataset: str,
    names: Sequence[str] | None = None,
    progress: Progress = silent,
) -> None:
    """Replace the properties that images show as concepts by some of `PROPERTIES`.

    By default they stay the same: a load of the dataset's file knows none of them.

    Raises
    ------
    UnknownNameError
        There is no such property.
    DataError
        They have not been measured, or the graph keeps a sample of the dataset's images.
    """
    files = property_files(folders.properties)
    if names is None and not (names := _list_shown(files, dataset)):
        return

    check_known("image property", names, PROPERTIES)
    # Bins are of all images, so that they do not move with tags.
    images = read_properties(store, folders, dataset, left_out=True)
    _keep(files, dataset, pq.read_table(files.path(dataset)), names)
    mentions = property_concepts(images, names).assign(source=SOURCE, score=np.nan)
    replace_mentions(store, dataset, [SOURCE], mentions, progress=progress)


def _keep(files: DatasetFiles, dataset: str, table: pa.Table, shown: Sequence[str]) -> None:
    with files.writing(), files.replacing(dataset) as path:
        pq.write_table(table.replace_schema_metadata({_SHOWN: ",".join(shown)}), path)


def _list_shown(files: DatasetFiles, dataset: str) -> list[str]:
    """Names of the properties that are concepts of a dataset."""
    path = files.path(dataset)
    if not path.exists():
        return []
    text = (pq.read_schema(path).metadata or {})[_SHOWN].decode()
    return text.split(",") if text else []
