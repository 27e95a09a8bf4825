"""The compiled loops of clique mining by projection; `graph.cliques_numba` drives them.

Rows are images: the ranks of their items, ascending, one row behind the other and class by class.
Each row is closed by an END that equals the number of items, one more than the largest rank. Ranks
go from the rarest item to the most frequent, which keeps short what is left behind an item.

A node is a clique (its prefix) with the rest of every row that contains it, reduced to the items
that make a kept clique with it and renumbered from 0. Its segments are the classes that have such
rows. All pairs of items in the rows of a node give all cliques two larger than the prefix; a child
has one item more in its prefix.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

# From this many cells per pair on, a list of the touched cells beats a scan of the whole table.
SPARSE = 3


def _compiled(function: Function) -> Function:
    """Compile on first call; keep the machine code on disk where some folder is writable.

    numba tries NUMBA_CACHE_DIR, then ``__pycache__``, then the user's cache folder, and raises
    when it can write to none of them: compiling anew in each process is then the best left.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)


@_compiled
def row_space(indptr, indices, labels, ranks, first, last, end, space):
    """Add up the entries that images first..last need in each class, ENDs included."""
    for image in range(first, last):
        length = 0
        for position in range(indptr[image], indptr[image + 1]):
            length += ranks[indices[position]] != end
        if length > 1:
            space[labels[image]] += length + 1


@_compiled
def fill_rows(indptr, indices, labels, ranks, first, last, end, at, rows):
    """Write images first..last as rows, each class from its own place on."""
    row = np.empty(end + 1, rows.dtype)
    for image in range(first, last):
        length = 0
        for position in range(indptr[image], indptr[image + 1]):
            item = ranks[indices[position]]
            if item != end:
                hole = length
                while hole > 0 and row[hole - 1] > item:
                    row[hole] = row[hole - 1]
                    hole -= 1
                row[hole] = item
                length += 1
        if length > 1:
            start = at[labels[image]]
            rows[start : start + length] = row[:length]
            rows[start + length] = end
            at[labels[image]] = start + length + 1


@_compiled
def count_occurrences(rows, first, last, end, behind, number, space):
    """Count, per item, the rows with `behind` or more items behind it, and the entries there."""
    start = first
    while start < last:
        stop = start
        while rows[stop] != end:
            stop += 1
        for position in range(start, stop - behind):
            number[rows[position]] += 1
            space[rows[position]] += stop - position
        start = stop + 1


@_compiled
def fill_occurrences(rows, first, last, end, behind, at, occurrences):
    """Write the positions that `count_occurrences` counted, ascending per item."""
    start = first
    while start < last:
        stop = start
        while rows[stop] != end:
            stop += 1
        for position in range(start, stop - behind):
            item = rows[position]
            occurrences[at[item]] = position
            at[item] += 1
        start = stop + 1


@_compiled
def gather(rows, end, occurrences, class_ends, out, labels, ends):
    """Copy what stands behind each occurrence; give the number of segments."""
    segments = 0
    label = 0
    at = 0
    for t in range(occurrences.size):
        position = np.int64(occurrences[t])
        if segments == 0 or position >= class_ends[label]:
            while position >= class_ends[label]:
                label += 1
            labels[segments] = label
            segments += 1
        position += 1
        while rows[position] != end:
            out[at] = rows[position]
            at += 1
            position += 1
        out[at] = end
        at += 1
        ends[segments - 1] = at
    return segments


@_compiled
def largest_counts(rows, end, ends, segments, best):
    """Count the items of each segment; give the largest count of each over the segments."""
    count = np.zeros(end + 1, np.uint32)
    best[:] = 0
    start = 0
    for segment in range(segments):
        for position in range(start, ends[segment]):
            count[rows[position]] += np.uint32(1)
        if ends[segment] - start > end:
            for item in range(end):
                best[item] = max(best[item], count[item])
                count[item] = 0
        else:
            for position in range(start, ends[segment]):
                item = rows[position]
                if item != end:
                    best[item] = max(best[item], count[item])
                    count[item] = 0
        start = ends[segment]


