"""Read a dataset from the graph: annotations, the incidence matrix, files of each class."""

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import (
    IMAGE_COLUMNS,
    Annotations,
    IntArray,
    Progress,
    category,
    image_frame,
    silent,
)
from cobalance.counting import Incidence, build_incidence
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.incidence_table import SplitIncidence, read_incidence_table
from cobalance.graph.dataset.state import DatasetState, dataset_state

EXCLUDE = "exclude"
"""The role of a tag that leaves its images out."""
# Images between two reports of progress.
_STEP = 10_000


def read_annotations(store: GraphStore, dataset: str, progress: Progress = silent) -> Annotations:
    """Read a dataset's images with class and concepts, by id, in the form that can be written back.

    Of several mentions of a concept in an image the graph keeps their number and the most certain
    one. That mention is repeated as often, so that writing the result gives the same graph; the
    images' digests are equal where an image's mentions of a concept agree, as mentions without
    scores do. Boxes and outlines are not in the graph, see `cobalance.vision.images.regions`.

    118,000 images with 640,000 edges take 2.5 s of one core, about as
    `load_incidence`.

    Parameters
    ----------
    progress : callable
        Called with the number of images read.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset).require_complete("Reading images")
    (counted,) = store.read(statements.COUNT_IMAGES, dataset=dataset)
    total = int(counted["images"])

    # Progress may raise, and the session is closed there and then.
    with closing(store.stream(statements.IMAGES, dataset=dataset)) as rows:
        return annotations_of(rows, lambda done: progress("read images", done, total))


def annotations_of(
    rows: Iterable[Mapping[str, Any]], progress: Callable[[int], None] | None = None
) -> Annotations:
    """Collect images by id from rows as `statements.IMAGES` reads them."""
    columns: dict[str, list[Any]] = {name: [] for name in IMAGE_COLUMNS}
    lengths: list[int] = []
    concepts: list[str] = []
    sources: list[str] = []
    scores: list[float] = []
    counts: list[int] = []
    # The driver gives a new string for every mention: equal ones are held once.
    distinct: dict[str, str] = {}
    for row in rows:
        mentions = row["mentions"]
        for name, column in columns.items():
            column.append(row[name])
        lengths.append(len(mentions))
        for concept, source, score, count in mentions:
            concepts.append(distinct.setdefault(concept, concept))
            sources.append(distinct.setdefault(source, source))
            scores.append(np.nan if score is None else score)
            counts.append(count)
        if progress and len(lengths) % _STEP == 0:
            progress(len(lengths))
    if progress:
        progress(len(lengths))

    order = sorted(range(len(lengths)), key=columns["id"].__getitem__)
    for name, column in columns.items():
        columns[name] = [column[position] for position in order]
    new_positions = np.empty(len(order), dtype=np.int64)
    new_positions[order] = np.arange(len(order))
    image = np.repeat(new_positions, lengths)
    mention_frame = _mention_frame(image, concepts, sources, scores, counts)
    return Annotations(image_frame(columns), mention_frame)


def read_left_out(store: GraphStore, dataset: str) -> list[dict[str, Any]]:
    """Read the images that are left out, by id.

    Returns
    -------
    list of dict
        Rows as `annotations_of` takes them, and of each ``loaded`` (its digest as loaded) and
        ``by_tag`` (whether a tag leaves it out still).
    """
    images = []
    for row in store.read(statements.LEFT_OUT, dataset=dataset, exclude=EXCLUDE):
        # A node lacks the properties that are None.
        image = {**dict.fromkeys(IMAGE_COLUMNS), **row["image"]}
        image["mentions"] = json.loads(image["mentions"])
        image["by_tag"] = row["by_tag"]
        images.append(image)
    return images


def read_classes(store: GraphStore, dataset: str) -> pd.DataFrame:
    """Read the class of each image: ``id`` and ``class``, in ascending order of id.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset).require_complete("Reading classes")
    rows = [
        (row["id"], row["class_name"])
        for row in store.stream(statements.CLASSES_OF_IMAGES, dataset=dataset)
    ]
    return pd.DataFrame(sorted(rows), columns=["id", "class"], dtype=object)


def load_incidence(store: GraphStore, dataset: str, split: str | None = None) -> Incidence:
    """Read the image-by-concept incidence and the images' classes.

    The order of the images is of no meaning.

    Parameters
    ----------
    split : str or None
        Only the images of that split.

    Raises
    ------
    NotFoundError, DataError
        There is no such dataset, or it was counted elsewhere.
    """
    return load_images(store, dataset_state(store, dataset)).of_split(split)


def load_images(store: GraphStore, state: DatasetState) -> SplitIncidence:
    """Read all images' classes, splits and concepts; ids and files where a sample are nodes.

    They are read from the packed copy if it is of the images that the dataset has, otherwise image
    by image.

    Raises
    ------
    DataError
        The dataset was counted elsewhere.
    """
    images = read_incidence_table(store, state.name, state.digest)
    if images is not None:
        return images

    state.require_all_images("Counting")
    return scan_incidence(store, state.name)


def load_named_images(
    store: GraphStore, dataset: str, split: str | None = None
) -> tuple[Incidence, Sequence[str]] | None:
    """Read the images of a split with their ids: all of them, or the sample in the graph.

    Returns
    -------
    Incidence, sequence of str
        The ids in its order; None where the graph has counts alone.
    """
    images = read_incidence_table(store, dataset, dataset_state(store, dataset).digest)
    if images is None or not images.ids:
        images = scan_incidence(store, dataset)

    selected = images.take(images.in_split(split))
    if not selected.ids:
        return None
    return selected.of_split(None), selected.ids


