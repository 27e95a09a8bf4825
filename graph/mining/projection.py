"""Clique mining by projection, compiled with numba and threaded: for data where that pays."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from graph.incidence import Incidence
from graph.mining import pairs as pair_kernels
from graph.mining import rows as row_kernels
from graph.mining.tree import mine_from

IntArray = npt.NDArray[np.integer]
Task = TypeVar("Task")
Result = TypeVar("Result")

MAX_BAND = 1 << 22  # cells of a table of pairs of the root
BATCHES = 16  # per thread


@dataclass(frozen=True, eq=False)
class _Root:
    """Images as rows of ranks, class by class, and where each rank stands in them."""

    rows: IntArray
    end: int
    class_ends: IntArray
    occurrences: IntArray
    starts: IntArray  # the occurrences of rank i are occurrences[starts[i] : starts[i + 1]]
    space: IntArray  # entries behind all occurrences of a rank


def count_items(incidence: Incidence, threads: int | None) -> IntArray:
    """Count as `Incidence.class_concept_counts` does."""
    threads = threads or available_cores()
    shape = len(incidence.classes), len(incidence.concepts)
    if shape[0] * shape[1] * threads > incidence.indices.size:
        threads = 1
    counts = np.zeros((threads, *shape), dtype=np.int64)
    images = _parts(len(incidence.labels), threads)
    source = incidence.indptr, incidence.indices, incidence.labels
    with ThreadPoolExecutor(threads) as pool:
        _each(pool, lambda t: row_kernels.count_items(*source, *images[t], counts[t]), threads)
    return counts.sum(axis=0)


def mine(
    incidence: Incidence,
    codes: IntArray,
    min_support: int,
    max_size: int,
    threads: int | None,
    limit: int,
) -> Iterator[tuple[IntArray, IntArray]]:
    """Give every clique of two or more concepts, in blocks.

    Parameters
    ----------
    incidence : Incidence
        Which image contains which concept.
    codes : int array
        The concepts to combine, the rarest first.
    min_support, max_size, threads : int
        As in `graph.cliques.mine_cliques`.
    limit : int
        Where the caller stops: no block has many more cliques than this.

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
    threads = threads or available_cores()
    with ThreadPoolExecutor(threads) as pool:
        root = _root(incidence, codes, threads, pool)
        bands = _bands(root.space, threads)

        def count_band(band: tuple[int, int]) -> tuple[IntArray, IntArray]:
            low, high = band
            pairs = int(root.space[low:high].sum())
            return pair_kernels.mine_pairs(
                root.rows, root.end, root.class_ends, low, high, pairs, min_support
            )

        pair_blocks = []
        for pairs, counts in _shared(pool, threads, count_band, bands):
            pair_blocks.append(pairs)
            yield np.sort(codes[pairs], axis=1), counts
        if max_size < 3:
            return
        pairs = np.concatenate(pair_blocks)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        partner_starts = np.searchsorted(pairs[:, 0], np.arange(root.end + 1))
        partners = np.ascontiguousarray(pairs[:, 1])
        codes = codes.astype(np.int32)
        size = min(max_size, _longest(root))

        def mine_batch(firsts: IntArray) -> tuple[IntArray, IntArray]:
            return mine_from(
                firsts,
                root.rows,
                root.end,
                root.class_ends,
                root.occurrences,
                root.starts,
                partners,
                partner_starts,
                int(root.space[firsts].max()),
                codes,
                min_support,
                size,
                limit,
            )

        if size > 2:
            yield from _shared(pool, threads, mine_batch, _batches(root, partner_starts, threads))


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shared(
    pool: ThreadPoolExecutor, threads: int, function: Callable[[Task], Result], tasks: list[Task]
) -> Iterator[Result]:
    """Give the results of all tasks as they come; threads take the next task from one queue."""
    waiting: SimpleQueue[Task] = SimpleQueue()
    for task in tasks:
        waiting.put(task)
    done: SimpleQueue[Result | None] = SimpleQueue()
    stop = Event()

    def work() -> None:
        try:
            while not stop.is_set():
                done.put(function(waiting.get_nowait()))
        except Empty:
            pass
        finally:
            done.put(None)

    workers = [pool.submit(work) for _ in range(threads)]
    try:
        for _ in workers:
            while (result := done.get()) is not None:
                yield result
        for worker in workers:
            worker.result()
    finally:
        stop.set()