@_compiled
def reduce_rows(rows, end, local, kept, labels, ends, segments, counts):
    """Renumber in place, drop what is not kept, count it per class; give segments and pairs."""
    tally = np.empty(kept + 1, np.uint32)
    remaining = 0
    n_pairs = 0
    at = 0
    start = 0
    for segment in range(segments):
        tally[:] = 0
        new_start = at
        position = start
        start = ends[segment]
        while position < start:
            row = at
            while rows[position] != end:
                item = local[rows[position]]
                tally[item] += np.uint32(1)
                rows[at] = item
                at += item != kept
                position += 1
            position += 1
            length = at - row
            if length > 1:
                n_pairs += length * (length - 1) // 2
                rows[at] = kept
                at += 1
            else:
                at = row
        label = labels[segment]
        for item in range(kept):
            counts[item, label] = tally[item]
        if at > new_start:
            labels[remaining] = label
            ends[remaining] = at
            remaining += 1
    return remaining, n_pairs


@_compiled
def project(rows, end, occurrences, labels, ends, local, kept, out, out_labels, out_ends):
    """Copy what stands behind each occurrence, renumbered; give segments, pairs, most rows."""
    segments = 0
    source = 0
    opened = -1
    n_pairs = 0
    n_rows = 0
    most_rows = 0
    at = 0
    for t in range(occurrences.size):
        position = np.int64(occurrences[t])
        while position >= ends[source]:
            source += 1
        position += 1
        row = at
        while rows[position] != end:
            item = local[rows[position]]
            out[at] = item
            at += item != kept
            position += 1
        length = at - row
        if length > 1:
            out[at] = kept
            at += 1
            n_pairs += length * (length - 1) // 2
            if opened != source:
                opened = source
                out_labels[segments] = labels[source]
                segments += 1
                n_rows = 0
            out_ends[segments - 1] = at
            n_rows += 1
            most_rows = max(most_rows, n_rows)
        else:
            at = row
    return segments, n_pairs, most_rows


@_compiled
def dense_pairs(rows, end, ends, segments, min_support, table, cells):
    """Count pairs in one table a segment; list the cells to keep and give their number."""
    size = end * end
    table[: segments * size] = 0
    start = 0
    for segment in range(segments):
        last = ends[segment]
        while start < last:
            stop = start
            while rows[stop] != end:
                stop += 1
            for x in range(start, stop - 1):
                base = np.uint64(segment * size + np.int64(rows[x]) * end)
                for y in range(x + 1, stop):
                    table[base + rows[y]] += np.uint32(1)
            start = stop + 1
    found = 0
    for a in range(end - 1):
        for cell in range(a * end + a + 1, (a + 1) * end):
            best = table[cell]
            for segment in range(1, segments):
                best = max(best, table[segment * size + cell])
            cells[found] = cell
            found += best >= min_support
    return found


@_compiled
def sparse_pairs(rows, end, ends, segments, min_support, zeros, cells, fresh):
    """Count pairs one segment after the other, listing the cells touched; keep the best count.

    `zeros` holds two tables, all zero on entry. On return the second holds, for each cell to
    keep, its place in `cells` counted from 1; `record_sparse` sets it back.
    """
    size = end * end
    touched = 0
    start = 0
    for segment in range(segments):
        n_fresh = 0
        last = ends[segment]
        while start < last:
            stop = start
            while rows[stop] != end:
                stop += 1
            for x in range(start, stop - 1):
                base = np.uint64(np.int64(rows[x]) * end)
                for y in range(x + 1, stop):
                    cell = base + rows[y]
                    fresh[n_fresh] = cell
                    n_fresh += zeros[cell] == 0
                    zeros[cell] += np.uint32(1)
            start = stop + 1
        for t in range(n_fresh):
            cell = fresh[t]
            cells[touched] = cell
            touched += zeros[size + cell] == 0
            zeros[size + cell] = max(zeros[size + cell], zeros[cell])
            zeros[cell] = 0
    found = 0
    for t in range(touched):
        cell = cells[t]
        if zeros[size + cell] >= min_support:
            cells[found] = cell
            found += 1
            zeros[size + cell] = found
        else:
            zeros[size + cell] = 0
    return found


