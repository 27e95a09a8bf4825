"""Arguments of functions for notebooks: their names, and whether values are of the right kind."""

import builtins
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from cobalance.base.errors import OptionError, UnknownNameError, suggest_names

_KINDS: dict[Any, tuple[Any, Any, str]] = {
    bool: ((bool, np.bool_), (), "True or False"),
    int: (Integral, bool, "a whole number"),
    float: (Real, bool, "a number"),
    str: (str, (), "text"),
    Path: (Path, (), "a path"),
    NoneType: (NoneType, (), "None"),
}
"""For annotations the classes whose values are taken, those that are not, and a name for people."""
_SOURCES = {
    "Axes": "matplotlib's axes",
    "Data": "what cb.read(...) returns",
    "DataFrame": "a pandas DataFrame",
    "Imbalances": "what cb.imbalances(...) returns",
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
    if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        for option in named.keys() - known:
            raise UnknownNameError(f"option of {function.__name__}()", option, _takes(signature))
    try:
        bound = signature.bind(*given, **named)
    except TypeError as error:
        takes = suggest_names("", _takes(signature), "It takes")
        raise OptionError(f"{function.__name__}(): {error}. {takes}") from None
    for option, value in bound.arguments.items():
        one = known[option]
        if option != "self" and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            check_value(option, one.annotation, value)


def _takes(signature: inspect.Signature) -> list[str]:
    """Names of arguments, those of any number with stars; of typed keywords each."""
    names = []
    for name, one in signature.parameters.items():
        typed = get_args(one.annotation) if one.kind is one.VAR_KEYWORD else ()
        shown = str(one.replace(annotation=one.empty, default=one.empty))
        names += [*typed[0].__annotations__] if typed else [shown] * (name != "self")
    return names


def check_options(function: str, kind: Any, given: Mapping[str, Any]) -> None:
    """Check options by a dataclass or typed dictionary; errors as of `check_call`."""
    hints = kind.__annotations__
    for option, value in given.items():
        if option not in hints:
            raise UnknownNameError(f"option of {function}()", option, hints)
        check_value(option, hints[option], value)


def check_value(option: str, hint: Any, value: Any) -> None:
    """Raise OptionError unless a value is of the kind that its annotation says."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    choices = [one for part in parts if get_origin(part) is Literal for one in get_args(part)]
    kinds = [_kind(part) for part in parts if get_origin(part) is not Literal]
    if isinstance(value, str | int) and value in choices:
        return
    if any(isinstance(value, takes) and not isinstance(value, no) for takes, no, _ in kinds):
        return
    if choices and isinstance(value, str):
        raise UnknownNameError(option, value, map(str, choices))
    plain = isinstance(value, str | int | float | np.number)
    said = repr(value)[:60] if plain else f"of the type {type(value).__name__}"
    wanted = " or ".join([*map(str, choices), *(word for _, _, word in kinds)])
    raise OptionError(f"{option} is {said}, where {wanted} is needed.")


def _kind(hint: Any) -> tuple[Any, Any, str]:
    """The entry of `_KINDS` for an annotation, or one that takes any value."""
    origin = get_origin(hint) or hint
    if origin in _KINDS:
        return _KINDS[origin]
    if not isinstance(origin, type) or origin is Any or getattr(origin, "_is_protocol", False):
        return object, (), ""
    if issubclass(origin, Mapping):
        return origin, (), "a dict"
    if origin.__module__ in ("builtins", "collections.abc") and issubclass(origin, Iterable):
        return Iterable, (str, bytes, Mapping), "a list"
    return origin, (), _SOURCES.get(origin.__name__, f"a {origin.__name__}")


class _Named(type):
    """Classes that are imported for type checkers alone, and so known by their names."""

    def __instancecheck__(cls, value: object) -> bool:
        return cls.__name__ in {one.__name__ for one in type(value).__mro__}

    def __getitem__(cls, _: object) -> type:
        return cls


@lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    def evaluate(hint: Any) -> Any:
        if not isinstance(hint, str):
            return hint
        named = {one: _Named(one, (), {}) for one in set(re.findall(r"\w+", hint))}
        return eval(hint, named | vars(builtins) | function.__globals__)  # noqa: S307

    found = inspect.signature(function)
    known = [one.replace(annotation=evaluate(one.annotation)) for one in found.parameters.values()]
    return found.replace(parameters=known)
