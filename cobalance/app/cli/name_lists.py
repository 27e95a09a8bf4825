"""Read names of groups and of cliques from options."""

import json
from collections.abc import Sequence

from cobalance.graph.errors import OptionError
from cobalance.graph.names import clean_name


def listed_names(groups: Sequence[str] | None) -> tuple[str, ...] | None:
    """Groups from an option: one with commas, or one a time.

    Examples
    --------
    >>> listed_names(["woman, man"]), listed_names(["a, b", "c"])
    (('woman', 'man'), ('a, b', 'c'))
    """
    if not groups:
        return None
    names = groups[0].split(",") if len(groups) == 1 else groups
    return tuple(map(clean_name, names))


def read_clique(text: str) -> tuple[str, ...]:
    """Concepts of a clique as tables show it, or from JSON.

    Examples
    --------
    >>> read_clique("cow + road"), read_clique('["c + d"]')
    (('cow', 'road'), ('c + d',))
    """
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(name, str) for name in found):
            return tuple(map(clean_name, found))
        raise OptionError(f'--clique {text!r} is no list of names in JSON, such as ["a", "b"].')
    return tuple(map(clean_name, text.split(" + ")))
