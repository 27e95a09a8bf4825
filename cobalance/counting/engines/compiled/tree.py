"""Depth-first search for cliques, choosing for each node how to count it."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from cobalance.counting.engines.compiled.bitmaps import (
    ENTRY,
    bitmaps_behind,
    bitmaps_of,
    cost_of_pair,
    count_bitmaps,
    mine_bitmaps,
    rows_behind,
)
from cobalance.counting.engines.compiled.intrinsics import compile_inner, entry_point
from cobalance.counting.engines.compiled.pairs import (
    count_band,
    count_behind,
    scratch_for,
    table_fits,
)
from cobalance.counting.engines.compiled.rows import (
    count_occurrences,
    fill_occurrences,
    project,
)
from cobalance.counting.engines.compiled.state import (
    Search,
    levels_for,
    node_at,
    nothing_found,
    record,
)

# Counting through the rows of all children costs this much for each pair in a node's rows, in the
# unit of `cobalance.counting.engines.compiled.bitmaps`.
ROWS_PER_PAIR = 4.0

# numba compiles a function once more for a literal argument; these are none.
TOP = np.int64(0)
START = np.int64(0)
UNKNOWN = np.int64(0)
# Items that have to stand behind an item that makes a child.
BEHIND = np.int64(2)


@compile_inner
def renumber(near, codes, local, out_codes):
    """Number the items marked in `near` from 0; the others get the new END, which is returned."""
    n_kept = 0
    for item in range(near.size):
        n_kept += near[item]

    number = 0
    for item in range(near.size):
        local[item] = n_kept
        if near[item]:
            local[item] = number
            out_codes[number] = codes[item]
            number += 1
    return n_kept


@compile_inner
def triples(cells, items):
    """Count candidate triples: two kept pairs with the same first item."""
    number = np.zeros(items, np.int64)
    total = 0
    for t in range(cells.size):
        total += number[cells[t] // items]
        number[cells[t] // items] += 1
    return total


@compile_inner
def list_occurrences(levels, level, node):
    """List the occurrences of each item of a node, and start at its first child."""
    number = np.zeros(node.end, np.int64)
    space = np.zeros(node.end, np.int64)
    count_occurrences(node.rows, START, node.ends[-1], node.end, BEHIND, number, space)

    starts = levels.starts[level]
    starts[0] = 0
    positions = np.empty(node.end, np.int64)
    for item in range(node.end):
        positions[item] = starts[item]
        starts[item + 1] = starts[item] + number[item]
    occurrences = levels.occurrences[level]
    fill_occurrences(node.rows, START, node.ends[-1], node.end, BEHIND, positions, occurrences)
    levels.following[level] = 0


@compile_inner
def mine_node(search, levels, level, n_pairs, results):
    """Count a node's pairs; then mine below it by bitmaps, or prepare it for its children."""
    node = node_at(levels, level, levels.segments[level])
    items, codes = node.end, levels.codes[level]
    n_classes = results.counts.shape[1]

    # Counting through the rows costs one for each pair in them.
    price = cost_of_pair(node.segment_rows)
    build = node.ends[-1] * ENTRY
    if items * (items - 1) // 2 * price + build < n_pairs:
        bitmaps = bitmaps_of(node)
        cells, counts = count_bitmaps(bitmaps, search.min_support, n_classes, search.scratch.cells)
    else:
        cells, counts = count_band(
            node, 0, items, n_pairs, search.min_support, search.limit, n_classes, search.scratch
        )
    results = record(results, search.prefix, level + 1, codes, items, cells, counts)

    # A larger clique has three of the pairs.
    levels.following[level] = items
    if level + 3 == search.max_size or cells.size < 3:
        return results
    near = mark(levels, level, cells)
    if triples(cells, items) * price + build < ROWS_PER_PAIR * n_pairs:
        return mine_bitmaps(search, bitmaps_of(node), codes, near, level + 1, results)
    list_occurrences(levels, level, node)
    return results


@compile_inner
def mark(levels, level, cells):
    """Mark the pairs of a node that are kept."""
    items = levels.items[level]
    near = levels.near[level]
    near[: items * items] = False
    for t in range(cells.size):
        near[cells[t]] = True
    return near


