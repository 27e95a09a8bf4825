"""Clique mining by projection, compiled with numba and threaded, for large data."""

# mypy: allow-untyped-calls

from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from cobalance.base import IntArray
from cobalance.counting.engines.compiled import rows as kernels
from cobalance.counting.engines.compiled.pairs import mine_pairs
from cobalance.counting.engines.compiled.tree import mine_from
from cobalance.counting.incidence import Incidence
from cobalance.counting.threads import available_cores, run_shared

Block = tuple[IntArray, IntArray]

# Cells of a table of pairs of the root.
MAX_BAND = 1 << 22
# For each thread, where there are several.
BATCHES = 16
# Entries that occupy a thread for longer than it takes to start it.
PER_THREAD = 500_000


@dataclass(frozen=True, eq=False)
class _Root:
    """Root node: images as rows of ranks, class by class, with the occurrences of each rank."""

    node: kernels.Node
    # Items in the longest row.
    longest: int
    # Those of rank i are occurrences[starts[i] : starts[i + 1]].
    occurrences: IntArray
    starts: IntArray
    # Entries behind all occurrences of a rank.
    space: IntArray


def is_ready() -> bool:
    """Whether this process has the compiled code already."""
    return bool(cast(Any, mine_from).signatures)


def threads_for(incidence: Incidence, threads: int | None) -> int:
    """Return the number of threads asked for, by default one per core as far as they have work."""
    return threads or max(1, min(available_cores(), len(incidence.indices) // PER_THREAD))


def count_items(incidence: Incidence, threads: int) -> IntArray:
    """Count as `Incidence.class_concept_counts` does."""

    def count(part: tuple[int, int]) -> IntArray:
        counts = np.zeros((len(incidence.classes), len(incidence.concepts)), dtype=np.int64)
        kernels.count_items(incidence.indptr, incidence.indices, incidence.labels, *part, counts)
        return counts

    counts = list(run_shared(threads, count, _parts(len(incidence.labels), threads)))
    return np.sum(counts, axis=0)


def mine(
    incidence: Incidence, codes: IntArray, min_support: int, max_size: int, threads: int, limit: int
) -> Generator[Block]:
    """Return every clique of two or more concepts, in blocks.

    Parameters
    ----------
    incidence : Incidence
        Which image contains which concept.
    codes : int array
        The concepts to combine, the rarest first.
    min_support, max_size, threads : int
        As in `cobalance.counting.cliques.mine_cliques`.
    limit : int
        Where the caller stops: no block is much larger.

    Yields
    ------
    members : int array, shape (n, at most max_size), ascending, -1 behind
    counts : uint32 array, shape (n, n_classes)

    Notes
    -----
    Occurrence lists and reduced databases as in LCM (Uno, Kiyomi and Arimura, FIMI 2004), with the
    last two levels counted together in a table of pairs, for all classes in one pass. Complexity:
    linear in the (image, clique of the image) pairs.
    """
    if max_size < 2 or len(codes) < 2:
        return
    root = _root(incidence, codes, threads)

    def count_band(band: tuple[int, int]) -> Block:
        low, high = band
        n_pairs = int(root.space[low:high].sum())
        return mine_pairs(root.node, low, high, n_pairs, min_support, limit)

    pairs_by_band = []
    entries = np.zeros(root.node.end, dtype=np.int64)
    for pairs, counts in run_shared(threads, count_band, _bands(root.space, threads)):
        pairs_by_band.append(pairs)
        np.add.at(entries, pairs[:, 0], counts.sum(axis=1, dtype=np.int64))
        yield np.sort(codes[pairs], axis=1), counts

    size = min(max_size, root.longest)
    if size < 3:
        return
    # Bands come in any order.
    pairs = np.concatenate(pairs_by_band)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    partner_starts = np.searchsorted(pairs[:, 0], np.arange(root.node.end + 1))
    partners = pairs[:, 1].copy()
    codes = codes.astype(np.int32)

    def mine_batch(firsts: IntArray) -> Block:
        return mine_from(
            firsts,
            root.node,
            root.occurrences,
            root.starts,
            partners,
            partner_starts,
            int(root.space[firsts].max()),
            entries,
            codes,
            min_support,
            size,
            limit,
        )

    yield from run_shared(threads, mine_batch, _batches(root, partner_starts, threads))


def _bands(space: IntArray, threads: int) -> list[tuple[int, int]]:
    """Split the ranks into ranges of about equal work whose pair tables stay small."""
    share = np.cumsum(space) * threads // max(1, int(space.sum()) + 1)
    width = max(1, MAX_BAND // len(space))
    cuts = [0]
    for rank in range(1, len(space)):
        if share[rank] != share[rank - 1] or rank - cuts[-1] >= width:
            cuts.append(rank)
    return list(zip(cuts, [*cuts[1:], len(space)], strict=True))


def _batches(root: _Root, partner_starts: IntArray, threads: int) -> list[IntArray]:
    """Split the ranks into batches, heaviest first."""
    # Pairs in the rows behind an occurrence, as if these were all of one length.
    number = np.diff(root.starts)
    cost = root.space.astype(float) ** 2 / np.maximum(number, 1)
    order = np.argsort(-cost, kind="stable")
    order = order[(np.diff(partner_starts)[order] > 1) & (number[order] > 0)]
    if not len(order):
        return []

    n_batches = BATCHES * threads if threads > 1 else 1
    share = np.cumsum(cost[order]) * n_batches // max(1.0, cost.sum())
    return np.split(order, np.flatnonzero(np.diff(share)) + 1)


def _root(incidence: Incidence, codes: IntArray, threads: int) -> _Root:
    """Write images as rows, in parallel."""
    end = len(codes)
    dtype = np.uint16 if end <= np.iinfo(np.uint16).max else np.uint32
    ranks = np.full(len(incidence.concepts), end, dtype=dtype)
    ranks[codes] = np.arange(end, dtype=dtype)
    images = _parts(len(incidence.labels), threads)
    source = incidence.indptr, incidence.indices, incidence.labels

    # Each thread writes its images to places of its own in each class.
    space = np.zeros((threads, len(incidence.classes)), dtype=np.int64)
    for thread, part in enumerate(images):
        kernels.row_space(incidence.indptr, incidence.labels, *part, space[thread])
    begins, until, class_ends = _places(space)
    rows: IntArray = np.empty(int(space.sum()), dtype=dtype)

    def fill(thread: int) -> int:
        places = begins[thread], until[thread]
        longest = kernels.fill_rows(*source, ranks, *images[thread], end, *places, rows)
        return int(longest)

    longest = max(run_shared(threads, fill, range(threads)))

    parts = _row_parts(rows, end, threads)
    number = np.zeros((threads, end), dtype=np.int64)
    behind = np.zeros((threads, end), dtype=np.int64)

    def count(thread: int) -> None:
        kernels.count_occurrences(rows, *parts[thread], end, 2, number[thread], behind[thread])

    list(run_shared(threads, count, range(threads)))

    positions, _, ends = _places(number)
    position_type = np.uint32 if len(rows) <= np.iinfo(np.uint32).max else np.int64
    occurrences: IntArray = np.empty(int(number.sum()), dtype=position_type)

    def locate(thread: int) -> None:
        kernels.fill_occurrences(rows, *parts[thread], end, 2, positions[thread], occurrences)

    list(run_shared(threads, locate, range(threads)))

    node = kernels.Node(
        rows=rows,
        end=end,
        labels=np.arange(len(class_ends)),
        ends=class_ends,
        segment_rows=class_ends,
    )
    return _Root(
        node=node,
        longest=longest,
        occurrences=occurrences,
        starts=np.append(0, ends),
        space=behind.sum(axis=0),
    )


def _places(numbers: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return where each part begins and ends in each group, and where each group ends.

    Groups lie one behind the other, and in a group part behind part: so what is written does not
    depend on the number of parts.
    """
    until = np.ascontiguousarray(np.cumsum(numbers.T).reshape(numbers.T.shape).T)
    return until - numbers, until, until[-1].copy()


def _row_parts(rows: IntArray, end: int, threads: int) -> list[tuple[int, int]]:
    """Split the rows into parts, between rows."""
    cuts = [0]
    for _, cut in _parts(len(rows), threads)[:-1]:
        while 0 < cut < len(rows) and rows[cut - 1] != end:
            cut += 1
        cuts.append(cut)
    return list(zip(cuts, [*cuts[1:], len(rows)], strict=True))


def _parts(length: int, number: int) -> list[tuple[int, int]]:
    """Split ``range(length)`` into equal parts, as (first, last) pairs."""
    return list(pairwise(length * part // number for part in range(number + 1)))
