"""Digests of images that an earlier version has written, computed anew from the graph.

Until schema version 19 an image's digest was a sum of what it shows, and a dataset's the sum of
these: labels that moved between images left it as it was.
"""

import re

from cobalance.base import Annotations
from cobalance.graph.database import GraphStore
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.image_contents import image_digests
from cobalance.graph.dataset.read import annotations_of
from cobalance.graph.dataset.state import DatasetState, dataset_state

_LAID_OVER = re.compile(r"image tag|image properties|.* \(run [0-9a-f]{16}\)")
"""Sources of mentions that were not loaded."""


def renew_digests(store: GraphStore, state: DatasetState) -> DatasetState:
    """Compute the digests of a dataset anew, if an earlier version has written them.

    The dataset is then to be written: what is packed beside the images names their old digest.
    Interrupted, load the dataset's file again.
    """
    if state.digests != 0 or state.sample is not None:
        return state

    annotations = annotations_of(store.stream(statements.IMAGES, dataset=state.name))
    images, mentions = annotations.images, annotations.mentions
    was_loaded = mentions["source"].astype(object).map(_LAID_OVER.fullmatch).isna()
    as_loaded = Annotations(images, mentions[was_loaded])

    # An image's node has a digest as loaded only where it differs from that of its content.
    counted, loaded = image_digests(annotations).tolist(), image_digests(as_loaded).tolist()
    rows = [
        [image, now, before if before != now else None]
        for image, now, before in zip(images["id"].tolist(), counted, loaded, strict=True)
    ]

    # Without a digest the dataset is incomplete until it is written.
    store.write(UPDATE_DATASET, dataset=state.name, values={"digest": None, "digests": 1})
    for batch in batches(rows):
        store.write(statements.SET_DIGESTS, dataset=state.name, rows=list(batch))
    return dataset_state(store, state.name)
