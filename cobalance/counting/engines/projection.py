"""Clique mining by projection, compiled with numba and threaded, for large data."""

# mypy: allow-untyped-calls

import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np

from cobalance.base.arrays import IntArray
from cobalance.counting.engines.compiled import rows as kernels
from cobalance.counting.engines.compiled.pairs import mine_pairs
from cobalance.counting.engines.compiled.tree import mine_from
from cobalance.counting.incidence import Incidence

Block = tuple[IntArray, IntArray]
Task = TypeVar("Task")
Result = TypeVar("Result")

MAX_BAND = 1 << 22  # cells of a table of pairs of the root
BATCHES = 16  # per thread, where there are several
PER_THREAD = 500_000  # entries that occupy a thread for longer than it takes to start it


@dataclass(frozen=True, eq=False)
class _Root:
    """Root node: images as rows of ranks, class by class, with the occurrences of each rank."""

    node: kernels.Node
    longest: int  # items in the longest row
    occurrences: IntArray
    starts: IntArray  # the occurrences of rank i are occurrences[starts[i] : starts[i + 1]]
    space: IntArray  # entries behind all occurrences of a rank


def is_ready() -> bool:
    """Whether this process has the compiled code already."""
    return bool(cast(Any, mine_from).signatures)


def threads_for(incidence: Incidence, threads: int | None) -> int:
    """Return the number of threads asked for, by default one per core as far as they have work."""
    return threads or max(1, min(_available_cores(), len(incidence.indices) // PER_THREAD))


def count_items(incidence: Incidence, threads: int) -> IntArray:
    """Count as `Incidence.class_concept_counts` does."""

    def count(part: tuple[int, int]) -> IntArray:
        counts = np.zeros((len(incidence.classes), len(incidence.concepts)), dtype=np.int64)
        kernels.count_items(incidence.indptr, incidence.indices, incidence.labels, *part, counts)
        return counts

    counts = list(run_shared(threads, count, _parts(len(incidence.labels), threads)))
    total: IntArray = np.sum(counts, axis=0)
    return total


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
        block: Block = mine_pairs(root.node, low, high, n_pairs, min_support, limit)
        return block

    found = []
    entries = np.zeros(root.node.end, dtype=np.int64)
    for pairs, counts in run_shared(threads, count_band, _bands(root.space, threads)):
        found.append(pairs)
        np.add.at(entries, pairs[:, 0], counts.sum(axis=1, dtype=np.int64))
        yield np.sort(codes[pairs], axis=1), counts
    size = min(max_size, root.longest)
    if size < 3:
        return
    pairs = np.concatenate(found)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    partner_starts = np.searchsorted(pairs[:, 0], np.arange(root.node.end + 1))
    partners = pairs[:, 1].copy()
    codes = codes.astype(np.int32)

    def mine_batch(firsts: IntArray) -> Block:
        block: Block = mine_from(
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
        return block

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
    number = np.diff(root.starts)
    cost = root.space.astype(float) ** 2 / np.maximum(number, 1)
    order = np.argsort(-cost, kind="stable")
    order = order[(np.diff(partner_starts)[order] > 1) & (number[order] > 0)]
    number_of_batches = BATCHES * threads if threads > 1 else 1
    share = np.cumsum(cost[order]) * number_of_batches // max(1.0, cost.sum())
    return np.split(order, np.flatnonzero(np.diff(share)) + 1) if len(order) else []


def _root(incidence: Incidence, codes: IntArray, threads: int) -> _Root:
    """Write images as rows, in parallel."""
    end = len(codes)
    dtype = np.uint16 if end <= np.iinfo(np.uint16).max else np.uint32
    ranks = np.full(len(incidence.concepts), end, dtype=dtype)
    ranks[codes] = np.arange(end, dtype=dtype)
    images = _parts(len(incidence.labels), threads)
    source = incidence.indptr, incidence.indices, incidence.labels

    space = np.zeros((threads, len(incidence.classes)), dtype=np.int64)
    for t, part in enumerate(images):
        kernels.row_space(incidence.indptr, incidence.labels, *part, space[t])
    at, until, class_ends = _places(space)
    rows: IntArray = np.empty(int(space.sum()), dtype=dtype)

    def fill(t: int) -> int:
        return int(kernels.fill_rows(*source, ranks, *images[t], end, at[t], until[t], rows))

    longest = max(run_shared(threads, fill, range(threads)))

    lengths = _row_parts(rows, end, threads)
    number = np.zeros((threads, end), dtype=np.int64)
    behind = np.zeros((threads, end), dtype=np.int64)

    def count(t: int) -> None:
        kernels.count_occurrences(rows, *lengths[t], end, 2, number[t], behind[t])

    list(run_shared(threads, count, range(threads)))
    at, _, ends = _places(number)
    wide = np.uint32 if len(rows) <= np.iinfo(np.uint32).max else np.int64
    occurrences: IntArray = np.empty(int(number.sum()), dtype=wide)

    def locate(t: int) -> None:
        kernels.fill_occurrences(rows, *lengths[t], end, 2, at[t], occurrences)

    list(run_shared(threads, locate, range(threads)))
    starts = np.append(0, ends)
    node = kernels.Node(rows, end, np.arange(len(class_ends)), class_ends, class_ends)
    return _Root(node, longest, occurrences, starts, behind.sum(axis=0))


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


def _available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parts(length: int, number: int) -> list[tuple[int, int]]:
    """Split ``range(length)`` into equal parts, as (first, last) pairs."""
    return list(pairwise(length * part // number for part in range(number + 1)))


def run_shared(
    threads: int, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> Generator[Result]:
    """Return the result of each task as it comes; a thread that is free takes the next one.

    Mining tasks differ too much in length for fixed shares. Closing the iterator stops the
    threads after their current tasks. An error in a task is raised here.

    Examples
    --------
    >>> sorted(run_shared(2, abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if threads == 1:
        yield from map(function, tasks)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for done in as_completed([pool.submit(function, task) for task in tasks]):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)
