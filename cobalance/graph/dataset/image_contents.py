"""Contents of images as stored in the graph: one edge per concept, and a digest."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.graph.arrays import FloatArray, IntArray
from cobalance.graph.mention_rows import BLOCK, MentionRows
from cobalance.graph.records import Annotations

_SYNTHETIC, _CLUSTER = np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


@dataclass(frozen=True, eq=False)
class ImageContents:
    """Mentions of each image, which are grouped by concept when an image's edges are asked for.

    A concept's score and source are those of its most certain mention; a mention without a score
    is certain. The count is of all its mentions. Boxes and areas stay in the annotation file: no
    count needs them, and a load takes a quarter longer with them.

    Parameters
    ----------
    rows : MentionRows
        Where each image's mentions are.
    concepts, sources : sequence of str
        Names by code.
    concept_codes, source_codes, scores : array, shape (n_mentions,)
        The values of each mention, as the annotations have them; a score is NaN where unknown.
    """

    rows: MentionRows
    concepts: Sequence[str]
    sources: Sequence[str]
    concept_codes: IntArray
    source_codes: IntArray
    scores: FloatArray

    @classmethod
    def of(cls, annotations: Annotations) -> "ImageContents":
        """Find the mentions of all images, without a copy of them."""
        mentions = annotations.mentions
        concept, source = mentions["concept"].cat, mentions["source"].cat
        return cls(
            MentionRows.of(annotations),
            concept.categories.tolist(),
            source.categories.tolist(),
            concept.codes.to_numpy(),
            source.codes.to_numpy(),
            mentions["score"].to_numpy(),
        )

    def concepts_of(self, images: IntArray) -> list[str]:
        """Names of the concepts that occur in any of the images at these positions."""
        occurs = np.zeros(len(self.concepts), dtype=np.bool_)
        for start in range(0, len(images), BLOCK):
            occurs[self.concept_codes[self.rows.at(images[start : start + BLOCK])]] = True
        return sorted(self.concepts[code] for code in np.flatnonzero(occurs).tolist())

    def edges(self, images: IntArray) -> list[list[Sequence[Any]]]:
        """CONTAINS edges of each image as columns: concepts, then properties as in the schema.

        Complexity: O(m log m) for the m mentions of these images.

        Examples
        --------
        >>> from cobalance.graph.records import ImageRecord, Mention
        >>> cats = ImageRecord("1", "indoor", [Mention("cat", score=0.5), Mention("cat")])
        >>> ImageContents.of(Annotations.from_records([cats])).edges(np.array([0]))
        [[['cat'], ['annotation'], [None], [2]]]
        """
        rows = self.rows.at(images)
        image = np.repeat(np.arange(len(images)), self.rows.lengths(images))
        code, score = self.concept_codes[rows], self.scores[rows]
        uncertainty = -np.where(np.isnan(score), np.inf, score)
        order = np.lexsort((uncertainty, code, image))
        image, code = image[order], code[order]
        changes = (np.diff(image, prepend=-1) != 0) | (np.diff(code, prepend=-1) != 0)
        starts = np.flatnonzero(changes)
        first = order[starts]
        columns = (
            [self.concepts[each] for each in code[starts].tolist()],
            [self.sources[each] for each in self.source_codes[rows[first]].tolist()],
            [None if each != each else each for each in score[first].tolist()],
            np.diff(starts, append=len(order)).tolist(),
        )
        bounds = np.searchsorted(image[starts], np.arange(len(images) + 1)).tolist()
        return [[column[start:end] for column in columns] for start, end in pairwise(bounds)]


def image_digests(annotations: Annotations) -> IntArray:
    """64-bit digest of each image's stored contents, independent of the order of its mentions."""
    fields = ["id", "class_name", "split", "uri", "width_px", "height_px"]
    images, mentions = annotations.images, annotations.mentions
    rows = MentionRows.of(annotations)
    digests = np.empty(len(images), dtype=np.uint64)
    for first, end, places in rows.blocks():
        found = _hash_rows(images[fields].iloc[first:end])
        found = found ^ np.where(images["synthetic"].iloc[first:end], _SYNTHETIC, np.uint64(0))
        if "cluster" in images:
            named = images[["cluster"]].iloc[first:end]
            hashed = _hash_rows(named) * _CLUSTER
            found = found ^ np.where(named["cluster"].notna(), hashed, np.uint64(0))
        if len(mentions):
            # A product before the sum: content cannot move between image and mentions unseen.
            found = found * np.uint64(0x9E3779B97F4A7C15)
            hashed = _hash_rows(mentions[["concept", "source", "score"]].iloc[places])
            starts = rows.bounds[first:end] - rows.bounds[first]
            shows = rows.bounds[first:end] < rows.bounds[first + 1 : end + 1]
            found[shows] += np.add.reduceat(hashed, starts[shows]) if shows.any() else 0
        digests[first:end] = found
    return digests.view(np.int64)


def _hash_rows(frame: pd.DataFrame) -> npt.NDArray[np.uint64]:
    return pd.util.hash_pandas_object(frame, index=False).to_numpy().astype(np.uint64, copy=False)