@compile_inner
def mine_child(search, levels, level, parent, occurrences, n_kept, entries, results):
    """Mine the child at `level`, of `n_kept` items numbered by ``search.local``.

    `entries` is how many of those stand behind the occurrences in all, 0 where it is not known.
    """
    # It has no children until `mine_node` says otherwise.
    levels.items[level] = 0
    levels.following[level] = 0
    if n_kept < 2 or occurrences.size < search.min_support:
        return results
    codes, n_classes = levels.codes[level], results.counts.shape[1]
    local, scratch = search.local, search.scratch

    # On the last level the rows are read once: they need not be written.
    is_last = level + 3 == search.max_size
    if is_last and table_fits(n_kept * n_kept, parent.ends.size, occurrences.size, scratch):
        cells, counts = count_behind(
            parent, occurrences, local, n_kept, search.min_support, search.limit, n_classes, scratch
        )
        return record(results, search.prefix, level + 1, codes, n_kept, cells, counts)

    # The pairs in the rows, as if these were of equal length.
    levels.items[level] = n_kept
    foreseen = entries * (entries / occurrences.size - 1) / 2
    if foreseen > 0 and not is_last:
        segment_rows = rows_behind(parent.ends, occurrences)
        if n_kept * (n_kept - 1) // 2 * cost_of_pair(segment_rows) < foreseen:
            return mine_child_by_bitmaps(
                search, levels, level, parent, occurrences, segment_rows, foreseen, results
            )

    out = node_at(levels, level, n_classes)
    segments, n_pairs, most_rows = project(parent, occurrences, local, n_kept, out)
    levels.segments[level] = segments
    if most_rows < search.min_support:
        levels.items[level] = 0
        return results
    return mine_node(search, levels, level, n_pairs, results)


@compile_inner
def mine_child_by_bitmaps(
    search, levels, level, parent, occurrences, segment_rows, n_pairs, results
):
    """Mine a child by bitmaps; its rows are written only if they are needed."""
    n_kept, codes, local = levels.items[level], levels.codes[level], search.local
    bitmaps = bitmaps_behind(parent, occurrences, segment_rows, local, n_kept)
    cells, counts = count_bitmaps(
        bitmaps, search.min_support, results.counts.shape[1], search.scratch.cells
    )
    results = record(results, search.prefix, level + 1, codes, n_kept, cells, counts)

    levels.following[level] = n_kept
    if cells.size < 3:
        return results
    near = mark(levels, level, cells)
    if triples(cells, n_kept) * cost_of_pair(segment_rows) < ROWS_PER_PAIR * n_pairs:
        return mine_bitmaps(search, bitmaps, codes, near, level + 1, results)

    out = node_at(levels, level, results.counts.shape[1])
    segments, _, _ = project(parent, occurrences, local, n_kept, out)
    levels.segments[level] = segments
    list_occurrences(levels, level, node_at(levels, level, segments))
    return results


@compile_inner
def mine_below(search, levels, results):
    """Mine the children of the node at level 0, depth first."""
    level = 0
    while level >= 0 and results.used <= search.limit:
        a = levels.following[level]
        levels.following[level] += 1
        items = levels.items[level]
        if a + 2 >= items:
            level -= 1
            continue

        parent = node_at(levels, level, levels.segments[level])
        near = levels.near[level, a * items : (a + 1) * items]
        occurrences = levels.occurrences[level]
        of_item = occurrences[levels.starts[level, a] : levels.starts[level, a + 1]]
        search.prefix[level + 1] = levels.codes[level, a]
        n_kept = renumber(near, levels.codes[level], search.local, levels.codes[level + 1])

        level += 1
        results = mine_child(search, levels, level, parent, of_item, n_kept, UNKNOWN, results)
    return results


@entry_point
def mine_from(sources):
    """Build the compiled function, whose parameters and results are these.

    Parameters
    ----------
    firsts : int64 array
        Ranks.
    root : Node
        All images.
    occurrences, starts : unsigned array, int64 array
        Where rank i stands in their rows: from ``starts[i]`` on in `occurrences`.
    partners, partner_starts : int64 arrays
        The larger ranks that make a kept pair with rank i: from ``partner_starts[i]`` on.
    room : int
        Entries behind the occurrences of any of `firsts`, at most.
    entries : int64 array
        Of those, the ones that make a kept pair with rank i.
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

    def mine_from(
        firsts,
        root,
        occurrences,
        starts,
        partners,
        partner_starts,
        room,
        entries,
        codes,
        min_support,
        max_size,
        limit,
    ):
        """Mine the cliques of three or more items whose rarest is one of `firsts`."""
        # It has to be in the closure, see `entry_point`.
        _ = sources

        n_classes = root.ends.size
        widest = 0
        for first in firsts:
            widest = max(widest, partner_starts[first + 1] - partner_starts[first])
        levels = levels_for(max_size - 2, room, widest, n_classes, root.rows, occurrences)
        search = Search(
            min_support=min_support,
            max_size=max_size,
            limit=limit,
            prefix=np.empty(max_size, np.int32),
            local=np.empty(root.end + 1, root.rows.dtype),
            scratch=scratch_for(widest * widest, n_classes),
        )

        near = np.zeros(root.end, np.bool_)
        results = nothing_found(max_size, n_classes)
        for first in firsts:
            near[:] = False
            near[partners[partner_starts[first] : partner_starts[first + 1]]] = True
            of_item = occurrences[starts[first] : starts[first + 1]]
            search.prefix[0] = codes[first]
            n_kept = renumber(near, codes, search.local, levels.codes[0])
            results = mine_child(
                search, levels, TOP, root, of_item, n_kept, entries[first], results
            )
            results = mine_below(search, levels, results)
        return results.members[: results.used], results.counts[: results.used]

    return mine_from