def _bands(space: IntArray, threads: int) -> list[tuple[int, int]]:
    """Cut the ranks into ranges of about equal work whose tables of pairs stay small."""
    end = len(space)
    share = np.cumsum(space) * threads // max(1, int(space.sum()) + 1)
    width = max(1, MAX_BAND // end)
    cuts = [0]
    for rank in range(1, end):
        if share[rank] != share[rank - 1] or rank - cuts[-1] >= width:
            cuts.append(rank)
    return list(zip(cuts, [*cuts[1:], end], strict=True))


def _batches(root: _Root, partner_starts: IntArray, threads: int) -> list[IntArray]:
    """Cut the ranks into batches, the heaviest first: some for balance, few for their overhead."""
    number = np.diff(root.starts)
    cost = root.space.astype(float) ** 2 / np.maximum(number, 1)
    order = np.argsort(-cost, kind="stable")
    order = order[(np.diff(partner_starts)[order] > 1) & (number[order] > 0)]
    share = np.cumsum(cost[order]) * (BATCHES * threads) // max(1.0, cost.sum())
    return np.split(order, np.flatnonzero(np.diff(share)) + 1) if len(order) else []


def _root(incidence: Incidence, codes: IntArray, threads: int, pool: ThreadPoolExecutor) -> _Root:
    """Write images as rows: part by part, each thread at places of its own."""
    end = len(codes)
    dtype = np.uint16 if end <= np.iinfo(np.uint16).max else np.uint32
    ranks = np.full(len(incidence.concepts), end, dtype=dtype)
    ranks[codes] = np.arange(end, dtype=dtype)
    images = _parts(len(incidence.labels), threads)
    source = incidence.indptr, incidence.indices, incidence.labels, ranks

    space = np.zeros((threads, len(incidence.classes)), dtype=np.int64)
    _each(pool, lambda t: row_kernels.row_space(*source, *images[t], end, space[t]), threads)
    at, class_ends = _places(space)
    rows = np.empty(int(space.sum()), dtype=dtype)
    _each(pool, lambda t: row_kernels.fill_rows(*source, *images[t], end, at[t], rows), threads)

    parts = _row_parts(rows, end, threads)
    number = np.zeros((threads, end), dtype=np.int64)
    behind = np.zeros((threads, end), dtype=np.int64)
    _each(
        pool,
        lambda t: row_kernels.count_occurrences(rows, *parts[t], end, 2, number[t], behind[t]),
        threads,
    )
    at, ends = _places(number)
    wide = np.uint32 if len(rows) <= np.iinfo(np.uint32).max else np.int64
    occurrences = np.empty(int(number.sum()), dtype=wide)
    _each(
        pool,
        lambda t: row_kernels.fill_occurrences(rows, *parts[t], end, 2, at[t], occurrences),
        threads,
    )
    return _Root(rows, end, class_ends, occurrences, np.append(0, ends), behind.sum(axis=0))


def _each(pool: ThreadPoolExecutor, function: Callable[[int], None], threads: int) -> None:
    """Run ``function(0)`` to ``function(threads - 1)`` side by side."""
    for _ in pool.map(function, range(threads)):
        pass


def _parts(length: int, threads: int) -> list[tuple[int, int]]:
    cuts = [length * t // threads for t in range(threads + 1)]
    return list(zip(cuts[:-1], cuts[1:], strict=True))


def _places(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Where each part writes its entries of each group, and where each group ends.

    Groups lie one behind the other, and in a group part after part: so the result is the same for
    any number of parts.
    """
    ends = np.cumsum(numbers.T).reshape(numbers.T.shape).T
    return np.ascontiguousarray(ends - numbers), ends[-1].copy()


def _row_parts(rows: IntArray, end: int, threads: int) -> list[tuple[int, int]]:
    """Cut between rows."""
    cuts = [0]
    for _, cut in _parts(len(rows), threads)[:-1]:
        while 0 < cut < len(rows) and rows[cut - 1] != end:
            cut += 1
        cuts.append(cut)
    return list(zip(cuts, [*cuts[1:], len(rows)], strict=True))


def _longest(root: _Root) -> int:
    """Items in the longest row."""
    ends = np.flatnonzero(root.rows == root.end)
    return int(np.diff(ends, prepend=-1).max(initial=1)) - 1
