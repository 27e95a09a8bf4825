"""Labelled images of a dataset in the graph, to train and test on."""

from collections.abc import Callable

import pandas as pd

from cobalance.base import Progress, silent
from cobalance.evaluation import LabelledImages
from cobalance.graph import GraphStore, read_annotations, read_changed, read_sources


def read_dataset_images(
    store: GraphStore,
    dataset: str,
    read: Callable[[str, bool], bytes],
    progress: Progress = silent,
) -> LabelledImages:
    """Read a dataset's images with class, concepts, and the sources of synthetic ones.

    Parameters
    ----------
    read : callable
        Takes an address and whether the image is synthetic, returns the file's content.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    annotations = read_annotations(store, dataset, progress)
    images = annotations.images

    frame = images[["synthetic"]].reset_index(drop=True)
    frame.insert(0, "image", images["id"].astype(object).to_numpy())
    for name in ("class_name", "split", "uri"):
        column = images[name].astype(object)
        frame[name] = column.where(column.notna(), None).to_numpy()

    frame["concepts"] = annotations.concepts_by_image()

    sources = read_sources(store, dataset)
    frame["source"] = list(map(sources.get, frame["image"]))
    changed = read_changed(store, dataset)
    frame["changed"] = pd.Series(list(map(changed.get, frame["image"])), dtype=object)
    return LabelledImages(dataset, frame, read)
