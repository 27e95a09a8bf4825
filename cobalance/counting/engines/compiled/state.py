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
    limit: Any  # stop above this many cliques
    prefix: Any  # int32 array: codes of the present node's prefix
    local: Any  # number of each item of a parent in its child
    scratch: Any  # see cobalance.counting.engines.compiled.pairs


class Found(NamedTuple):
    """Cliques found so far: the first `used` rows of arrays that grow."""

    members: Any  # int32, (room, max_size): codes ascending, -1 behind
    counts: Any  # uint32, (room, n_classes)
    used: Any


class Levels(NamedTuple):
    """Stack of the nodes on the current path, one row a level."""

    rows: Any
    labels: Any
    ends: Any
    segment_rows: Any
    segments: Any
    items: Any  # number of items, which is the END
    codes: Any  # concept code of each item
    near: Any  # whether the pair (a, b) is kept, at a * items + b
    occurrences: Any
    starts: Any  # where the occurrences of each item begin
    following: Any  # the item that makes the next child


@compile_inner
def levels_for(depth, room, items, n_classes, rows, occurrences):
    """Return `depth` empty levels; memory that is never touched costs nothing."""
    deep = depth > 1
    return Levels(
        np.empty((depth, room + 1), rows.dtype),
        np.empty((depth, n_classes), np.int64),
        np.empty((depth, n_classes), np.int64),
        np.empty((depth, n_classes), np.int64),
        np.empty(depth, np.int64),
        np.empty(depth, np.int64),
        np.empty((depth, items), np.int32),
        np.empty((depth, items * items * deep), np.bool_),
        np.empty((depth, room * deep), occurrences.dtype),
        np.empty((depth, items + 1), np.int64),
        np.empty(depth, np.int64),
    )


@compile_inner
def node_at(levels, level, segments):
    """Return the node of one level."""
    return Node(
        levels.rows[level],
        levels.items[level],
        levels.labels[level, :segments],
        levels.ends[level, :segments],
        levels.segment_rows[level, :segments],
    )


@compile_inner
def nothing_found(max_size, n_classes):
    """Return an empty result buffer."""
    members = np.empty((1024, max_size), np.int32)
    return Found(members, np.empty((1024, n_classes), np.uint32), 0)


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
    for place in range(size + 2):
        code = prefix[place] if place < size else a if place == size else b
        hole = place
        while hole > 0 and members[row, hole - 1] > code:
            members[row, hole] = members[row, hole - 1]
            hole -= 1
        members[row, hole] = code


@compile_inner
def record(found, prefix, size, codes, items, cells, cell_counts):
    """Append the prefix with each pair of items in `cells`, which holds ``a * items + b``."""
    used = found.used
    members = with_room(found.members, used, used + cells.size)
    counts = with_room(found.counts, used, used + cells.size)
    for t in range(cells.size):
        write_members(
            members, used + t, prefix, size, codes[cells[t] // items], codes[cells[t] % items]
        )
        for label in range(counts.shape[1]):
            counts[used + t, label] = cell_counts[t, label]
    return Found(members, counts, used + cells.size)