@_compiled
def record_dense(end, labels, segments, table, cells, found, counts, at):
    """Copy the counts of the cells to keep."""
    for segment in range(segments):
        for t in range(found):
            counts[at + t, labels[segment]] = table[segment * end * end + cells[t]]


@_compiled
def record_sparse(rows, end, labels, ends, segments, zeros, cells, found, counts, at):
    """Count the pairs again, into the rows of the cells to keep alone."""
    size = end * end
    start = 0
    for segment in range(segments):
        label = labels[segment]
        last = ends[segment]
        while start < last:
            stop = start
            while rows[stop] != end:
                stop += 1
            for x in range(start, stop - 1):
                base = np.uint64(size + np.int64(rows[x]) * end)
                for y in range(x + 1, stop):
                    place = zeros[base + rows[y]]
                    if place:
                        counts[at + place - 1, label] += np.uint32(1)
            start = stop + 1
    for t in range(found):
        zeros[size + cells[t]] = 0


@_compiled
def put(members, at, prefix, size, a, b):
    """Write one clique: the prefix and two more codes, ascending, -1 behind."""
    row = members[at]
    row[:size] = prefix[:size]
    row[size] = a
    row[size + 1] = b
    row[size + 2 :] = -1
    for last in range(1, size + 2):
        code = row[last]
        hole = last
        while hole > 0 and row[hole - 1] > code:
            row[hole] = row[hole - 1]
            hole -= 1
        row[hole] = code


@_compiled
def grown(members, counts, used, needed):
    """Give arrays with room for `needed` rows and zero counts in the new ones."""
    if needed <= len(members):
        return members, counts
    room = max(needed, 2 * len(members))
    more_members = np.empty((room, members.shape[1]), members.dtype)
    more_members[:used] = members[:used]
    more_counts = np.zeros((room, counts.shape[1]), counts.dtype)
    more_counts[:used] = counts[:used]
    return more_members, more_counts


