"""Values by their keys, and values that may be missing."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")
R = TypeVar("R")


def group_pairs(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values of each key, both in the order of the pairs.

    Examples
    --------
    >>> group_pairs([("b", 1), ("a", 2), ("b", 3)])
    {'b': [1, 3], 'a': [2]}
    """
    groups = defaultdict[K, list[V]](list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)


def positions_of(values: Iterable[K]) -> dict[K, int]:
    """The position of each value; of one that is there twice, the last.

    Examples
    --------
    >>> positions_of(["cat", "dog"])
    {'cat': 0, 'dog': 1}
    """
    return {value: position for position, value in enumerate(values)}


def values_at(values: Mapping[Any, V] | Sequence[V], keys: Iterable[Any]) -> list[V]:
    """The values at some keys or positions, in the order of these.

    Examples
    --------
    >>> values_at(["cat", "dog"], [1, 1, 0])
    ['dog', 'dog', 'cat']
    """
    return [values[key] for key in keys]


def map_optional(function: Callable[[T], R], value: T | None) -> R | None:
    """Apply a function to a value, unless that is None.

    Examples
    --------
    >>> map_optional(str, 3), map_optional(str, None)
    ('3', None)
    """
    if value is None:
        return None
    return function(value)
