"""Vertical bitmaps of a node: one bit a row for each item, each class in its own words.

A pair of items costs an AND and a count of ones over all words, however many rows share it: so
bitmaps win where many do, and rows where few do.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any, NamedTuple

import numpy as np

from cobalance.counting.engines.compiled.intrinsics import compile_inner, ones, prefetch
from cobalance.counting.engines.compiled.rows import AHEAD
from cobalance.counting.engines.compiled.state import FoundCliques, with_room, write_members

# Costs in increments of a table of pairs, which are 1.4 ns where this was measured: a Xeon whose
# AVX-512 counts ones. Elsewhere other choices would be a little better; the result is the same.
#
# Of AND and count of one word:
WORD = 0.1
# Of one segment of a pair, beside its words:
SEGMENT = 2.0
# Of setting the bit of one item in one row:
ENTRY = 2.0


class Bitmaps(NamedTuple):
    """The rows of a node as bitmaps."""

    # uint64, (items, words).
    words: Any
    # Where the words of each segment end.
    ends: Any
    # The class of each segment.
    labels: Any


@compile_inner
def cost_of_pair(segment_rows):
    """Return the cost of intersecting one pair of items."""
    words = 0
    for segment in range(segment_rows.size):
        words += (segment_rows[segment] + 63) >> 6
    return words * WORD + segment_rows.size * SEGMENT


@compile_inner
def bitmaps_of(node):
    """Return the bitmaps of a node's rows."""
    rows, end, ends = node.rows, node.end, node.ends
    word_ends = np.empty(ends.size, np.int64)
    words = 0
    for segment in range(ends.size):
        words += (node.segment_rows[segment] + 63) >> 6
        word_ends[segment] = words

    # Each segment begins in a word of its own.
    bitmaps = np.zeros((end, words), np.uint64)
    position = 0
    for segment in range(ends.size):
        row = 0 if segment == 0 else word_ends[segment - 1] << 6
        while position < ends[segment]:
            bit = np.uint64(1) << np.uint64(row & 63)
            while rows[position] != end:
                bitmaps[rows[position], row >> 6] |= bit
                position += 1
            position += 1
            row += 1
    return Bitmaps(bitmaps, word_ends, node.labels.copy())


@compile_inner
def rows_behind(ends, occurrences):
    """Count the occurrences of an item in each segment of a node."""
    segment_rows = np.zeros(ends.size, np.int64)
    before = 0
    for segment in range(ends.size):
        last = np.searchsorted(occurrences, ends[segment])
        segment_rows[segment] = last - before
        before = last
    return segment_rows


@compile_inner
def bitmaps_behind(node, occurrences, segment_rows, local, n_kept):
    """Return the bitmaps of a child node without writing its rows.

    ``local[item]`` is the bitmap of each item of the node, `n_kept` for none.
    """
    rows, end = node.rows, node.end
    word_ends = np.cumsum((segment_rows + 63) >> 6)
    words = np.zeros((n_kept + 1, word_ends[-1]), np.uint64)

    # Items to drop share the last bitmap, so that no branch is needed.
    t = 0
    for segment in range(segment_rows.size):
        row = 0 if segment == 0 else word_ends[segment - 1] << 6
        for _ in range(segment_rows[segment]):
            if t + AHEAD < occurrences.size:
                prefetch(rows, np.int64(occurrences[t + AHEAD]))

            position = np.int64(occurrences[t]) + 1
            bit = np.uint64(1) << np.uint64(row & 63)
            while rows[position] != end:
                words[local[rows[position]], row >> 6] |= bit
                position += 1
            row += 1
            t += 1
    return Bitmaps(words[:n_kept], word_ends, node.labels.copy())


@compile_inner
def count_shared(first, second):
    """Count the rows that two bitmaps share."""
    total = np.uint64(0)
    for word in range(first.size):
        total += ones(first[word] & second[word])
    return total


@compile_inner
def tally_shared(first, second, word_ends, tally):
    """Count the rows that two bitmaps share in each segment; return the largest count."""
    best = np.int64(0)
    start = 0
    for segment in range(word_ends.size):
        last = word_ends[segment]
        tally[segment] = count_shared(first[start:last], second[start:last])
        best = max(best, np.int64(tally[segment]))
        start = last
    return best


