"""Timestamps of job reads."""

from datetime import UTC, datetime


def utc_time(milliseconds: int | None) -> datetime | None:
    """Convert milliseconds since 1970 to a UTC datetime."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
