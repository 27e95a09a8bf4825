"""Dates and times of an answer as the server prints them.

The driver's own values lose some of it: seconds of an offset, the zone's name in ISO 8601 text,
and, as pytz ends there, summer time after 2037 (neo4j 6.4.1).
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from neo4j import Transaction

_EPOCH = date(1970, 1, 1)
_DAY_S = 86_400
_WITHIN_S = (
    int(datetime(1, 1, 2, tzinfo=UTC).timestamp()),
    int(datetime(9999, 12, 30, tzinfo=UTC).timestamp()),
)
"""Moments that have a date in every zone."""


class UnreadableError(Exception):
    """A value that cannot be printed, and why; caught by the console, never shown."""


def read_times_as_text(transaction: Transaction) -> None:
    """Have a transaction's connection give dates and times as text.

    Its driver gets functions of this module for its own: of the private attributes that this
    takes, a test shows that they still are what they were. An `UnreadableError` stands in the place
    of a value that has no text: in lists and maps the driver hides what is raised (neo4j 6.4.1).

    Parameters
    ----------
    transaction : neo4j.Transaction
        A transaction that has begun, on a connection that is used for nothing else.
    """
    connection: Any = transaction._connection
    functions = connection.hydration_handler.struct_hydration_functions
    functions[b"D"] = partial(_text_or_error, date_text)
    for tag in (b"T", b"t"):
        functions[tag] = time_text
    for tag in (b"I", b"i", b"d"):
        functions[tag] = partial(_text_or_error, datetime_text)


def _text_or_error(print_value: Callable[..., str], *fields: Any) -> str | UnreadableError:
    try:
        return print_value(*fields)
    except UnreadableError as error:
        return error


def date_text(days: int) -> str:
    """Print a date, of days since 1970.

    Raises
    ------
    UnreadableError
        Its year is outside 1 to 9999.

    Examples
    --------
    >>> date_text(19_844)
    '2024-05-01'
    """
    try:
        return str(_EPOCH + timedelta(days=days))
    except OverflowError:
        raise UnreadableError("a date or time outside the years 1 to 9999") from None


def time_text(nanoseconds: int, offset_s: int | None = None) -> str:
    """Print a time of day, with its offset if it has one.

    Examples
    --------
    >>> time_text(43_200_500_000_000), time_text(43_200_000_000_000, 3_630)
    ('12:00:00.5', '12:00:00+01:00:30')
    """
    seconds, nanoseconds = divmod(nanoseconds, 1_000_000_000)
    text = str((datetime.min + timedelta(seconds=seconds)).time())

    if nanoseconds:
        text += f".{nanoseconds:09}".rstrip("0")
    return text if offset_s is None else text + _offset_text(offset_s)


def datetime_text(seconds: int, nanoseconds: int, zone: int | str | None = None) -> str:
    """Print a date and time, of seconds since 1970 UTC, with its offset and its zone's name.

    Parameters
    ----------
    zone : int or str, optional
        The offset in seconds, or the zone's name. Without one, the time is a local one.

    Raises
    ------
    UnreadableError
        Its year is outside 1 to 9999, or this machine does not know the zone.

    Examples
    --------
    >>> datetime_text(1_714_557_600, 0, "Europe/Berlin")
    '2024-05-01T12:00:00+02:00[Europe/Berlin]'
    """
    offset_s = _offset_s(zone, seconds) if isinstance(zone, str) else zone
    days, second = divmod(seconds + (offset_s or 0), _DAY_S)
    text = f"{date_text(days)}T{time_text(second * 1_000_000_000 + nanoseconds, offset_s)}"

    if isinstance(zone, str):
        text += f"[{zone}]"
    return text


def _offset_s(zone: str, seconds: int) -> int:
    """Seconds that a zone is ahead of UTC at a moment."""
    try:
        zone_info = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise UnreadableError(
            f"a time of the zone {zone!r}, which this machine does not know"
        ) from None

    first, last = _WITHIN_S
    moment = datetime.fromtimestamp(min(max(seconds, first), last), zone_info)
    offset = moment.utcoffset() or timedelta()
    return round(offset.total_seconds())


def _offset_text(offset_s: int) -> str:
    return str(timezone(timedelta(seconds=offset_s))).removeprefix("UTC") or "Z"
