"""Options of plug-ins, validated with pydantic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from cobalance.base.errors import OptionError, suggest_names

NO_LIMIT = 2**31
"""The limit of a read that is to give all rows: Cypher's ``LIMIT`` needs a number, and no dataset
comes near this one."""


class Options(BaseModel):
    """Base of all options: each has a default, and an unknown one is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


OptionsT = TypeVar("OptionsT", bound=Options)


@dataclass(frozen=True)
class MayBePath:
    """Mark a text option that may be a local path: ``Annotated[str, MayBePath()]``.

    Relative paths are made absolute before the option is stored or sent to a worker.
    """


def path_options(kind: type[Options]) -> list[str]:
    """Names of the options marked with `MayBePath`."""
    return [name for name, field in kind.model_fields.items() if MayBePath() in field.metadata]


def read_options(kind: type[OptionsT], values: Mapping[str, Any], what: str) -> OptionsT:
    """Validate options; messages name their owner, such as ``"The filter clip"``.

    Raises
    ------
    OptionError
        An option is unknown, or its value cannot be used.

    Examples
    --------
    >>> class Limits(Options):
    ...     threshold: float = 0.5
    >>> read_options(Limits, {"threshold": 0.25}, "The filter f").threshold
    0.25
    >>> read_options(Limits, {"treshold": 0.25}, "The filter f")
    Traceback (most recent call last):
    ...
    cobalance.base.errors.OptionError: The filter f has no option 'treshold'. Did you mean \
'threshold'? Its options: threshold.
    >>> read_options(Limits, {"threshold": "high"}, "The filter f")
    Traceback (most recent call last):
    ...
    cobalance.base.errors.OptionError: The filter f: threshold is 'high': input should be a valid \
number, unable to parse string as a number.
    """
    unknown = sorted(set(values) - set(kind.model_fields))
    if unknown:
        hint = suggest_names(unknown[0], sorted(kind.model_fields), "Its options")
        raise OptionError(f"{what} has no option {unknown[0]!r}. {hint}")

    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        fault = first_fault(error)
        # Options that do not go together are no fault of one of them.
        place = f"{fault.place} is {fault.value!r}: " if fault.place else ""
        raise OptionError(f"{what}: {place}{fault.reason}.") from error


@dataclass(frozen=True)
class Fault:
    """The first value that pydantic refused.

    The place is like ``"queries[3].n"``, or empty for the whole; the reason is a clause; the kind
    is pydantic's, such as ``"missing"``.
    """

    place: str
    value: object
    reason: str
    kind: str


def first_fault(error: ValidationError) -> Fault:
    """Word the first fault of a pydantic validation error.

    Examples
    --------
    >>> class Box(BaseModel):
    ...     sides: list[int]
    >>> try:
    ...     Box(sides=[1, "wide"])
    ... except ValidationError as error:
    ...     fault = first_fault(error)
    >>> fault.place, fault.value
    ('sides[1]', 'wide')
    """
    first = error.errors(include_url=False)[0]
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    reason = first["msg"].removeprefix("Value error, ").rstrip(".")
    place = "".join(parts).removeprefix(".")
    return Fault(place, first["input"], reason[:1].lower() + reason[1:], first["type"])
