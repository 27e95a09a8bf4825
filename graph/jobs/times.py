"""Times as reads of jobs give them."""

from datetime import UTC, datetime


def utc_time(milliseconds: int | None) -> datetime | None:
    """A time in UTC from milliseconds since 1970, as reads give it."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
