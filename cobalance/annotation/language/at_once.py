"""Ask several questions at a time, and take the replies in the questions' order."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
AT_ONCE = 4
"""Questions that an endpoint gets at a time, unless an option says otherwise."""


def in_order(function: Callable[[T], R], items: Iterable[T], at_once: int = 1) -> Iterator[R]:
    """Results of a function in the order of the items, of which `at_once` are worked on at a time.

    With 1, each is worked on when its result is taken, in the caller's thread. After an error (the
    first one in the items' order is raised), or when no further result is taken, no other item is
    begun; those that were begun are waited for.

    Examples
    --------
    >>> list(in_order(str.upper, "abc", at_once=2))
    ['A', 'B', 'C']
    """
    if at_once == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(at_once, thread_name_prefix="ask") as pool:
        yield from pool.map(function, items)
