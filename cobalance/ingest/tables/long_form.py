"""Tables with a row for each image and concept: find the rows of one image."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.graph.arrays import BoolArray, IntArray
from cobalance.ingest.frames import MentionColumns
from cobalance.ingest.names import Coded
from cobalance.ingest.problems import RowProblems
from cobalance.ingest.tables.columns import ColumnMap
from cobalance.ingest.tables.loading import Table

_OF_IMAGES = ("class", "split", "uri", "width", "height")


def further_rows(table: Table, columns: ColumnMap, first: IntArray) -> BoolArray:
    """Rows that add concepts to an image of an earlier row, and agree with it on all else.

    Parameters
    ----------
    first : int64 array
        First row with the same image id, for each row.
    """
    repeated: BoolArray = first != np.arange(len(first))
    if not repeated.any() or "concepts" not in columns.of or "caption" in columns.of:
        return np.zeros(len(first), dtype=bool)
    for role in _OF_IMAGES:
        if role in columns.of:
            repeated &= _agrees(table.columns[columns.of[role]], first)
    return repeated


def _agrees(column: pa.Array, first: IntArray) -> BoolArray:
    if pa.types.is_nested(column.type):
        return np.zeros(len(first), dtype=bool)
    earlier = column.take(pa.array(first))
    both_missing = pc.and_(pc.is_null(column), pc.is_null(earlier))
    same = pc.or_kleene(pc.equal(column, earlier), both_missing)
    found: BoolArray = pc.fill_null(same, False).to_numpy(zero_copy_only=False)
    return found


def image_rows(first: IntArray, further: BoolArray, rows: RowProblems) -> IntArray:
    """The first sound row of each row's image; -1 if it has none."""
    n = len(first)
    sound = np.flatnonzero((further | (first == np.arange(n))) & ~rows.bad)
    of_image = np.full(n, -1, dtype=np.int64)
    of_image[first[sound][::-1]] = sound[::-1]
    result: IntArray = of_image[first]
    return result


def move_mentions(
    mentions: MentionColumns, image_row: IntArray, rows: RowProblems
) -> MentionColumns:
    """Give the mentions of sound rows to their images' rows, and drop the others."""
    codes = np.where(rows.bad[mentions.image], -1, mentions.concept.codes)
    concept = Coded(codes, mentions.concept.names)
    return replace(mentions, image=image_row[mentions.image], concept=concept)
