"""Contents of images as stored in the graph: one edge per concept, and a digest."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.util import hash_array

from cobalance.base import (
    BLOCK,
    Annotations,
    FloatArray,
    Hashes,
    IntArray,
    MentionRows,
    hash_texts,
    mix_bits,
)

_MISSING = np.uint64(0xD1B54A32D192ED03)
_PROPERTIES = ("id", "class_name", "split", "uri", "width_px", "height_px", "synthetic", "cluster")


class GroupedMentions(NamedTuple):
    """Mentions of some images, grouped by concept: one row is one CONTAINS edge.

    Parameters
    ----------
    image : int array, shape (n_edges,)
        Position among the images asked for, ascending.
    concept : int array, shape (n_edges,)
        Concept code, ascending within an image.
    surest : int array, shape (n_edges,)
        Row of the concept's surest mention in the image.
    mentions : int array, shape (n_edges,)
        How many of the concept the image has.
    """

    image: IntArray
    concept: IntArray
    surest: IntArray
    mentions: IntArray


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

    @property
    def source_ranks(self) -> IntArray:
        """Rank of each source by name: int64, shape (n_sources,)."""
        return np.argsort(np.argsort(np.array(self.sources, dtype=object)))

    @classmethod
    def of(cls, annotations: Annotations) -> "ImageContents":
        """Find the mentions of all images, without a copy of them."""
        mentions = annotations.mentions
        concept, source = mentions["concept"].cat, mentions["source"].cat
        return cls(
            rows=MentionRows.of(annotations),
            concepts=concept.categories.tolist(),
            sources=source.categories.tolist(),
            concept_codes=concept.codes.to_numpy(),
            source_codes=source.codes.to_numpy(),
            scores=mentions["score"].to_numpy(),
        )

    def concepts_of(self, images: IntArray) -> list[str]:
        """Names of the concepts that occur in any of the images at these positions."""
        occurs = np.zeros(len(self.concepts), dtype=np.bool_)
        for start in range(0, len(images), BLOCK):
            rows = self.rows.at(images[start : start + BLOCK])
            occurs[self.concept_codes[rows]] = True

        return sorted(self.concepts[code] for code in np.flatnonzero(occurs).tolist())

    def group(self, images: IntArray) -> GroupedMentions:
        """Group the mentions of the images at these positions by concept.

        Complexity: O(m log m) for the m mentions of these images.
        """
        rows = self.rows.at(images)
        image = np.repeat(np.arange(len(images)), self.rows.lengths(images))
        code, score = self.concept_codes[rows], self.scores[rows]
        source = self.source_ranks[self.source_codes[rows]]
        # A mention without a score is certain.
        uncertainty = -np.where(np.isnan(score), np.inf, score)

        # Of equally sure mentions the first source by name, so that their order does not matter.
        order = np.lexsort((source, uncertainty, code, image))
        image, code = image[order], code[order]
        changes = (np.diff(image, prepend=-1) != 0) | (np.diff(code, prepend=-1) != 0)

        starts = np.flatnonzero(changes)
        counts = np.diff(starts, append=len(order))
        return GroupedMentions(
            image=image[starts],
            concept=code[starts],
            surest=rows[order[starts]],
            mentions=counts,
        )

    def edges(self, images: IntArray) -> list[list[Sequence[Any]]]:
        """CONTAINS edges of each image as columns: concepts, then properties as in the schema.

        Examples
        --------
        >>> from cobalance.base.records import ImageRecord, Mention
        >>> cats = ImageRecord("1", "indoor", [Mention("cat", score=0.5), Mention("cat")])
        >>> ImageContents.of(Annotations.from_records([cats])).edges(np.array([0]))
        [[['cat'], ['annotation'], [None], [2]]]
        """
        grouped = self.group(images)
        source_codes = self.source_codes[grouped.surest]
        scores = self.scores[grouped.surest].tolist()

        concepts = [self.concepts[code] for code in grouped.concept.tolist()]
        sources = [self.sources[code] for code in source_codes.tolist()]
        known_scores = [None if isnan(score) else score for score in scores]
        counts = grouped.mentions.tolist()

        bounds = np.searchsorted(grouped.image, np.arange(len(images) + 1)).tolist()
        edges: list[list[Sequence[Any]]] = []
        for start, end in pairwise(bounds):
            rows = slice(start, end)
            edges.append([concepts[rows], sources[rows], known_scores[rows], counts[rows]])
        return edges

    def hash_edges(self, images: IntArray) -> Hashes:
        """Hash the edges of each image, in any order: shape (n_images,)."""
        grouped = self.group(images)
        concept_hashes = hash_texts(self.concepts)
        source_hashes = hash_texts(self.sources)

        hashed = mix_bits(concept_hashes[grouped.concept])
        hashed = mix_bits(hashed ^ source_hashes[self.source_codes[grouped.surest]])
        hashed = mix_bits(hashed ^ _hash_numbers(self.scores[grouped.surest]))
        hashed = mix_bits(hashed ^ grouped.mentions.astype(np.uint64))

        totals = np.zeros(len(images), dtype=np.uint64)
        np.add.at(totals, grouped.image, hashed)
        return totals


def image_digests(annotations: Annotations) -> IntArray:
    """64-bit digest of each image's content as the graph stores it.

    It follows from the image's properties and edges alone: not from the order of its mentions, from
    the images beside it, or from the types of the columns. A dataset's digest is a sum of these
    (`cobalance.graph.dataset.write.dataset_digest`), so that each is mixed once more after its
    edges are in: otherwise a concept that moves between two images would leave the sum as it was.

    Returns
    -------
    int64 array, shape (n_images,)
    """
    images, contents = annotations.images, ImageContents.of(annotations)
    digests = np.empty(len(images), dtype=np.uint64)
    for first, end, _ in contents.rows.blocks():
        block = images.iloc[first:end]
        hashed = np.zeros(len(block), dtype=np.uint64)
        for name in _PROPERTIES:
            values = _hash_column(block[name]) if name in block else _MISSING
            hashed = mix_bits(hashed ^ values)
        digests[first:end] = mix_bits(hashed + contents.hash_edges(np.arange(first, end)))
    return digests.view(np.int64)


def _hash_column(column: "pd.Series[Any]") -> Hashes:
    """Hash the values of a column, equal ones alike in columns of any type."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # The code -1, of a missing value, is the last.
        hashes = np.append(hash_texts(column.cat.categories), _MISSING)
        return hashes[column.cat.codes.to_numpy()]
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _hash_numbers(column.to_numpy(dtype=np.float64, na_value=np.nan))

    missing = column.isna().to_numpy()
    return np.where(missing, _MISSING, hash_texts(column.astype(object).where(~missing, "")))


def _hash_numbers(numbers: FloatArray) -> Hashes:
    return np.where(np.isnan(numbers), _MISSING, hash_array(numbers, categorize=False))
