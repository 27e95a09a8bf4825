"""x."""

from typing import Any, NamedTuple

import numpy as np

from graph.mining import bitmaps as bits
from graph.mining.compiled import compiled
from graph.mining.found import put, with_room
from graph.mining.pairs import count_pairs, scratch_for
from graph.mining.rows import count_occurrences, fill_occurrences, project


@compiled
def renumber(near, codes, local, out_codes):
    """Number the items marked in `near` from 0; the others get the new END, which is returned."""
    kept = 0
    for item in range(near.size):
        kept += near[item]
    number = 0
    for item in range(near.size):
        local[item] = kept
        if near[item]:
            local[item] = number
            out_codes[number] = codes[item]
            number += 1
    return kept


# Counting through the rows of children costs this many increments for each pair of a node.
ROWS_PER_PAIR = 4


class Levels(NamedTuple):
    """The nodes from a child of the root down to the present one, one row each."""

    rows: Any
    labels: Any
    ends: Any
    segment_rows: Any
    segments: Any
    items: Any  # number of items, which is the END
    codes: Any  # concept code of each item
    near: Any  # (level, item * items + item): which pairs are kept
    occurrences: Any
    starts: Any  # where the occurrences of each item begin
    following: Any  # the item that makes the next child


@compiled
def levels_for(depth, room, items, n_classes, rows):
    """Give `depth` empty levels; memory that is never touched costs nothing."""
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
        np.empty((depth, room * deep), np.int64),
        np.empty((depth, items + 1), np.int64),
        np.empty(depth, np.int64),
    )


@compiled
def list_occurrences(levels, level):
    """List where each item of a node stands in its rows."""
    items = levels.items[level]
    last = levels.ends[level, levels.segments[level] - 1]
    at = np.zeros(items, np.int64)
    space = np.zeros(items, np.int64)
    count_occurrences(levels.rows[level], 0, last, items, 2, at, space)
    starts = levels.starts[level]
    starts[0] = 0
    for item in range(items):
        starts[item + 1] = starts[item] + at[item]
        at[item] = starts[item]
    fill_occurrences(levels.rows[level], 0, last, items, 2, at, levels.occurrences[level])


@compiled
def open_child(levels, level, a, local, min_support):
    """Make the next level the child that item `a` makes; give its pairs, 0 to leave it out."""
    first, last = levels.starts[level, a], levels.starts[level, a + 1]
    if last - first < min_support:
        return 0
    items = levels.items[level]
    below = level + 1
    near = levels.near[level, a * items : (a + 1) * items]
    kept = renumber(near, levels.codes[level], local, levels.codes[below])
    if kept < 2:
        return 0
    segments, n_pairs, most_rows = project(
        levels.rows[level],
        items,
        levels.labels[level],
        levels.ends[level],
        levels.occurrences[level, first:last],
        local,
        kept,
        levels.rows[below],
        levels.labels[below],
        levels.ends[below],
        levels.segment_rows[below],
    )
    levels.items[below] = kept
    levels.segments[below] = segments
    return n_pairs if most_rows >= min_support else 0


