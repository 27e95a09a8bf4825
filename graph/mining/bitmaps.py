"""Bitmaps of the rows of a node: one bit a row for each item, each class in words of its own.

A pair of items costs an AND and a count of ones over all words, however many rows share it: so
bitmaps win where many do, and rows where few do.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any, NamedTuple

import numpy as np

from graph.mining.compiled import compiled, ones
from graph.mining.search import Found, put, with_room

# Costs in increments of a table of pairs, 1.4 ns where this was measured (AVX-512; where only AVX2
# counts ones, a word costs about three times as much, which moves the choice, not the result).
WORD = 0.1  # AND and count of one word
SEGMENT = 2.0  # of one segment of a pair, beside its words
ENTRY = 2.0  # of setting the bit of one item in one row


class Bitmaps(NamedTuple):
    """The rows of a node as bitmaps."""

    words: Any  # uint64, (items, words)
    ends: Any  # where the words of each segment end
    labels: Any  # the class of each segment


@compiled
def no_bitmaps():
    """Give bitmaps of nothing."""
    return Bitmaps(np.empty((0, 0), np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))


@compiled
def cost_of_pair(segment_rows):
    """Price one pair of items, for segments of so many rows."""
    words = 0
    for segment in range(segment_rows.size):
        words += (segment_rows[segment] + 63) >> 6
    return words * WORD + segment_rows.size * SEGMENT


@compiled
def bitmaps_of(node):
    """Turn the rows of a node into bitmaps."""
    rows, end, ends = node.rows, node.end, node.ends
    word_ends = np.empty(ends.size, np.int64)
    words = 0
    for segment in range(ends.size):
        words += (node.segment_rows[segment] + 63) >> 6
        word_ends[segment] = words
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


@compiled
def shared(one, other):
    """Count the rows that two bitmaps share."""
    total = np.uint64(0)
    for word in range(one.size):
        total += ones(one[word] & other[word])
    return total


@compiled
def shared_rows(one, other, word_ends, tally):
    """Count the rows that two bitmaps share in each segment; give the largest count."""
    best = np.int64(0)
    start = 0
    for segment in range(word_ends.size):
        last = word_ends[segment]
        tally[segment] = shared(one[start:last], other[start:last])
        best = max(best, np.int64(tally[segment]))
        start = last
    return best


@compiled
def intersect(one, other, out):
    """Write the rows that two bitmaps share."""
    for word in range(out.size):
        out[word] = one[word] & other[word]


@compiled
def count_bitmaps(bitmaps, min_support, n_classes, cells):
    """Count all pairs of items, as `graph.mining.pairs.count_band` does."""
    items = len(bitmaps.words)
    counts = np.empty((16, n_classes), np.uint32)
    tally = np.empty(bitmaps.ends.size, np.uint32)
    found = 0
    for a in range(items - 1):
        for b in range(a + 1, items):
            best = shared_rows(bitmaps.words[a], bitmaps.words[b], bitmaps.ends, tally)
            if best >= min_support:
                counts = with_room(counts, found, found + 1)
                set_counts(counts, found, bitmaps.labels, tally)
                cells[found] = a * items + b
                found += 1
    return cells[:found], counts[:found]


@compiled
def set_counts(counts, row, labels, tally):
    """Write the counts of all classes: those of the segments, and zero."""
    for label in range(counts.shape[1]):
        counts[row, label] = 0
    for segment in range(labels.size):
        counts[row, labels[segment]] = tally[segment]


@compiled
def mine_bitmaps(search, bitmaps, codes, near, size, found):
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
    found : Found
        Given back extended.

    Notes
    -----
    Zaki, "Scalable algorithms for association mining" (IEEE TKDE, 2000).
    """
    words, ends, labels = bitmaps
    min_support, max_size, limit, prefix, _, _ = search
    members, counts, used = found
    items = len(words)
    depth = max_size - size - 2
    meets = np.empty((depth, items, words.shape[1]), np.uint64)  # of prefix and candidate
    candidates = np.empty((depth, items), np.int64)
    number = np.empty(depth, np.int64)
    following = np.empty(depth, np.int64)
    tally = np.empty(ends.size, np.uint32)
    for a in range(items - 2):
        number[0] = 0
        for b in range(a + 1, items):
            if near[a * items + b]:
                intersect(words[a], words[b], meets[0, number[0]])
                candidates[0, number[0]] = b
                number[0] += 1
        prefix[size] = codes[a]
        following[0] = 0
        level = 0
        while level >= 0 and used <= limit:
            x = following[level]
            following[level] += 1
            if x + 1 >= number[level]:
                level -= 1
                continue
            item = candidates[level, x]
            kept = 0
            for y in range(x + 1, number[level]):
                other = candidates[level, y]
                if not near[item * items + other]:
                    continue
                if shared_rows(meets[level, x], meets[level, y], ends, tally) < min_support:
                    continue
                members = with_room(members, used, used + 1)
                counts = with_room(counts, used, used + 1)
                put(members, used, prefix, size + 1 + level, codes[item], codes[other])
                set_counts(counts, used, labels, tally)
                used += 1
                if level + 1 < depth:
                    intersect(meets[level, x], meets[level, y], meets[level + 1, kept])
                    candidates[level + 1, kept] = other
                    kept += 1
            if kept > 1:
                prefix[size + 1 + level] = codes[item]
                level += 1
                number[level] = kept
                following[level] = 0
    return Found(members, counts, used)
