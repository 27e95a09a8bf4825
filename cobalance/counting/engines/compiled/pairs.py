"""Count all pairs of items in the rows of a node, in a dense or a sparse table.

Pairs are held as cells: ``(a - low) * items + b`` for the pair a < b, in a band of first items from
`low` on. All counts are per class; a pair is kept when some class has it in `min_support` rows.
No more than `limit` + 1 are given, for then the search ends.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any, NamedTuple

import numpy as np

from cobalance.counting.engines.compiled.intrinsics import (
    compile_inner,
    entry_point,
    prefetch,
)
from cobalance.counting.engines.compiled.rows import AHEAD, row_end

# A table with more cells than this for each pair to count is better replaced by a list of the cells
# touched; one above the limit is not worth its memory.
CELLS_PER_PAIR = 4
MAX_TABLE = 1 << 24


class Scratch(NamedTuple):
    """Scratch memory for counting pairs, reused between calls."""

    # uint32, content of no meaning.
    table: Any
    # uint32, all zero between calls.
    best: Any
    count: Any
    # int64.
    cells: Any
    touched: Any


@compile_inner
def scratch_for(n_cells, n_classes):
    """Return scratch memory for up to `n_cells`; untouched pages cost nothing."""
    return Scratch(
        table=np.empty(min(n_cells * n_classes, MAX_TABLE), np.uint32),
        best=np.zeros(n_cells, np.uint32),
        count=np.zeros(n_cells, np.uint32),
        cells=np.empty(n_cells + 1, np.int64),
        touched=np.empty(n_cells + 1, np.int64),
    )


@compile_inner
def table_fits(n_cells, segments, n_pairs, scratch):
    """Whether one dense table per segment is worth its memory."""
    n_table = n_cells * segments
    return n_table <= scratch.table.size and n_table <= CELLS_PER_PAIR * n_pairs


@compile_inner
def count_band(node, low, high, n_pairs, min_support, limit, n_classes, scratch):
    """Count the pairs (a, b) of a node with low <= a < high.

    Returns
    -------
    cells : int64 array, shape (n,)
    counts : uint32 array, shape (n, n_classes)
    """
    if table_fits((high - low) * node.end, node.ends.size, n_pairs, scratch):
        return count_dense(node, low, high, min_support, limit, n_classes, scratch)
    return count_sparse(node, low, high, min_support, limit, n_classes, scratch)


@compile_inner
def count_dense(node, low, high, min_support, limit, n_classes, scratch):
    """Count in one dense table per segment, then scan every cell."""
    rows, end, ends, table = node.rows, node.end, node.ends, scratch.table
    size = (high - low) * end
    table[: size * ends.size] = 0

    start = 0
    for segment in range(ends.size):
        while start < ends[segment]:
            stop = row_end(rows, start, end)
            for x in range(start, stop - 1):
                if rows[x] >= low and rows[x] < high:
                    base = np.uint64(segment * size + (np.int64(rows[x]) - low) * end)
                    for y in range(x + 1, stop):
                        table[base + rows[y]] += np.uint32(1)
            start = stop + 1
    return select_cells(end, low, high, node.labels, min_support, limit, n_classes, scratch)


@compile_inner
def count_behind(node, occurrences, local, n_kept, min_support, limit, n_classes, scratch):
    """Count the pairs of the rows that `project` would write, without writing them."""
    rows, end, ends, table = node.rows, node.end, node.ends, scratch.table
    size = n_kept * n_kept
    row = np.empty(end + 1, rows.dtype)
    labels = np.empty(ends.size, np.int64)
    segments = 0
    source = -1
    for t in range(occurrences.size):
        if t + AHEAD < occurrences.size:
            prefetch(rows, np.int64(occurrences[t + AHEAD]))

        # A segment of the node that no row came from yet gets a table.
        position = np.int64(occurrences[t])
        if source < 0 or position >= ends[source]:
            source = max(source, 0)
            while position >= ends[source]:
                source += 1
            table[segments * size : (segments + 1) * size] = 0
            labels[segments] = node.labels[source]
            segments += 1

        # An item to drop is written, and overwritten by the next: no branch is needed.
        position += 1
        length = 0
        while rows[position] != end:
            item = local[rows[position]]
            row[length] = item
            length += item != n_kept
            position += 1

        for x in range(length - 1):
            base = np.uint64((segments - 1) * size + np.int64(row[x]) * n_kept)
            for y in range(x + 1, length):
                table[base + row[y]] += np.uint32(1)
    labels = labels[:segments]
    return select_cells(n_kept, 0, n_kept, labels, min_support, limit, n_classes, scratch)


@compile_inner
def select_cells(end, low, high, labels, min_support, limit, n_classes, scratch):
    """Return the cells to keep and their counts from the tables of all segments."""
    table, cells = scratch.table, scratch.cells
    size = (high - low) * end
    n_pairs = 0
    for a in range(low, high):
        for cell in range((a - low) * end + a + 1, (a - low + 1) * end):
            best = table[cell]
            for segment in range(1, labels.size):
                best = max(best, table[segment * size + cell])
            cells[n_pairs] = cell
            n_pairs += best >= min_support and n_pairs <= limit

    counts = np.zeros((n_pairs, n_classes), np.uint32)
    for segment in range(labels.size):
        for t in range(n_pairs):
            counts[t, labels[segment]] = table[segment * size + cells[t]]
    return cells[:n_pairs], counts


@compile_inner
def count_sparse(node, low, high, min_support, limit, n_classes, scratch):
    """Count segment by segment in one table to find cells to keep, then count those again."""
    best, count, cells, touched = scratch.best, scratch.count, scratch.cells, scratch.touched

    # The largest count of each cell that a row touches.
    n_cells = 0
    start = 0
    for segment in range(node.ends.size):
        fresh = scatter_listing(node, start, node.ends[segment], low, high, count, touched)
        for t in range(fresh):
            cell = touched[t]
            cells[n_cells] = cell
            n_cells += best[cell] == 0
            best[cell] = max(best[cell], count[cell])
            count[cell] = 0
        start = node.ends[segment]

    # From here on it holds the place of a cell that is kept, from 1.
    n_pairs = 0
    for t in range(n_cells):
        cell = cells[t]
        if best[cell] >= min_support and n_pairs <= limit:
            cells[n_pairs] = cell
            n_pairs += 1
            best[cell] = n_pairs
        else:
            best[cell] = 0

    counts = np.zeros((n_pairs, n_classes), np.uint32)
    start = 0
    for segment in range(node.ends.size):
        scatter_kept(node, start, node.ends[segment], low, high, best, counts, node.labels[segment])
        start = node.ends[segment]

    for t in range(n_pairs):
        best[cells[t]] = 0
    return cells[:n_pairs], counts


@compile_inner
def scatter_listing(node, start, last, low, high, table, touched):
    """Count in a zeroed table, list the cells touched and return their number."""
    rows, end = node.rows, node.end
    n_touched = 0
    while start < last:
        stop = row_end(rows, start, end)
        for x in range(start, stop - 1):
            if rows[x] >= low and rows[x] < high:
                base = np.uint64((np.int64(rows[x]) - low) * end)
                for y in range(x + 1, stop):
                    cell = base + rows[y]
                    touched[n_touched] = cell
                    n_touched += table[cell] == 0
                    table[cell] += np.uint32(1)
        start = stop + 1
    return n_touched


@compile_inner
def scatter_kept(node, start, last, low, high, places, counts, label):
    """Count kept cells into rows of `counts`; `places` numbers them from 1, 0 for none."""
    rows, end = node.rows, node.end
    while start < last:
        stop = row_end(rows, start, end)
        for x in range(start, stop - 1):
            if rows[x] >= low and rows[x] < high:
                base = np.uint64((np.int64(rows[x]) - low) * end)
                for y in range(x + 1, stop):
                    place = places[base + rows[y]]
                    if place:
                        counts[place - 1, label] += np.uint32(1)
        start = stop + 1


@entry_point
def mine_pairs(sources):
    """Build the compiled function."""

    def mine_pairs(root, low, high, n_pairs, min_support, limit):
        """Count the pairs of ranks (a, b) with low <= a < high in all images.

        Returns
        -------
        pairs : int64 array, shape (n, 2)
        counts : uint32 array, shape (n, n_classes)
        """
        # It has to be in the closure, see `entry_point`.
        _ = sources
        n_classes = root.ends.size
        scratch = scratch_for((high - low) * root.end, n_classes)
        cells, counts = count_band(root, low, high, n_pairs, min_support, limit, n_classes, scratch)

        pairs = np.empty((cells.size, 2), np.int64)
        for t in range(cells.size):
            pairs[t, 0] = low + cells[t] // root.end
            pairs[t, 1] = cells[t] % root.end
        return pairs, counts

    return mine_pairs
