"""Values by their keys."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


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