@compile_inner
def intersect(first, second, out):
    """Write the intersection of two bitmaps."""
    for word in range(out.size):
        out[word] = first[word] & second[word]


@compile_inner
def count_bitmaps(bitmaps, min_support, n_classes, cells):
    """Count all pairs of items, as `counting.engines.compiled.pairs.count_band` does."""
    items = len(bitmaps.words)
    counts = np.empty((16, n_classes), np.uint32)
    tally = np.empty(bitmaps.ends.size, np.uint32)
    n_pairs = 0
    for a in range(items - 1):
        for b in range(a + 1, items):
            best = tally_shared(bitmaps.words[a], bitmaps.words[b], bitmaps.ends, tally)
            if best >= min_support:
                counts = with_room(counts, n_pairs, n_pairs + 1)
                set_counts(counts, n_pairs, bitmaps.labels, tally)
                cells[n_pairs] = a * items + b
                n_pairs += 1
    return cells[:n_pairs], counts[:n_pairs]


@compile_inner
def set_counts(counts, row, labels, tally):
    """Write a clique's count in every class, zero for classes without a segment."""
    for label in range(counts.shape[1]):
        counts[row, label] = 0
    for segment in range(labels.size):
        counts[row, labels[segment]] = tally[segment]


@compile_inner
def mine_bitmaps(search, bitmaps, codes, near, size, results):
    """Mine the cliques of `size` + 3 or more members below a node, depth first (Eclat).

    Parameters
    ----------
    search : Search
        With the node's prefix, of `size` codes.
    bitmaps : Bitmaps
        The node's rows.
    codes : int32 array
        Concept code of each of its items.
    near : bool array
        Whether the pair (a, b) is kept, at ``a * items + b``.
    size : int
        Codes in the prefix.
    results : FoundCliques
        Given back extended.

    Notes
    -----
    Zaki, "Scalable algorithms for association mining" (IEEE TKDE, 2000).
    """
    words, ends, labels = bitmaps
    min_support, prefix = search.min_support, search.prefix
    members, counts, used = results
    items = len(words)

    # Of each level: the candidates, each one's bitmap with the prefix, and the next to go below.
    depth = search.max_size - size - 2
    meets = np.empty((depth, items, words.shape[1]), np.uint64)
    candidates = np.empty((depth, items), np.int64)
    number = np.empty(depth, np.int64)
    following = np.empty(depth, np.int64)
    tally = np.empty(ends.size, np.uint32)

    for a in range(items - 2):
        # The first level has the items that make a kept pair with the first.
        number[0] = 0
        for b in range(a + 1, items):
            if near[a * items + b]:
                intersect(words[a], words[b], meets[0, number[0]])
                candidates[0, number[0]] = b
                number[0] += 1
        prefix[size] = codes[a]
        following[0] = 0

        level = 0
        while level >= 0 and used <= search.limit:
            x = following[level]
            following[level] += 1
            if x + 1 >= number[level]:
                level -= 1
                continue

            # The candidate with each one behind it: a clique, and a candidate of the next level.
            item = candidates[level, x]
            n_next = 0
            for y in range(x + 1, number[level]):
                partner = candidates[level, y]
                if not near[item * items + partner]:
                    continue
                if tally_shared(meets[level, x], meets[level, y], ends, tally) < min_support:
                    continue

                members = with_room(members, used, used + 1)
                counts = with_room(counts, used, used + 1)
                write_members(members, used, prefix, size + 1 + level, codes[item], codes[partner])
                set_counts(counts, used, labels, tally)
                used += 1
                if level + 1 < depth:
                    intersect(meets[level, x], meets[level, y], meets[level + 1, n_next])
                    candidates[level + 1, n_next] = partner
                    n_next += 1

            if n_next > 1:
                prefix[size + 1 + level] = codes[item]
                level += 1
                number[level] = n_next
                following[level] = 0
    return FoundCliques(members, counts, used)
