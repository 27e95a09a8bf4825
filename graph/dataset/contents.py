"""Contents of images as stored in the graph: one edge per concept, and a digest."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from graph.arrays import FloatArray, IntArray
from graph.records import Annotations

_SYNTHETIC = np.uint64(0xD1B54A32D192ED03)


@dataclass(frozen=True, eq=False)
class ImageContents:
    """Mentions of each image, grouped by concept.

    A concept's score and source are those of its most certain mention; a mention without a score
    is certain. The count is of all its mentions. Boxes and areas stay in the annotation file: no
    count needs them, and a load takes a quarter longer with them.

    Parameters
    ----------
    bounds : int array, shape (n_images + 1,)
        Image i has the entries ``bounds[i]`` to ``bounds[i + 1] - 1``.
    concepts, sources : sequence of str
        Names by code.
    concept_codes, source_codes, scores, counts : array, shape (n_entries,)
        The values of each entry; a score is NaN where unknown.
    """

    bounds: IntArray
    concepts: Sequence[str]
    sources: Sequence[str]
    concept_codes: IntArray
    source_codes: IntArray
    scores: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, annotations: Annotations) -> "ImageContents":
        """Group the mentions of all images; O(m log m) for m mentions."""
        mentions = annotations.mentions
        image = mentions["image"].to_numpy()
        concept, source = mentions["concept"].cat, mentions["source"].cat
        codes, score = concept.codes.to_numpy(), mentions["score"].to_numpy()
        uncertainty = -np.where(np.isnan(score), np.inf, score)
        order = np.lexsort((uncertainty, codes, image))
        sorted_image, sorted_code = image[order], codes[order]
        changes = (np.diff(sorted_image, prepend=-1) != 0) | (np.diff(sorted_code, prepend=-1) != 0)
        starts = np.flatnonzero(changes)
        first = order[starts]
        return cls(
            np.searchsorted(sorted_image[starts], np.arange(len(annotations.images) + 1)),
            concept.categories.tolist(),
            source.categories.tolist(),
            codes[first],
            source.codes.to_numpy()[first],
            score[first],
            np.diff(starts, append=len(order)).astype(np.int32),
        )

    def concepts_of(self, images: IntArray) -> list[str]:
        """Names of the concepts that occur in any of the images at these positions."""
        codes = np.flatnonzero(np.bincount(self.concept_codes[self._entries(images)]))
        return sorted(self.concepts[code] for code in codes.tolist())

    def edges(self, images: IntArray) -> list[list[Sequence[Any]]]:
        """CONTAINS edges of each image as columns: concepts, then properties as in the schema.

        Examples
        --------
        >>> from graph.records import ImageRecord, Mention
        >>> cats = ImageRecord("1", "indoor", [Mention("cat", score=0.5), Mention("cat")])
        >>> ImageContents.of(Annotations.from_records([cats])).edges(np.array([0]))
        [[['cat'], ['annotation'], [None], [2]]]
        """
        entries = self._entries(images)
        columns = (
            [self.concepts[code] for code in self.concept_codes[entries].tolist()],
            [self.sources[code] for code in self.source_codes[entries].tolist()],
            [None if score != score else score for score in self.scores[entries].tolist()],
            self.counts[entries].tolist(),
        )
        ends = np.cumsum(self.bounds[images + 1] - self.bounds[images]).tolist()
        return [[column[start:end] for column in columns] for start, end in pairwise([0, *ends])]

    def _entries(self, images: IntArray) -> IntArray:
        """Places of the images' entries, image after image."""
        starts, lengths = self.bounds[images], self.bounds[images + 1] - self.bounds[images]
        shift = np.repeat(starts - np.append(0, np.cumsum(lengths)[:-1]), lengths)
        return shift + np.arange(len(shift))


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
