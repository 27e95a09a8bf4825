"""Share work among threads, for code that lets other threads run meanwhile."""

import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from cobalance.base import R, T


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_shared(threads: int, function: Callable[[T], R], tasks: Iterable[T]) -> Generator[R]:
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
            futures = [pool.submit(function, task) for task in tasks]
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)
