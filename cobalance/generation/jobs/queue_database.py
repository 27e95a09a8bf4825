"""The job queue's database: check its URL, and store JSON instead of pickles."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSClient, Serializer
from dbos._serialization import DefaultSerializer
from dbos._sys_db_sqlite import SQLiteSystemDatabase
from sqlalchemy import Engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from cobalance.base import (
    MachineError,
    OptionError,
    Setting,
    make_file,
    make_folder,
    mask_credentials,
)


class JsonSerializer(Serializer):
    """Plain JSON, in place of DBOS's default, which pickles."""

    def serialize(self, data: Any) -> str:
        """Write a value; errors are written as their texts."""
        return json.dumps(data, default=str)

    def deserialize(self, serialized_data: str) -> Any:
        """Read a value."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """The name that is stored in each row."""
        return "cobalance_json"


def _refuse_pickle(*_: object) -> None:
    raise TypeError("The job queue holds a pickle. Pickles can run any code and are not loaded.")


# No option of DBOS forbids pickles. A test reads its source for other places that load them.
DefaultSerializer.deserialize = _refuse_pickle  # type: ignore[assignment]

# The first SQLite with RETURNING, with which DBOS queues.
_OLDEST_SQLITE = (3, 35)
# The first with unixepoch('subsec'); older ones answer NULL, or know no unixepoch.
_SUBSEC_SQLITE = (3, 42)
_create_engine = SQLiteSystemDatabase._create_engine


def _create_engine_with_clock(
    self: SQLiteSystemDatabase, system_database_url: str, engine_kwargs: dict[str, Any]
) -> Engine:
    engine = _create_engine(self, system_database_url, engine_kwargs)
    event.listen(engine, "connect", _define_unixepoch)
    return engine


def _define_unixepoch(connection: sqlite3.Connection, _record: object) -> None:
    """Define ``unixepoch('subsec')``, the one form that DBOS asks for: seconds, to milliseconds."""
    connection.create_function("unixepoch", 1, lambda _: time.time_ns() // 1_000_000 / 1_000)


# DBOS takes the function from Python 3.12 on, which is built with whatever SQLite a system has.
if sqlite3.sqlite_version_info < _SUBSEC_SQLITE:
    SQLiteSystemDatabase._create_engine = _create_engine_with_clock  # type: ignore[method-assign]


def check_url(url: str) -> str:
    """Return a queue's URL; create an SQLite file with its folder, for this user alone.

    Raises
    ------
    OptionError
        It is neither SQLite's nor Postgres'.
    MachineError
        The file cannot be created, or SQLite is too old.

    Examples
    --------
    >>> check_url("mysql://host/db")
    Traceback (most recent call last):
    ...
    cobalance.base.errors.OptionError: The job queue mysql://host/db is neither sqlite:///path \
nor postgresql://user:password@host:port/database. Set queue to one of these.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None

    if parsed is None or parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise OptionError(
            f"The job queue {without_password(url)} is neither sqlite:///path nor "
            "postgresql://user:password@host:port/database. Set ",
            Setting("queue"),
            " to one of these.",
        )

    if parsed.get_backend_name() == "postgresql":
        return url

    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        oldest = ".".join(map(str, _OLDEST_SQLITE))
        raise MachineError(
            f"The job queue needs SQLite {oldest} or newer, and this Python has "
            f"{sqlite3.sqlite_version}. Use a Python that is built with a newer one, or set ",
            Setting("queue"),
            " to a database of PostgreSQL.",
        )
    if parsed.database:
        _create_file(url, parsed.database)
    return url


def _create_file(url: str, database: str) -> None:
    """Create an SQLite file, and its folder, if they are missing.

    Raises
    ------
    MachineError
        One of them cannot be created.
    """
    try:
        make_folder(Path(database).parent)
        if database != ":memory:":
            make_file(Path(database))
    except OSError as error:
        raise MachineError(
            f"The job queue {without_password(url)} cannot be created: {error.strerror}. Set ",
            Setting("queue"),
            " to another one.",
        ) from error


def without_password(url: str) -> str:
    """Mask a URL's password; text that is not a URL is hidden.

    Examples
    --------
    >>> without_password("postgresql://me:secret@host/db")
    'postgresql://me:***@host/db'
    """
    try:
        make_url(url)
    except ArgumentError:
        return "(no URL)"
    return mask_credentials(url)


@contextmanager
def queue_client(url: str, application: str) -> Iterator[DBOSClient]:
    """A client of a database, whose tables are created."""
    DBOS.migrate(url)
    client = DBOSClient(
        system_database_url=url,
        serializer=JsonSerializer(),
        application_name=application,
        retry_connection_errors=False,
    )

    try:
        yield client
    finally:
        client.destroy()
