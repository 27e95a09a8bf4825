"""Count all pairs of items in the rows of a node: by table, by list, or by bitmap."""

from typing import Any, NamedTuple

import numpy as np

from graph.mining import bitmaps as bits
from graph.mining.compiled import compiled
from graph.mining.found import with_room

# A table with more cells than this for each pair to count is better replaced by a list of the cells
# touched; one above the limit is not worth its memory.
CELLS_PER_PAIR = 3
MAX_TABLE = 1 << 24


@compiled
def scatter(rows, end, start, last, low, high, table, offset):
    """Count the pairs (a, b) with low <= a < high in ``table[offset + (a - low) * end + b]``."""
    while start < last:
        stop = start
        while rows[stop] != end:
            stop += 1
        for x in range(start, stop - 1):
            if rows[x] >= low and rows[x] < high:
                base = np.uint64(offset + (np.int64(rows[x]) - low) * end)
                for y in range(x + 1, stop):
                    table[base + rows[y]] += np.uint32(1)
        start = stop + 1


@compiled
def scatter_listing(rows, end, start, last, low, high, table, touched):
    """Count as `scatter` does in a table of zeros; list the cells and give their number."""
    found = 0
    while start < last:
        stop = start
        while rows[stop] != end:
            stop += 1
        for x in range(start, stop - 1):
            if rows[x] >= low and rows[x] < high:
                base = np.uint64((np.int64(rows[x]) - low) * end)
                for y in range(x + 1, stop):
                    cell = base + rows[y]
                    touched[found] = cell
                    found += table[cell] == 0
                    table[cell] += np.uint32(1)
        start = stop + 1
    return found


@compiled
def scatter_kept(rows, end, start, last, low, high, places, counts, label):
    """Count pairs again, in the rows of `counts` that `places` (from 1; 0 for none) assigns."""
    while start < last:
        stop = start
        while rows[stop] != end:
            stop += 1
        for x in range(start, stop - 1):
            if rows[x] >= low and rows[x] < high:
                base = np.uint64((np.int64(rows[x]) - low) * end)
                for y in range(x + 1, stop):
                    place = places[base + rows[y]]
                    if place:
                        counts[place - 1, label] += np.uint32(1)
        start = stop + 1


class Scratch(NamedTuple):
    """What counting pairs needs beside the rows, for up to `cells.size` cells."""

    table: Any  # uint32, content of no meaning
    best: Any  # uint32, all zero between calls
    count: Any  # uint32, all zero between calls
    cells: Any  # int64
    touched: Any  # int64


@compiled
def scratch_for(n_cells, n_classes):
    """Give scratch for tables of `n_cells`; memory that is never touched costs nothing."""
    return Scratch(
        np.empty(min(n_cells * n_classes, MAX_TABLE), np.uint32),
        np.zeros(n_cells, np.uint32),
        np.zeros(n_cells, np.uint32),
        np.empty(n_cells + 1, np.int64),
        np.empty(n_cells + 1, np.int64),
    )


@compiled
def count_pairs(rows, end, labels, ends, segment_rows, n_pairs, min_support, n_classes, scratch):
    """Count all pairs (a, b) of items of a node, in the way that suits it best.

    Returns
    -------
    cells : int64 array, shape (n,)
        ``a * end + b`` for the pairs with `min_support` rows in some segment.
    counts : uint32 array, shape (n, n_classes)
    """
    n_cells = end * (end - 1) // 2
    if n_cells * bits.cost_of_pair(segment_rows) + ends[-1] * bits.ENTRY < n_pairs:
        return count_bitmaps(rows, end, labels, ends, segment_rows, min_support, n_classes, scratch)
    return count_band(rows, end, labels, ends, 0, end, n_pairs, min_support, n_classes, scratch)


