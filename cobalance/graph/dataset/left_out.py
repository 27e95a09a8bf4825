"""Images that tags leave out of the counts, with their concepts."""

import json
from typing import Any

import numpy as np

from cobalance.base.records import IMAGE_COLUMNS, Annotations
from cobalance.graph.database.store import GraphStore
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
    rows = store.read(statements.LEFT_OUT, dataset=dataset, exclude=EXCLUDE)
    return [
        {
            **dict.fromkeys(IMAGE_COLUMNS),
            **row["image"],
            "mentions": json.loads(row["image"]["mentions"]),
            "by_tag": row["by_tag"],
        }
        for row in rows
    ]


def write_left_out(store: GraphStore, dataset: str, annotations: Annotations) -> None:
    """Change the concepts of images that are left out."""
    every = np.arange(len(annotations.images))
    edges = ImageContents.of(annotations).edges(every)
    texts = [json.dumps([*zip(*columns, strict=True)]) for columns in edges]
    ids = annotations.images["id"].tolist()
    for some in batches([[image, text] for image, text in zip(ids, texts, strict=True)]):
        store.write(statements.SET_LEFT_OUT, dataset=dataset, rows=list(some))
