"""Arguments of functions for notebooks: their names, and whether values are of the right kind."""

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from cobalance.graph.errors import OptionError, UnknownNameError

_KINDS: dict[Any, tuple[Any, str]] = {
    bool: ((bool, np.bool_), "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "text"),
    Path: (Path, "a path"),
}
"""Classes whose values are taken for one of an annotation's, and their name for people."""
_SOURCES = {
    "Data": "what cb.read(...) returns",
    "DataFrame": "a pandas DataFrame",
    "Imbalances": "what cb.imbalances(...) returns",
    "NoneType": "None",
}


def check_call(
    function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]
) -> None:
    """Check the names and kinds of a call's arguments.

    Raises
    ------
    OptionError
        There is no such argument, one is missing or too many, or of another kind.
    """
    signature = _signature(function)
    known = signature.parameters
    takes = [name for name, one in known.items() if name != "self" and "*" not in str(one)]
    if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        for option in named.keys() - known:
            raise UnknownNameError(f"option of {function.__name__}()", option, takes)
    try:
        bound = signature.bind(*given, **named)
    except TypeError as error:
        said = f"{function.__name__}(): {error}. It takes: {', '.join(takes) or 'nothing'}."
        raise OptionError(said) from None
    for option in bound.arguments.keys() & takes:
        check_value(option, known[option].annotation, bound.arguments[option])


def check_options(function: str, kind: Any, given: Mapping[str, Any]) -> None:
    """Check options by a dataclass or typed dictionary; errors as of `check_call`."""
    hints = kind.__annotations__
    for option, value in given.items():
        if option not in hints:
            raise UnknownNameError(f"option of {function}()", option, hints)
        check_value(option, hints[option], value)


def check_value(option: str, hint: Any, value: Any) -> None:
    """Raise OptionError unless a value is of the kind that its annotation says."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if any(_fits(part, value) for part in parts):
        return
    choices = [str(one) for part in parts if get_origin(part) is Literal for one in get_args(part)]
    if choices and isinstance(value, str):
        raise UnknownNameError(option, value, choices)
    plain = isinstance(value, str | int | float | np.number)
    said = repr(value)[:60] if plain else f"of the type {type(value).__name__}"
    wanted = " or ".join(choices + [_word(part) for part in parts if get_origin(part) != Literal])
    raise OptionError(f"{option} is {said}, where {wanted} is needed.")


@lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    def evaluate(hint: Any) -> Any:
        try:
            return eval(hint, function.__globals__) if isinstance(hint, str) else hint  # noqa: S307
        except NameError:  # it is imported for type checkers alone
            return Any

    found = inspect.signature(function)
    known = [one.replace(annotation=evaluate(one.annotation)) for one in found.parameters.values()]
    return found.replace(parameters=known)


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value is of a kind; True of kinds that are not looked into."""
    origin = get_origin(hint) or (type(None) if hint is None else hint)
    if origin is Literal:
        return isinstance(value, str | int) and value in get_args(hint)
    if not isinstance(origin, type) or origin in (Any, inspect.Parameter.empty):
        return True
    if origin in _KINDS:
        return isinstance(value, _KINDS[origin][0]) and isinstance(value, bool) <= (origin is bool)
    if _is_list(origin):
        return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return getattr(origin, "_is_protocol", False) or isinstance(value, origin)


def _is_list(origin: type) -> bool:
    own = origin.__module__ in ("builtins", "collections.abc")
    return own and issubclass(origin, Iterable) and not issubclass(origin, Mapping)


def _word(hint: Any) -> str:
    origin = get_origin(hint) or (type(None) if hint is None else hint)
    if origin in _KINDS:
        return _KINDS[origin][1]
    if _is_list(origin) or issubclass(origin, Mapping):
        return "a list" if _is_list(origin) else "a dict"
    return _SOURCES.get(origin.__name__, f"a {origin.__name__}")