@compiled
def count_bitmaps(rows, end, labels, ends, segment_rows, min_support, n_classes, scratch):
    """Count pair by pair, by bitmaps."""
    bitmaps, word_ends = bits.bitmaps_of(rows, end, ends, segment_rows)
    cells = scratch.cells
    counts = np.empty((16, n_classes), np.uint32)
    tally = np.empty(ends.size, np.uint32)
    found = 0
    for a in range(end - 1):
        for b in range(a + 1, end):
            if bits.shared_rows(bitmaps[a], bitmaps[b], word_ends, tally) >= min_support:
                counts = with_room(counts, found, found + 1)
                counts[found] = 0
                for segment in range(ends.size):
                    counts[found, labels[segment]] = tally[segment]
                cells[found] = a * end + b
                found += 1
    return cells[:found], counts[:found]


@compiled
def count_band(rows, end, labels, ends, low, high, n_pairs, min_support, n_classes, scratch):
    """Count the pairs (a, b) with low <= a < high, as `count_pairs` does; cells begin at low."""
    size = (high - low) * end
    n_table = size * ends.size
    if n_table <= scratch.table.size and n_table <= CELLS_PER_PAIR * n_pairs:
        return count_dense(rows, end, labels, ends, low, high, min_support, n_classes, scratch)
    return count_sparse(rows, end, labels, ends, low, high, min_support, n_classes, scratch)


@compiled
def count_dense(rows, end, labels, ends, low, high, min_support, n_classes, scratch):
    """Count in one table per segment, then look at every cell."""
    size = (high - low) * end
    table = scratch.table
    cells = scratch.cells
    table[: size * ends.size] = 0
    start = 0
    for segment in range(ends.size):
        scatter(rows, end, start, ends[segment], low, high, table, segment * size)
        start = ends[segment]
    found = 0
    for a in range(low, high):
        for cell in range((a - low) * end + a + 1, (a - low + 1) * end):
            best = table[cell]
            for segment in range(1, ends.size):
                best = max(best, table[segment * size + cell])
            cells[found] = cell
            found += best >= min_support
    counts = np.zeros((found, n_classes), np.uint32)
    for segment in range(ends.size):
        for t in range(found):
            counts[t, labels[segment]] = table[segment * size + cells[t]]
    return cells[:found], counts


@compiled
def count_sparse(rows, end, labels, ends, low, high, min_support, n_classes, scratch):
    """Count one segment after the other in one table, keep the best; then count the kept again."""
    best, count, cells, touched = scratch.best, scratch.count, scratch.cells, scratch.touched
    n_cells = 0
    start = 0
    for segment in range(ends.size):
        fresh = scatter_listing(rows, end, start, ends[segment], low, high, count, touched)
        for t in range(fresh):
            cell = touched[t]
            cells[n_cells] = cell
            n_cells += best[cell] == 0
            best[cell] = max(best[cell], count[cell])
            count[cell] = 0
        start = ends[segment]
    found = 0
    for t in range(n_cells):
        cell = cells[t]
        if best[cell] >= min_support:
            cells[found] = cell
            found += 1
            best[cell] = found
        else:
            best[cell] = 0
    counts = np.zeros((found, n_classes), np.uint32)
    start = 0
    for segment in range(ends.size):
        scatter_kept(rows, end, start, ends[segment], low, high, best, counts, labels[segment])
        start = ends[segment]
    for t in range(found):
        best[cells[t]] = 0
    return cells[:found], counts


@compiled
def mine_pairs(rows, end, class_ends, low, high, n_pairs, min_support):
    """Count the pairs of ranks (a, b) with low <= a < high in the root.

    Returns
    -------
    pairs : int64 array, shape (n, 2)
    counts : uint32 array, shape (n, n_classes)
    """
    n_classes = class_ends.size
    scratch = scratch_for((high - low) * end, n_classes)
    labels = np.arange(n_classes)
    cells, counts = count_band(
        rows, end, labels, class_ends, low, high, n_pairs, min_support, n_classes, scratch
    )
    pairs = np.empty((cells.size, 2), np.int64)
    for t in range(cells.size):
        pairs[t, 0] = low + cells[t] // end
        pairs[t, 1] = cells[t] % end
    return pairs, counts
