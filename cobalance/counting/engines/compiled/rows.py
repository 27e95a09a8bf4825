"""Images as rows of items, and their projection on a clique.

Rows are images: the ranks of their items, ascending, one row behind the other and class by class.
Each row is closed by an END that equals the number of items, one more than the largest rank. Ranks
go from the rarest item to the most frequent, which keeps short what is left behind an item.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any, NamedTuple

import numpy as np

from cobalance.counting.engines.compiled.intrinsics import (
    compile_cached,
    compile_inner,
    prefetch,
)

# Occurrences between asking for a row and reading it.
AHEAD = 16


class Node(NamedTuple):
    """A clique (its prefix) with the rest of every row that contains it.

    The rows are reduced to the items that make a kept clique with the prefix, renumbered from 0.
    All pairs of those in them give all cliques two larger than the prefix; a child of the node has
    one item more in its prefix. The root has no prefix, and the images themselves as rows.
    """

    rows: Any
    # The END, so the number of items.
    end: Any
    # The classes that have such rows: the node's segments.
    labels: Any
    # Where the rows of each segment end.
    ends: Any
    # How many rows each segment has.
    segment_rows: Any


@compile_cached
def count_items(indptr, indices, labels, first, last, counts):
    """Count the images from first to last of each class with each concept."""
    for image in range(first, last):
        row = counts[labels[image]]
        for position in range(indptr[image], indptr[image + 1]):
            row[indices[position]] += 1


@compile_cached
def row_space(indptr, labels, first, last, space):
    """Add up the entries of images first..last in each class, END markers included."""
    for image in range(first, last):
        length = indptr[image + 1] - indptr[image]
        if length > 1:
            space[labels[image]] += length + 1


@compile_cached
def fill_rows(indptr, indices, labels, ranks, first, last, end, at, until, rows):
    """Write images first..last as rows grouped by class; return the length of the longest.

    ``ranks[code]`` is the END for a concept to drop. Rows with fewer than two items are left out,
    and what `row_space` foresaw for them is filled with ENDs: rows without items.
    """
    longest = 0
    row = np.empty(end + 1, rows.dtype)
    for image in range(first, last):
        length = 0
        for position in range(indptr[image], indptr[image + 1]):
            row[length] = ranks[indices[position]]
            length += row[length] != end

        if length > 1:
            start = at[labels[image]]
            # Counting the smaller items sorts without a branch to guess.
            for x in range(length):
                place = start
                for y in range(length):
                    place += row[y] < row[x]
                rows[place] = row[x]
            rows[start + length] = end
            at[labels[image]] = start + length + 1
            longest = max(longest, length)

    for label in range(at.size):
        rows[at[label] : until[label]] = end
    return longest


@compile_inner
def row_end(rows, start, end):
    """Return where the END of the row stands that begins at start."""
    while rows[start] != end:
        start += 1
    return start


@compile_cached
def count_occurrences(rows, first, last, end, behind, number, space):
    """Count, per item, the rows with at least `behind` later items, and those items."""
    start = first
    while start < last:
        stop = row_end(rows, start, end)
        for position in range(start, stop - behind):
            number[rows[position]] += 1
            space[rows[position]] += stop - position
        start = stop + 1


@compile_cached
def fill_occurrences(rows, first, last, end, behind, at, occurrences):
    """Write the positions counted by `count_occurrences`, ascending per item."""
    start = first
    while start < last:
        stop = row_end(rows, start, end)
        for position in range(start, stop - behind):
            item = rows[position]
            occurrences[at[item]] = position
            at[item] += 1
        start = stop + 1


@compile_inner
def project(node, occurrences, local, n_kept, out):
    """Copy the items after each occurrence of an item: the rows of a child node.

    Parameters
    ----------
    node : Node
        The parent.
    occurrences : int array
        Where the item stands in its rows, ascending.
    local : int array
        New number of each item, `n_kept` (the new END) for one to drop.
    n_kept : int
        Number of items of the child.
    out : Node
        Arrays to write to. Rows with fewer than two items are left out.

    Returns
    -------
    segments, n_pairs, most_rows : int
        Segments written, pairs in their rows, rows of the largest.
    """
    rows, end, ends = node.rows, node.end, node.ends
    new_rows = out.rows
    segments = 0
    source = 0
    open_source = -1
    n_pairs = 0
    most_rows = 0
    new_position = 0
    for t in range(occurrences.size):
        if t + AHEAD < occurrences.size:
            prefetch(rows, np.int64(occurrences[t + AHEAD]))
        position = np.int64(occurrences[t])
        while position >= ends[source]:
            source += 1

        # An item to drop is written, and overwritten by the next: no branch is needed.
        position += 1
        start = new_position
        while rows[position] != end:
            item = local[rows[position]]
            new_rows[new_position] = item
            new_position += item != n_kept
            position += 1

        length = new_position - start
        if length < 2:
            new_position = start
            continue
        new_rows[new_position] = n_kept
        new_position += 1
        n_pairs += length * (length - 1) // 2

        if open_source != source:
            open_source = source
            out.labels[segments] = node.labels[source]
            out.segment_rows[segments] = 0
            segments += 1
        out.ends[segments - 1] = new_position
        out.segment_rows[segments - 1] += 1
        most_rows = max(most_rows, out.segment_rows[segments - 1])
    return segments, n_pairs, most_rows
