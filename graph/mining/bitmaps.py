"""Bitmaps of the rows of a node: one bit a row for each item, each class in words of its own.

A pair of items costs an AND and a count of ones over all words, however many rows share it; so
bitmaps win where many do, and lists of rows where few do. `WORD` is that price.
"""

import numpy as np

from graph.mining.compiled import compiled, ones
from graph.mining.found import put, with_room

# Costs in increments of a table of pairs, 1.4 ns where this was measured (AVX-512; where only AVX2
# counts ones, a word costs about three times as much, which moves the choice, not the result).
WORD = 0.1  # AND and count of one word
SEGMENT = 2.0  # of one segment of a pair, beside its words
ENTRY = 2.0  # of setting the bit of one item in one row


@compiled
def cost_of_pair(segment_rows):
    """Price one pair of items, for segments of so many rows."""
    words = 0
    for segment in range(segment_rows.size):
        words += (segment_rows[segment] + 63) >> 6
    return words * WORD + segment_rows.size * SEGMENT


@compiled
def bitmaps_of(rows, end, ends, segment_rows):
    """Turn rows into bitmaps.

    Returns
    -------
    bitmaps : uint64 array, shape (items, words)
    word_ends : int64 array, shape (segments,)
        Where the words of each segment end.
    """
    word_ends = np.empty(ends.size, np.int64)
    word = 0
    for segment in range(ends.size):
        word += (segment_rows[segment] + 63) >> 6
        word_ends[segment] = word
    bitmaps = np.zeros((end, word), np.uint64)
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
    return bitmaps, word_ends


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
def mine_bitmaps(
    bitmaps, word_ends, labels, codes, near, prefix, size, min_support, limit, members, counts, used
):
    """Mine the cliques of `size` + 3 or more members below a node, depth first (Eclat).

    Parameters
    ----------
    bitmaps, word_ends, labels : arrays
        The node's rows.
    codes : int32 array
        Concept code of each of its items.
    near : bool array
        Whether the pair (a, b) is kept, at ``a * items + b``.
    prefix, size : int32 array, int
        The node's prefix, with room behind.
    min_support, limit : int
        As in `mine_from`.
    members, counts, used : array, array, int
        What has been found so far; given back extended.

    Notes
    -----
    Zaki, "Scalable algorithms for association mining" (2000).
    """
    items, words = bitmaps.shape
    max_size = members.shape[1]
    depth = max_size - size - 2
    maps = np.empty((depth, items, words), np.uint64)
    candidates = np.empty((depth, items), np.int64)
    number = np.empty(depth, np.int64)
    following = np.empty(depth, np.int64)
    tally = np.empty(word_ends.size, np.uint32)
    for a in range(items - 2):
        kept = 0
        for b in range(a + 1, items):
            if near[a * items + b]:
                intersect(bitmaps[a], bitmaps[b], maps[0, kept])
                candidates[0, kept] = b
                kept += 1
        prefix[size] = codes[a]
        number[0] = kept
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
                best = shared_rows(maps[level, x], maps[level, y], word_ends, tally)
                if best < min_support:
                    continue
                members = with_room(members, used, used + 1)
                counts = with_room(counts, used, used + 1)
                put(members, used, prefix, size + 1 + level, codes[item], codes[other])
                for label in range(counts.shape[1]):
                    counts[used, label] = 0
                for segment in range(word_ends.size):
                    counts[used, labels[segment]] = tally[segment]
                used += 1
                if level + 1 < depth:
                    intersect(maps[level, x], maps[level, y], maps[level + 1, kept])
                    candidates[level + 1, kept] = other
                    kept += 1
            if kept > 1:
                prefix[size + 1 + level] = codes[item]
                level += 1
                number[level] = kept
                following[level] = 0
    return members, counts, used
