"""Contents of images as stored in the graph: one edge per concept, and a digest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from graph.arrays import IntArray
from graph.records import Annotations, plain_values

_SYNTHETIC = np.uint64(0xD1B54A32D192ED03)


@dataclass(frozen=True, eq=False)
class ImageContents:
    """Mentions of each image, grouped by concept.

    A concept's score and source are those of its most certain mention; a mention without a score
    is certain. The count is of all its mentions. Boxes and areas stay in the annotation file: no
    count needs them, and a load takes a quarter longer with them.

    Parameters
    ----------
    bounds : sequence of int
        Image i has the entries ``bounds[i]`` to ``bounds[i + 1] - 1``.
    images : int64 array, shape (n_entries,)
        The image of each entry.
    concepts, sources, scores, counts : list
        The values of each entry, None where unknown.
    """

    bounds: Sequence[int]
    images: IntArray
    concepts: list[str]
    sources: list[str]
    scores: list[float | None]
    counts: list[int]

    @classmethod
    def of(cls, annotations: Annotations) -> "ImageContents":
        """Group the mentions of all images; O(m log m) for m mentions."""
        mentions = annotations.mentions
        image = mentions["image"].to_numpy()
        concept = mentions["concept"].cat.codes.to_numpy()
        uncertainty = (-mentions["score"]).fillna(-np.inf).to_numpy()
        order = np.lexsort((uncertainty, concept, image))
        image, concept = image[order], concept[order]
        new_image, new_concept = np.diff(image, prepend=-1), np.diff(concept, prepend=-1)
        starts = np.flatnonzero((new_image != 0) | (new_concept != 0))
        entries = mentions[["concept", "source", "score"]].iloc[order[starts]]
        return cls(
            np.searchsorted(image[starts], np.arange(len(annotations.images) + 1)).tolist(),
            image[starts],
            plain_values(entries["concept"]),
            plain_values(entries["source"]),
            plain_values(entries["score"]),
            np.diff(starts, append=len(order)).tolist(),
        )

    def concepts_of(self, images: IntArray) -> list[str]:
        """Names of the concepts that occur in any of the images at these positions."""
        entries = np.flatnonzero(np.isin(self.images, images))
        return sorted({self.concepts[j] for j in entries.tolist()})

    def edges(self, image: int) -> list[Sequence[Any]]:
        """One image's CONTAINS edges as columns: concepts, then properties as the schema has them.

        Examples
        --------
        >>> from graph.records import ImageRecord, Mention
        >>> cats = ImageRecord("1", "indoor", [Mention("cat", score=0.5), Mention("cat")])
        >>> ImageContents.of(Annotations.from_records([cats])).edges(0)
        [['cat'], ['annotation'], [None], [2]]
        """
        entries = slice(self.bounds[image], self.bounds[image + 1])
        columns = self.concepts, self.sources, self.scores, self.counts
        return [column[entries] for column in columns]


def image_digests(annotations: Annotations) -> IntArray:
    """64-bit digest of each image's stored contents, independent of the order of its mentions."""
    fields = ["id", "class_name", "split", "uri", "width_px", "height_px"]
    digests = pd.util.hash_pandas_object(annotations.images[fields], index=False).to_numpy()
    # Real images keep the digests that they had before images could be generated.
    digests = digests ^ np.where(annotations.images["synthetic"], _SYNTHETIC, np.uint64(0))
    mentions = annotations.mentions
    if len(mentions):
        hashed = pd.util.hash_pandas_object(
            mentions[["concept", "source", "score"]], index=False
        ).to_numpy()
        order = np.argsort(mentions["image"].to_numpy(), kind="stable")
        rows = mentions["image"].to_numpy()[order]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        # A product before the sum, so that content cannot move between image and mentions unseen.
        digests = digests * np.uint64(0x9E3779B97F4A7C15)
        digests[rows[starts]] += np.add.reduceat(hashed[order], starts)
    return digests.view(np.int64)
