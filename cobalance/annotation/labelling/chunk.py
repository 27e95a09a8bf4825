"""Score the images of one chunk."""

from collections.abc import Callable, Sequence

import numpy as np

from cobalance.ingest.annotators.annotator import Annotator, Scores
from cobalance.ingest.images.arrays import ImageArray

ReadImage = Callable[[int], ImageArray | None]
"""Reads the image at a place of the chunk; None where it cannot be read."""
AT_ONCE = 64
"""Images in memory at once; a model splits them into batches of its own."""


def score_chunk(
    annotator: Annotator,
    read: ReadImage,
    n: int,
    texts: Sequence[str],
    report: Callable[[int], None],
) -> Scores:
    """Score a chunk's images; those that cannot be read have NaN.

    Parameters
    ----------
    n : int
        Images of the chunk.
    texts : sequence of str
        What is scored in each.
    report : callable
        Called with the number of images that are done; what it raises stops the work.

    Returns
    -------
    Scores
        Of shape (n, texts); boxes are given if the annotator has any.
    """
    matrix = np.full((n, len(texts)), np.nan, np.float32)
    boxes = np.full((n, len(texts), 4), np.nan, np.float32)
    has_boxes = only_seen = False
    for start in range(0, n, AT_ONCE):
        places = range(start, min(start + AT_ONCE, n))
        images = {at: image for at in places if (image := read(at)) is not None}
        if images:
            scores = annotator.score(list(images.values()), texts)
            matrix[list(images)], only_seen = scores.matrix, scores.only_seen
            if scores.boxes is not None:
                boxes[list(images)], has_boxes = scores.boxes, True
        report(places.stop)
    return Scores(matrix, boxes if has_boxes else None, only_seen)