@_compiled
def mine_from(
    first, rows, end, occurrences, class_ends, room, codes, min_support, max_size, limit, zeros
):
    """Mine the cliques of two or more items whose rarest is `first`.

    Parameters
    ----------
    first : int
        Rank of the item.
    rows, end : unsigned array, int
        All rows, and their END.
    occurrences : unsigned array
        Where `first` stands in `rows`, ascending.
    class_ends : int64 array
        Where the rows of each class end.
    room : int
        Entries behind those occurrences, ENDs included.
    codes : int32 array
        Concept code of each rank.
    min_support, max_size : int
        As in `mine_cliques`.
    limit : int
        Stop, unfinished, above this many cliques.
    zeros : uint32 array
        Scratch, all zero.

    Returns
    -------
    members : int32 array, shape (n, max_size)
    counts : uint32 array, shape (n, n_classes)
    zeros : uint32 array
        The scratch, perhaps a larger one.
    """
    n_classes = class_ends.size
    levels = max(1, max_size - 2)
    node_rows = np.empty((levels, room + 1), rows.dtype)
    node_labels = np.empty((levels, n_classes), np.int64)
    node_ends = np.empty((levels, n_classes), np.int64)
    node_segments = np.zeros(levels, np.int64)
    node_items = np.zeros(levels, np.int64)

    segments = gather(
        rows, end, occurrences, class_ends, node_rows[0], node_labels[0], node_ends[0]
    )
    best = np.empty(end + 1, np.uint32)
    largest_counts(node_rows[0], end, node_ends[0], segments, best)
    local = np.empty(end + 1, rows.dtype)
    node_codes = np.empty((levels, end), np.int32)
    kept = 0
    for item in range(end):
        if best[item] >= min_support:
            node_codes[0, kept] = codes[item]
            kept += 1
    position = 0
    for item in range(end):
        local[item] = position if best[item] >= min_support else kept
        position += best[item] >= min_support

    used = kept
    members = np.full((max(used, 1), max_size), -1, np.int32)
    counts = np.zeros((max(used, 1), n_classes), np.uint32)
    for item in range(kept):
        members[item, 0] = min(codes[first], node_codes[0, item])
        members[item, 1] = max(codes[first], node_codes[0, item])
    segments, n_pairs = reduce_rows(
        node_rows[0], end, local, kept, node_labels[0], node_ends[0], segments, counts
    )
    if max_size < 3 or n_pairs == 0:
        return members[:used], counts[:used], zeros

    if zeros.size < 2 * kept * kept:
        zeros = np.zeros(2 * kept * kept, np.uint32)
    table = np.empty(min(segments * kept * kept, SPARSE * n_pairs), np.uint32)
    cells = np.empty(kept * (kept - 1) // 2 + 1, np.int64)
    fresh = np.empty(kept * (kept - 1) // 2 + 1, np.int64)
    adjacent = np.zeros((levels, kept * kept if levels > 1 else 0), np.bool_)
    starts = np.zeros((levels, kept + 2), np.int64)
    number = np.empty(kept + 1, np.int64)
    space = np.empty(kept + 1, np.int64)
    node_occurrences = np.empty((levels, room if levels > 1 else 0), np.int64)
    following = np.zeros(levels, np.int64)
    prefix = np.empty(max_size, np.int32)
    prefix[0] = codes[first]
    node_segments[0] = segments
    node_items[0] = kept
    level = 0
    descend = True
    while level >= 0:
        this_rows = node_rows[level]
        this_labels = node_labels[level]
        this_ends = node_ends[level]
        this_codes = node_codes[level]
        items = node_items[level]
        segments = node_segments[level]
        if descend:
            dense = SPARSE * n_pairs >= segments * items * items
            if dense:
                found = dense_pairs(
                    this_rows, items, this_ends, segments, min_support, table, cells
                )
            else:
                found = sparse_pairs(
                    this_rows, items, this_ends, segments, min_support, zeros, cells, fresh
                )
            members, counts = grown(members, counts, used, used + found)
            if dense:
                record_dense(items, this_labels, segments, table, cells, found, counts, used)
            else:
                record_sparse(
                    this_rows,
                    items,
                    this_labels,
                    this_ends,
                    segments,
                    zeros,
                    cells,
                    found,
                    counts,
                    used,
                )
            for t in range(found):
                a, b = divmod(cells[t], items)
                put(members, used + t, prefix, level + 1, this_codes[a], this_codes[b])
            used += found
            if used > limit:
                break
            if level + 3 < max_size and found > 2:
                neighbours = adjacent[level]
                neighbours[: items * items] = False
                for t in range(found):
                    neighbours[cells[t]] = True
                number[: items + 1] = 0
                last = this_ends[segments - 1]
                count_occurrences(this_rows, 0, last, items, 2, number, space)
                at = starts[level]
                at[0] = 0
                for item in range(items):
                    at[item + 1] = at[item] + number[item]
                    number[item] = at[item]
                fill_occurrences(this_rows, 0, last, items, 2, number, node_occurrences[level])
                following[level] = 0
            else:
                following[level] = items
        descend = False
        a = following[level]
        following[level] += 1
        if a >= items - 2:
            level -= 1
            continue
        first_of, last_of = starts[level, a], starts[level, a + 1]
        if last_of - first_of < min_support:
            continue
        kept = 0
        neighbours = adjacent[level]
        for b in range(a + 1, items):
            if neighbours[a * items + b]:
                node_codes[level + 1, kept] = this_codes[b]
                kept += 1
        if kept < 2:
            continue
        position = 0
        for b in range(a + 1, items):
            local[b] = position if neighbours[a * items + b] else kept
            position += neighbours[a * items + b]
        segments, n_pairs, most_rows = project(
            this_rows,
            items,
            node_occurrences[level, first_of:last_of],
            this_labels,
            this_ends,
            local,
            kept,
            node_rows[level + 1],
            node_labels[level + 1],
            node_ends[level + 1],
        )
        if most_rows < min_support:
            continue
        prefix[level + 1] = this_codes[a]
        level += 1
        node_segments[level] = segments
        node_items[level] = kept
        descend = True
    return members[:used], counts[:used], zeros
