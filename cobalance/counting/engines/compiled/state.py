"""State of the depth-first search: parameters, current path, scratch memory and results."""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any, NamedTuple

import numpy as np

from cobalance.counting.engines.compiled.intrinsics import compile_inner
from cobalance.counting.engines.compiled.rows import Node


class Search(NamedTuple):
    """Mining parameters, and scratch memory shared by all nodes."""

    min_support: Any
    max_size: Any
    # The search stops above this many cliques.
    limit: Any
    # int32 array: codes of the present node's prefix.
    prefix: Any
    # Number of each item of a parent in its child.
    local: Any
    # See cobalance.counting.engines.compiled.pairs.
    scratch: Any


class FoundCliques(NamedTuple):
    """Cliques found so far: the first `used` rows of arrays that grow."""

    # int32, (room, max_size): codes ascending, -1 behind.
    members: Any
    # uint32, (room, n_classes).
    counts: Any
    used: Any


class Levels(NamedTuple):
    """Stack of the nodes on the current path, one row a level."""

    # The arrays of each level's node, and how many of its segments are in use.
    rows: Any
    labels: Any
    ends: Any
    segment_rows: Any
    segments: Any
    # Number of items, which is the END.
    items: Any
    # Concept code of each item.
    codes: Any
    # Whether the pair (a, b) is kept, at a * items + b.
    near: Any
    # Where the items stand in the rows, and where those of each item begin.
    occurrences: Any
    starts: Any
    # The item that makes the next child.
    following: Any


@compile_inner
def levels_for(depth, room, items, n_classes, rows, occurrences):
    """Return `depth` empty levels; memory that is never touched costs nothing."""
    # A single level has no children, for which pairs and occurrences are listed.
    n_pairs = items * items if depth > 1 else 0
    n_occurrences = room if depth > 1 else 0
    return Levels(
        rows=np.empty((depth, room + 1), rows.dtype),
        labels=np.empty((depth, n_classes), np.int64),
        ends=np.empty((depth, n_classes), np.int64),
        segment_rows=np.empty((depth, n_classes), np.int64),
        segments=np.empty(depth, np.int64),
        items=np.empty(depth, np.int64),
        codes=np.empty((depth, items), np.int32),
        near=np.empty((depth, n_pairs), np.bool_),
        occurrences=np.empty((depth, n_occurrences), occurrences.dtype),
        starts=np.empty((depth, items + 1), np.int64),
        following=np.empty(depth, np.int64),
    )


@compile_inner
def node_at(levels, level, segments):
    """Return the node of one level."""
    return Node(
        rows=levels.rows[level],
        end=levels.items[level],
        labels=levels.labels[level, :segments],
        ends=levels.ends[level, :segments],
        segment_rows=levels.segment_rows[level, :segments],
    )


@compile_inner
def nothing_found(max_size, n_classes):
    """Return an empty result buffer."""
    members = np.empty((1024, max_size), np.int32)
    return FoundCliques(members, np.empty((1024, n_classes), np.uint32), 0)


@compile_inner
def with_room(array, used, needed):
    """Return the array, or a longer copy if it is too short."""
    if needed <= len(array):
        return array

    longer = np.empty((max(needed, 2 * len(array)), array.shape[1]), array.dtype)
    for row in range(used):
        for column in range(array.shape[1]):
            longer[row, column] = array[row, column]
    return longer


@compile_inner
def write_members(members, row, prefix, size, a, b):
    """Write one clique: the `size` codes of the prefix and two more, ascending, padded with -1."""
    for place in range(size + 2, members.shape[1]):
        members[row, place] = -1

    # Insertion sort: the codes are few.
    for place in range(size + 2):
        if place < size:
            code = prefix[place]
        elif place == size:
            code = a
        else:
            code = b
        hole = place
        while hole > 0 and members[row, hole - 1] > code:
            members[row, hole] = members[row, hole - 1]
            hole -= 1
        members[row, hole] = code


@compile_inner
def record(results, prefix, size, codes, items, cells, cell_counts):
    """Append the prefix with each pair of items in `cells`, which holds ``a * items + b``."""
    used = results.used
    members = with_room(results.members, used, used + cells.size)
    counts = with_room(results.counts, used, used + cells.size)

    for t in range(cells.size):
        first, second = codes[cells[t] // items], codes[cells[t] % items]
        write_members(members, used + t, prefix, size, first, second)
        for label in range(counts.shape[1]):
            counts[used + t, label] = cell_counts[t, label]
    return FoundCliques(members, counts, used + cells.size)
