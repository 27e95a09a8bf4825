"""Clique mining by projection, compiled with numba and threaded: for data where that pays."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event

import numpy as np
import numpy.typing as npt

from graph import cliques_kernels as kernels
from graph.incidence import Incidence

IntArray = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Images as rows of ranks, class by class, and where each rank stands in them."""

    entries: IntArray
    end: int
    class_ends: IntArray
    occurrences: IntArray
    starts: IntArray  # the occurrences of rank i are occurrences[starts[i] : starts[i + 1]]
    space: IntArray  # entries behind all occurrences of a rank


def mine(
    incidence: Incidence,
    codes: IntArray,
    min_support: int,
    max_size: int,
    threads: int | None,
    limit: int,
) -> Iterator[tuple[IntArray, IntArray]]:
    """Give every clique of two or more concepts, one block per rarest concept.

    The occurrence lists and reduced databases of LCM (Uno, Kiyomi and Arimura, FIMI 2004), with
    the last two levels counted together in a table of pairs, for all classes in one pass. Threads
    take the next concept from one queue, the heaviest first: the work per concept varies too much
    for shares fixed in advance.

    Complexity: linear in the (image, clique of the image) pairs, plus at most `SPARSE` table cells
    for each.

    Parameters
    ----------
    incidence : Incidence
        Which image contains which concept.
    codes : int array
        The concepts to combine, the rarest first.
    min_support, max_size, threads : int
        As in `graph.cliques.mine_cliques`.
    limit : int
        Where the caller stops: no thread gathers more cliques than this for one concept.

    Yields
    ------
    members : int32 array, shape (n, at most max_size), ascending, -1 behind
    counts : uint32 array, shape (n, n_classes)
    """
    if max_size < 2:
        return
    threads = threads or len(os.sched_getaffinity(0))
    stop = Event()
    with ThreadPoolExecutor(threads) as pool:
        rows = _rows(incidence, codes, threads, pool)
        number = np.diff(rows.starts)
        cost = rows.space.astype(float) ** 2 / np.maximum(number, 1)
        tasks: SimpleQueue[int] = SimpleQueue()
        for first in np.argsort(-cost, kind="stable").tolist():
            if number[first]:
                tasks.put(first)
        longest = min(max_size, _longest(rows))
        done: SimpleQueue[tuple[IntArray, IntArray] | None] = SimpleQueue()

        def work() -> None:
            zeros = np.zeros(0, dtype=np.uint32)
            try:
                while not stop.is_set():
                    first = tasks.get_nowait()
                    members, counts, zeros = kernels.mine_from(
                        first,
                        rows.entries,
                        rows.end,
                        rows.occurrences[rows.starts[first] : rows.starts[first + 1]],
                        rows.class_ends,
                        int(rows.space[first]),
                        codes,
                        min_support,
                        longest,
                        limit,
                        zeros,
                    )
                    done.put((members, counts))
            except Empty:
                return
            finally:
                done.put(None)

        workers = [pool.submit(work) for _ in range(threads)]
        try:
            for _ in workers:
                while (block := done.get()) is not None:
                    yield block
            for worker in workers:
                worker.result()
        finally:
            stop.set()


def _rows(incidence: Incidence, codes: IntArray, threads: int, pool: ThreadPoolExecutor) -> _Rows:
    """Write images as rows: part by part, each thread at places of its own."""
    end = len(codes)
    dtype = np.uint16 if end <= np.iinfo(np.uint16).max else np.uint32
    ranks = np.full(len(incidence.concepts), end, dtype=dtype)
    ranks[codes] = np.arange(end, dtype=dtype)
    images = _parts(len(incidence.labels), threads)
    source = incidence.indptr, incidence.indices, incidence.labels, ranks

    space = np.zeros((threads, len(incidence.classes)), dtype=np.int64)
    _each(pool, lambda t: kernels.row_space(*source, *images[t], end, space[t]), threads)
    at, class_ends = _places(space)
    entries = np.empty(int(space.sum()), dtype=dtype)
    _each(pool, lambda t: kernels.fill_rows(*source, *images[t], end, at[t], entries), threads)

    parts = _row_parts(entries, end, threads)
    number = np.zeros((threads, end), dtype=np.int64)
    behind = np.zeros((threads, end), dtype=np.int64)
    _each(
        pool,
        lambda t: kernels.count_occurrences(entries, *parts[t], end, 1, number[t], behind[t]),
        threads,
    )
    at, ends = _places(number)
    wide = np.uint32 if len(entries) <= np.iinfo(np.uint32).max else np.int64
    occurrences = np.empty(int(number.sum()), dtype=wide)
    _each(
        pool,
        lambda t: kernels.fill_occurrences(entries, *parts[t], end, 1, at[t], occurrences),
        threads,
    )
    return _Rows(entries, end, class_ends, occurrences, np.append(0, ends), behind.sum(axis=0))


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


def _row_parts(entries: IntArray, end: int, threads: int) -> list[tuple[int, int]]:
    """Cut between rows."""
    cuts = [0]
    for _, cut in _parts(len(entries), threads)[:-1]:
        while 0 < cut < len(entries) and entries[cut - 1] != end:
            cut += 1
        cuts.append(cut)
    return list(zip(cuts, [*cuts[1:], len(entries)], strict=True))


def _longest(rows: _Rows) -> int:
    """Items in the longest row."""
    ends = np.flatnonzero(rows.entries == rows.end)
    return int(np.diff(ends, prepend=-1).max(initial=1)) - 1
