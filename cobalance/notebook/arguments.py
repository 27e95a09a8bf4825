"""Arguments of functions for notebooks: their names, and whether values are of the right kind."""

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from cobalance.base import OptionError, suggest_names

# Numbers of numpy are numbers, too, and anything goes where nothing is declared.
_CLASSES: dict[Any, Any] = {
    bool: bool | np.bool_,
    int: Integral,
    float: Real,
    inspect.Parameter.empty: object,
}


def check_call(
    name: str,
    signature: inspect.Signature,
    arguments: tuple[Any, ...],
    keywords: Mapping[str, Any],
) -> None:
    """Check the arguments of a call to the function `name`.

    Raises
    ------
    OptionError
        There is no such argument, one is missing or too many, or of another kind.
    """
    parameters = signature.parameters
    try:
        bound = signature.bind(*arguments, **keywords)
    except TypeError as error:
        bare = signature.empty
        takes = [
            str(parameter.replace(annotation=bare, default=bare))
            for parameter in parameters.values()
            if parameter.name != "self"
        ]
        # Python's message is about the first one, too.
        unknown = next((option for option in keywords if option not in parameters), "")
        known = suggest_names(unknown, takes, "It takes")
        raise OptionError(f"{name}(): {error}. {known}") from None

    for option, value in bound.arguments.items():
        parameter = parameters[option]
        several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if not several and not _is_of(parameter.annotation, value):
            text = f"of the type {type(value).__name__}"
            if isinstance(value, str | int | float | np.number):
                text = repr(value)[:60]
            # Names of classes without their modules.
            kind = re.sub(r"[\w.]+\.", "", inspect.formatannotation(parameter.annotation))
            raise OptionError(f"{option} is {text}, where {kind} is needed.")


def list_names(names: Sequence[str] | str) -> tuple[str, ...]:
    """Names of a sequence, or a single name."""
    return (names,) if isinstance(names, str) else tuple(names)


def _is_of(hint: Any, value: Any) -> bool:
    """Whether an annotation allows a value; the members of a sequence are not looked at."""
    origin = get_origin(hint) or hint
    if origin in (Union, UnionType):
        return any(_is_of(part, value) for part in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin in (Sequence, tuple):
        # A text is a sequence, too, but was meant as a single name.
        return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)

    try:
        return isinstance(value, _CLASSES.get(origin, origin))
    except TypeError:
        # Annotations that are no classes: of any value, of a protocol, or by a name.
        return True