@compiled
def mine_below(levels, n_pairs, local, prefix, min_support, limit, scratch, members, counts, used):
    """Mine the node at level 0 and all below it, depth first; give what was found, extended."""
    max_size = members.shape[1]
    level = 0
    while level >= 0 and used <= limit:
        items = levels.items[level]
        codes = levels.codes[level]
        if n_pairs > 0:
            segments = levels.segments[level]
            rows = levels.rows[level]
            labels = levels.labels[level, :segments]
            ends = levels.ends[level, :segments]
            segment_rows = levels.segment_rows[level, :segments]
            cells, some = count_pairs(
                rows,
                items,
                labels,
                ends,
                segment_rows,
                n_pairs,
                min_support,
                counts.shape[1],
                scratch,
            )
            members = with_room(members, used, used + cells.size)
            counts = with_room(counts, used, used + cells.size)
            for t in range(cells.size):
                a, b = codes[cells[t] // items], codes[cells[t] % items]
                put(members, used + t, prefix, level + 1, a, b)
                for label in range(counts.shape[1]):
                    counts[used + t, label] = some[t, label]
            used += cells.size
            levels.following[level] = items
            if level + 3 < max_size and cells.size > 2:
                near = levels.near[level]
                near[: items * items] = False
                for t in range(cells.size):
                    near[cells[t]] = True
                cost = triples(cells, items) * bits.cost_of_pair(segment_rows)
                if cost + ends[-1] * bits.ENTRY < ROWS_PER_PAIR * n_pairs:
                    bitmaps, word_ends = bits.bitmaps_of(rows, items, ends, segment_rows)
                    members, counts, used = bits.mine_bitmaps(
                        bitmaps,
                        word_ends,
                        labels,
                        codes,
                        near,
                        prefix,
                        level + 1,
                        min_support,
                        limit,
                        members,
                        counts,
                        used,
                    )
                else:
                    list_occurrences(levels, level)
                    levels.following[level] = 0
        a = levels.following[level]
        levels.following[level] += 1
        n_pairs = 0
        if a + 2 >= items:
            level -= 1
        else:
            n_pairs = open_child(levels, level, a, local, min_support)
            if n_pairs > 0:
                prefix[level + 1] = codes[a]
                level += 1
    return members, counts, used


@compiled
def triples(cells, items):
    """Count the candidates with one item more: two kept pairs with the same first item."""
    number = np.zeros(items, np.int64)
    total = 0
    for t in range(cells.size):
        total += number[cells[t] // items]
        number[cells[t] // items] += 1
    return total


@compiled
def mine_from(
    firsts,
    rows,
    end,
    class_ends,
    occurrences,
    starts,
    partners,
    partner_starts,
    room,
    codes,
    min_support,
    max_size,
    limit,
):
    """Mine the cliques of three or more items whose rarest is one of `firsts`.

    Parameters
    ----------
    firsts : int64 array
        Ranks.
    rows, end, class_ends : unsigned array, int, int64 array
        The root.
    occurrences, starts : unsigned array, int64 array
        Where rank i stands in `rows`: from ``starts[i]`` on in `occurrences`.
    partners, partner_starts : int64 arrays
        The larger ranks that make a kept pair with rank i: from ``partner_starts[i]`` on.
    room : int
        Entries behind the occurrences of any of `firsts`, at most.
    codes : int32 array
        Concept code of each rank.
    min_support, max_size : int
        As in `mine_cliques`.
    limit : int
        Stop, unfinished, above this many cliques.

    Returns
    -------
    members : int32 array, shape (n, max_size)
    counts : uint32 array, shape (n, n_classes)
    """
    n_classes = class_ends.size
    widest = 0
    for first in firsts:
        widest = max(widest, partner_starts[first + 1] - partner_starts[first])
    levels = levels_for(max_size - 2, room, widest, n_classes, rows)
    scratch = scratch_for(widest * widest, n_classes)
    labels = np.arange(n_classes)
    local = np.empty(end + 1, rows.dtype)
    near = np.zeros(end, np.bool_)
    prefix = np.empty(max_size, np.int32)
    members = np.empty((1024, max_size), np.int32)
    counts = np.empty((1024, n_classes), np.uint32)
    used = 0
    for first in firsts:
        near[:] = False
        near[partners[partner_starts[first] : partner_starts[first + 1]]] = True
        kept = renumber(near, codes, local, levels.codes[0])
        segments, n_pairs, most_rows = project(
            rows,
            end,
            labels,
            class_ends,
            occurrences[starts[first] : starts[first + 1]],
            local,
            kept,
            levels.rows[0],
            levels.labels[0],
            levels.ends[0],
            levels.segment_rows[0],
        )
        if kept > 1 and most_rows >= min_support:
            prefix[0] = codes[first]
            levels.items[0] = kept
            levels.segments[0] = segments
            members, counts, used = mine_below(
                levels, n_pairs, local, prefix, min_support, limit, scratch, members, counts, used
            )
    return members[:used], counts[:used]