def scan_incidence(store: GraphStore, dataset: str) -> SplitIncidence:
    """Read the incidence and the images' splits image by image, also while they are written."""
    class_codes: dict[str, int] = {}
    concept_codes: dict[str, int] = {}
    split_codes: dict[str | None, int] = {None: -1}
    cluster_codes: dict[str | None, int] = {None: -1}
    labels, splits, lengths, codes = array("i"), array("i"), array("i"), array("i")
    clusters = array("i")
    ids: list[str] = []
    for row in store.stream(statements.IMAGE_CONCEPTS, dataset=dataset):
        ids.append(row["id"])
        labels.append(class_codes.setdefault(row["class_name"], len(class_codes)))
        # The codes of None, -1, are there first and do not count.
        splits.append(split_codes.setdefault(row["split"], len(split_codes) - 1))
        clusters.append(cluster_codes.setdefault(row["cluster"], len(cluster_codes) - 1))
        lengths.append(len(row["concepts"]))
        for name in row["concepts"]:
            codes.append(concept_codes.setdefault(name, len(concept_codes)))

    incidence = build_incidence(
        np.repeat(np.arange(len(lengths)), lengths),
        np.array(codes, dtype=np.int64),
        np.array(labels, dtype=np.int64),
        tuple(concept_codes),
        tuple(class_codes),
    )
    if len(cluster_codes) > 1:
        incidence = replace(incidence, clusters=np.array(clusters, dtype=np.int64))
    return SplitIncidence(
        incidence=incidence,
        splits=np.array(splits, dtype=np.int64),
        split_names=tuple(name for name in split_codes if name is not None),
        ids=ids,
    )


@dataclass(frozen=True, eq=False)
class ClassImages:
    """Images of a class: their ids, ascending, and where each is, as the annotations have it."""

    ids: tuple[str, ...]
    uris: tuple[str, ...]


def read_class_images(
    store: GraphStore, dataset: str, *, split: str | None = None
) -> dict[str, ClassImages]:
    """Read the images of each class that have an address and were not generated.

    Returns
    -------
    dict of str to ClassImages
        Those classes that have such images, by name in ascending order.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset).require_complete()
    files: dict[str, list[tuple[str, str]]] = {}
    for row in store.stream(statements.REAL_FILES, dataset=dataset, split=split):
        files.setdefault(row["class_name"], []).append((row["id"], row["uri"]))

    # Sorted here: a choice by place must not depend on how a server compares letters.
    images_by_class = {}
    for class_name, class_files in sorted(files.items()):
        ids, uris = zip(*sorted(class_files), strict=True)
        images_by_class[class_name] = ClassImages(ids, uris)
    return images_by_class


def read_image_concepts(store: GraphStore, dataset: str) -> pd.DataFrame:
    """Read class, split and concepts of every image, by id.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``class_name``, ``split`` (None for none), ``synthetic``, ``concepts`` (tuple of
        str, ascending).

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset).require_complete("Reading concepts")
    columns = ["id", "class_name", "split", "synthetic", "concepts"]
    rows = []
    for row in store.stream(statements.IMAGE_CONCEPTS, dataset=dataset):
        concepts = tuple(sorted(row["concepts"]))
        rows.append([row["id"], row["class_name"], row["split"], row["synthetic"], concepts])
    # As objects: a split that is missing stays None.
    frame = pd.DataFrame(sorted(rows), columns=columns, dtype=object)
    return frame.astype({"synthetic": bool})


def read_clusters(store: GraphStore, dataset: str) -> pd.DataFrame:
    """Read ``id``, ``split`` and ``cluster`` of every image, the latter two None where missing."""
    frame = store.read_frame(statements.IMAGE_CLUSTERS, dataset=dataset).astype(object)
    return frame.where(frame.notna(), None)


def read_generated_ids(store: GraphStore, dataset: str) -> list[str]:
    """Read the ids of a dataset's generated images, ascending."""
    return [row["id"] for row in store.read(statements.GENERATED_IMAGES, dataset=dataset)]


def read_image_files(store: GraphStore, dataset: str, ids: Sequence[str]) -> pd.DataFrame:
    """Read where the files of some images are, in the order given; unknown images are left out.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``uri``, ``split`` (None where missing), ``synthetic``.
    """
    return store.read_frame(statements.IMAGES_BY_ID, dataset=dataset, ids=list(ids))


def _mention_frame(
    image: IntArray,
    concepts: list[str],
    sources: list[str],
    scores: list[float],
    counts: list[int],
) -> pd.DataFrame:
    """Repeat each concept's mention as often as the image has it, by image and concept."""
    concept, source = category(concepts), category(sources)
    # By image and concept, and each row as often as the image has the concept.
    order = np.lexsort((concept.codes, image))
    rows = np.repeat(order, np.array(counts, dtype=np.int64)[order])

    unknown = np.full(len(rows), np.nan)
    return pd.DataFrame(
        {
            "image": image[rows],
            "concept": concept[rows],
            "source": source[rows],
            "score": np.array(scores, dtype=np.float64)[rows],
            **{name: unknown.copy() for name in ("area_px2", "x_px", "y_px", "w_px", "h_px")},
            "segmentation": np.full(len(rows), None, dtype=object),
        }
    )
