"""Arguments of functions for notebooks: their names, and whether values are of the right kind."""

import builtins
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from cobalance.base import OptionError, UnknownNameError, suggest_names

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
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]
) -> None:
    """Check the names and kinds of a call's arguments.

    Raises
    ------
    OptionError
        There is no such argument, one is missing or too many, or of another kind.
    """
    signature = _signature(function)
    parameters = signature.parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in keywords.keys() - parameters:
            raise UnknownNameError(f"option of {function.__name__}()", option, _takes(signature))
    try:
        bound = signature.bind(*arguments, **keywords)
    except TypeError as error:
        takes = suggest_names("", _takes(signature), "It takes")
        raise OptionError(f"{function.__name__}(): {error}. {takes}") from None

    for option, value in bound.arguments.items():
        parameter = parameters[option]
        is_one_value = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if option != "self" and is_one_value:
            check_value(option, parameter.annotation, value)


def _takes(signature: inspect.Signature) -> list[str]:
    """Names of arguments, with stars for any number; of typed keywords each."""
    names: list[str] = []
    for name, parameter in signature.parameters.items():
        typed = ()
        if parameter.kind is parameter.VAR_KEYWORD:
            typed = get_args(parameter.annotation)
        if typed:
            names += typed[0].__annotations__
        elif name != "self":
            bare = parameter.replace(annotation=parameter.empty, default=parameter.empty)
            names.append(str(bare))
    return names


def check_options(function: str, kind: Any, options: Mapping[str, Any]) -> None:
    """Check options by a dataclass or typed dictionary; errors as of `check_call`."""
    hints = kind.__annotations__
    for option, value in options.items():
        if option not in hints:
            raise UnknownNameError(f"option of {function}()", option, hints)
        check_value(option, hints[option], value)


def list_names(names: Sequence[str] | str) -> tuple[str, ...]:
    """Names of a sequence, or a single name."""
    return (names,) if isinstance(names, str) else tuple(names)


def check_value(option: str, hint: Any, value: Any) -> None:
    """Raise OptionError unless a value is of the kind that its annotation says."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    choices: list[Any] = []
    kinds = []
    for part in parts:
        if get_origin(part) is Literal:
            choices += get_args(part)
        else:
            kinds.append(_kind(part))

    # A frame or an array cannot be compared with choices.
    if isinstance(value, str | int) and value in choices:
        return
    if any(
        isinstance(value, accepted) and not isinstance(value, other) for accepted, other, _ in kinds
    ):
        return
    if choices and isinstance(value, str):
        raise UnknownNameError(option, value, map(str, choices))

    text = f"of the type {type(value).__name__}"
    if isinstance(value, str | int | float | np.number):
        text = repr(value)[:60]
    needed = " or ".join([*map(str, choices), *(name for _, _, name in kinds)])
    raise OptionError(f"{option} is {text}, where {needed} is needed.")


def _kind(hint: Any) -> tuple[Any, Any, str]:
    """The entry of `_KINDS` for an annotation, or one that takes any value."""
    origin = get_origin(hint) or hint
    if origin in _KINDS:
        return _KINDS[origin]
    # Nothing is known of other annotations, and protocols cannot always be asked.
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
        return cls.__name__ in {base.__name__ for base in type(value).__mro__}

    def __getitem__(cls, _: object) -> type:
        return cls


@lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    def evaluate(hint: Any) -> Any:
        if not isinstance(hint, str):
            return hint
        classes = {name: _Named(name, (), {}) for name in set(re.findall(r"\w+", hint))}
        return eval(hint, classes | vars(builtins) | function.__globals__)  # noqa: S307

    signature = inspect.signature(function)
    parameters = []
    for parameter in signature.parameters.values():
        annotation = evaluate(parameter.annotation)
        parameters.append(parameter.replace(annotation=annotation))
    return signature.replace(parameters=parameters)
