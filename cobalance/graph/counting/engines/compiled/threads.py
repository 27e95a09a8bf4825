"""A thread pool over one queue of tasks."""

import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def available_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parts(length: int, number: int) -> list[tuple[int, int]]:
    """Split ``range(length)`` into equal parts, as (first, last) pairs.

    Examples
    --------
    >>> parts(5, 2)
    [(0, 2), (2, 5)]
    """
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

    with ThreadPoolExecutor(threads) as pool:
        workers = [pool.submit(work) for _ in range(threads)]
        try:
            for _ in workers:
                while (result := done.get()) is not None:
                    yield result
            for worker in workers:
                worker.result()
        finally:
            stop.set()
