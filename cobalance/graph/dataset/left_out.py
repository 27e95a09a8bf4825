"""Images that tags leave out of the counts, with their concepts."""

import json
from typing import Any

import numpy as np

from cobalance.base import IMAGE_COLUMNS, Annotations
from cobalance.graph.database import GraphStore
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.image_contents import ImageContents

EXCLUDE = "exclude"
"""The role of a tag that leaves its images out."""


def read_left_out(store: GraphStore, dataset: str) -> list[dict[str, Any]]:
    """Read the images that are left out, by id.

    Returns
    -------
    list of dict
        Rows as `cobalance.graph.dataset.read.annotations_of` takes them, and of each ``loaded``
        (its digest as loaded) and ``by_tag`` (whether a tag leaves it out still).
    """
    images = []
    for row in store.read(statements.LEFT_OUT, dataset=dataset, exclude=EXCLUDE):
        # A node lacks the properties that are None.
        image = {**dict.fromkeys(IMAGE_COLUMNS), **row["image"]}
        image["mentions"] = json.loads(image["mentions"])
        image["by_tag"] = row["by_tag"]
        images.append(image)
    return images


def write_left_out(store: GraphStore, dataset: str, annotations: Annotations) -> None:
    """Change the concepts of images that are left out."""
    all_images = np.arange(len(annotations.images))
    edges = ImageContents.of(annotations).edges(all_images)
    ids = annotations.images["id"].tolist()
    rows = [
        [image, json.dumps([*zip(*columns, strict=True)])]
        for image, columns in zip(ids, edges, strict=True)
    ]

    for batch in batches(rows):
        store.write(statements.SET_LEFT_OUT, dataset=dataset, rows=list(batch))
