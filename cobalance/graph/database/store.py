"""Graph store: sessions of the Neo4j driver, with its errors translated."""

import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from copy import copy
from pathlib import Path
from ssl import SSLCertVerificationError, SSLError
from typing import Any

import pandas as pd
from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    NotificationMinimumSeverity,
    Session,
)
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from cobalance.base import (
    Action,
    ConflictError,
    ConstraintViolatedError,
    Setting,
    StoreError,
    StoreUnavailableError,
    T,
)
from cobalance.graph.database.disk import full_disk
from cobalance.graph.database.driver_pool import DriverPool
from cobalance.graph.database.migrations import migrate
from cobalance.graph.database.query import Statement

OLDEST_SERVER = (5, 26)

PATIENCE: dict[str, Any] = {
    "connection_timeout": 5.0,
    # Login included.
    "connection_acquisition_timeout": 15.0,
    # A connection that was idle for longer is tried first.
    "liveness_check_timeout": 5.0,
    "max_transaction_retry_time": 5.0,
}
"""Seconds before a person hears that no server answers; the driver's own are up to 60."""

_ENCRYPTION = {
    "": "not encrypted",
    "+s": "encrypted, certificate verified",
    "+ssc": "encrypted, certificate not verified",
}
_SCHEMES = {name + how: words for name in ("bolt", "neo4j") for how, words in _ENCRYPTION.items()}
"""Of Bolt. The driver knows ``http`` as well, without the sessions used here."""

# The driver logs as warnings what is raised here as an error.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

Row = dict[str, Any]
Cypher = str | Statement


class GraphStore(AbstractContextManager["GraphStore"]):
    """Connection to a graph database whose schema is up to date.

    Open one with `GraphStore.connect`, and close it or use it as a context manager. It may be
    shared between threads.

    Parameters
    ----------
    open_driver : callable
        Opens a driver to the server.
    uri : str
        Its address, for people.
    database : str
        The database's name on its server.
    """

    def __init__(self, open_driver: Callable[[], Driver], uri: str, database: str) -> None:
        self.open_driver = open_driver
        self.driver = open_driver()
        self.console_drivers = DriverPool(open_driver)
        self.uri = uri
        self.database = database
        # The data folder of a local server: its disk is not to be written full.
        self.folder: Path | None = None
        # By dataset, properties that its readers see in place of the stored ones.
        self.read_as: Mapping[str, Mapping[str, Any]] = {}
        self.is_closed = self.has_written = False

    def reading(self, dataset: str, properties: Mapping[str, Any]) -> "GraphStore":
        """The same connection, whose readers see other properties of a dataset than are stored.

        So one person compares by a concept what others compare by its classes.
        """
        view = copy(self)
        view.read_as = {**self.read_as, dataset: properties}
        return view

    @classmethod
    def connect(
        cls, uri: str, username: str, password: str, database: str = "neo4j"
    ) -> "GraphStore":
        """Connect, check the server's version, and bring the schema up to date.

        Raises
        ------
        StoreUnavailableError
            `uri` is no address, no server answers there, it refuses the credentials, or it has no
            such database.
        StoreError
            The server is older than Neo4j 5.26.
        SchemaVersionError
            A newer cobalance has written to this database, or one from before 0.1.0.
        """

        def open_driver() -> Driver:
            return GraphDatabase.driver(
                uri,
                auth=(username, password),
                notifications_min_severity=NotificationMinimumSeverity.OFF,
                user_agent="cobalance",
                **PATIENCE,
            )

        try:
            encryption(uri)
            with ExitStack() as opened:
                store = opened.enter_context(cls(open_driver, uri, database))
                with _our_errors(uri, username, database):
                    store.driver.verify_connectivity()
                    _check_version(store)
                    migrate(store.driver, database)
                # Whoever connects closes the store, unless one of the checks has failed.
                opened.pop_all()
                return store
        except (ConfigurationError, ValueError) as error:
            # The driver raises them for any part of the address.
            raise _bad_address(uri, str(error).rstrip(".")) from error

    def close(self) -> None:
        """Close all connections."""
        self.is_closed = True
        self.console_drivers.close()
        self.driver.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, text: Cypher, **parameters: Any) -> list[Row]:
        """Run a read and return all rows as dictionaries."""
        return list(self.stream(text, **parameters))

    def read_frame(self, text: Cypher, **parameters: Any) -> pd.DataFrame:
        """Run a read and return a frame with the query's columns, rows or not."""
        with self._session(READ_ACCESS) as session:
            result = session.run(_text(text), parameters)
            columns = result.keys()
            return pd.DataFrame([record.values() for record in result], columns=columns)

    def stream(self, text: Cypher, **parameters: Any) -> Generator[Row]:
        """Run a read and yield its rows as they arrive, in constant memory.

        Whoever may stop before the last row closes the generator, and with it the session.
        """
        with self._session(READ_ACCESS) as session:
            result = session.run(_text(text), parameters)
            columns = result.keys()
            # Record.data() walks through every value, bytes one by one: most of a read's time.
            for record in result:
                yield dict(zip(columns, record.values(), strict=True))

    def write(self, text: Cypher, **parameters: Any) -> list[Row]:
        """Run a write in a transaction; transient errors are retried."""
        with self._session() as session:
            return session.execute_write(lambda tx: tx.run(_text(text), parameters).data())

    def server(self) -> tuple[str, str]:
        """Version and edition of the server, such as ``5.26.30`` and ``community``."""
        (row,) = self.read(
            "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' "
            "RETURN versions[0] AS version, edition"
        )
        return row["version"], row["edition"]

    def write_all(self, text: Cypher, expected: int, **parameters: Any) -> None:
        """Run a write that returns ``written``; roll it back unless that is `expected`."""

        def work(tx: ManagedTransaction) -> None:
            written = tx.run(_text(text), parameters).single(strict=True)["written"]
            if written != expected:
                raise other_writer()

        with self._session() as session:
            session.execute_write(work)

    def write_in_batches(self, text: Cypher, **parameters: Any) -> list[Row]:
        """Run a write whose Cypher commits by itself (``CALL ... IN TRANSACTIONS``)."""
        with self._session() as session:
            return session.run(_text(text), parameters).data()

    def with_locks(
        self, texts: Sequence[str], work: Callable[[ManagedTransaction], T], **parameters: Any
    ) -> T:
        """Run work in a transaction with the locks that some writes take, and write nothing.

        Transient errors, such as a deadlock, begin it anew.
        """

        def run(tx: ManagedTransaction) -> T:
            for text in texts:
                tx.run(text, parameters).consume()
            return work(tx)

        with self._session() as session:
            return session.execute_write(run)

    @contextmanager
    def _session(self, access: str = WRITE_ACCESS) -> Iterator[Session]:
        if self.is_closed:
            raise StoreUnavailableError("The store is closed. Connect again.")
        if access == WRITE_ACCESS and self.folder and (error := full_disk(self.folder)):
            raise error
        self.has_written |= access == WRITE_ACCESS

        with (
            _our_errors(self.uri, "", self.database, self.folder),
            self.driver.session(
                database=self.database, default_access_mode=access, fetch_size=10_000
            ) as session,
        ):
            yield session


def encryption(uri: str) -> str:
    """Whether a connection to an address is encrypted, by its scheme, in words.

    Examples
    --------
    >>> encryption("bolt+ssc://graph.example.org")
    'encrypted, certificate not verified'
    """
    scheme, separator, _ = uri.partition("://")
    if not separator or scheme not in _SCHEMES:
        raise _bad_address(uri, f"it begins with none of {', '.join(_SCHEMES)}")
    return _SCHEMES[scheme]


def _bad_address(uri: str, reason: str) -> StoreUnavailableError:
    # What stands before the @ may be a login, which is not to be shown.
    address = uri if "://" in uri else uri.rpartition("@")[2]
    return StoreUnavailableError(
        f"{address!r} is not an address of a Neo4j server: {reason}. Set ",
        Setting("uri"),
        " to one like bolt://localhost:7687 or neo4j+s://graph.example.org.",
    )


def other_writer() -> ConflictError:
    """The error for a dataset that another process has started to write."""
    return ConflictError(
        "Another process is writing the same dataset. What is written stays; try again when "
        "the other process has ended."
    )


def _text(cypher: Cypher) -> str:
    return cypher if isinstance(cypher, str) else cypher.text


@contextmanager
def _our_errors(
    uri: str, username: str, database: str, folder: Path | None = None
) -> Iterator[None]:
    """Translate driver errors into ours, with their remedies."""
    try:
        yield
    except (Neo4jError, DriverError) as error:
        # Any other error than a mistake in a request may come of a full disk.
        is_mistake = isinstance(error, ClientError) and not has_failed(error)
        full = None if folder is None or is_mistake else full_disk(folder)
        unavailable = unavailable_error(error, database, uri, username)
        raise full or unavailable or _other_error(error) from error


def has_failed(error: Neo4jError | DriverError) -> bool:
    """Whether a database takes no more writes before a restart, as after its disk was full."""
    code = (isinstance(error, Neo4jError) and error.code) or ""
    return ".DatabaseError.Transaction." in code or "ForbiddenOnReadOnlyDatabase" in code


def unavailable_error(
    error: Neo4jError | DriverError, database: str, uri: str = "", username: str = ""
) -> StoreUnavailableError | None:
    """The error for an unavailable server; None if the driver's error is of another kind."""
    server = uri or "The server"
    if isinstance(error, AuthError):
        user = f"user {username!r}" if username else "the user"
        return StoreUnavailableError(
            f"{server} refuses {user}. Check ",
            Setting("username"),
            " and ",
            Setting("password"),
            ".",
        )

    if isinstance(error, ServiceUnavailable | SessionExpired | ConnectionAcquisitionTimeoutError):
        if (tls_error := _tls_error(error, server)) is not None:
            return tls_error
        place = f" at {uri}" if uri else ""
        # The first line gives the reason, and the address before what it stands for.
        reason = str(error).partition("\n")[0].partition(" (resolved to")[0].rstrip(":.")
        return StoreUnavailableError(
            f"No Neo4j server answers{place}: {reason}. Start it, or ",
            Action("server_status"),
            " to see which server is used.",
        )

    if not isinstance(error, Neo4jError):
        return None
    if error.code == "Neo.ClientError.Database.DatabaseNotFound":
        return StoreUnavailableError(
            f"{server} has no database {database!r}. Set ",
            Setting("database"),
            " to one that it has.",
        )
    if has_failed(error):
        message = str(error.message).rstrip(".")
        return StoreUnavailableError(f"{message}. The next try restarts a local server.")
    return None


def _tls_error(error: BaseException, server: str) -> StoreUnavailableError | None:
    """The error for encryption that failed; None for another cause, which is below the driver's."""
    causes = [error]
    # The list grows while its errors are looked at.
    for cause in causes:
        if isinstance(cause, SSLCertVerificationError):
            return StoreUnavailableError(
                f"{server} has a certificate that is not to be trusted: "
                f"{cause.verify_message.rstrip('.')}. Name the file of the authority that signed "
                "it in SSL_CERT_FILE, or connect by a host name that it is for; see "
                "docs/operate.md."
            )
        if isinstance(cause, SSLError):
            return StoreUnavailableError(
                f"{server} does not speak TLS. Configure its certificate, see docs/operate.md, or "
                "set ",
                Setting("uri"),
                " to an address without +s and +ssc.",
            )

        # The requests for a routing table raise a group of exceptions.
        causes += getattr(cause, "exceptions", ())
        causes += filter(None, (cause.__cause__, cause.__context__))
    return None


def _other_error(error: Neo4jError | DriverError) -> StoreError:
    if isinstance(error, ConstraintError):
        return ConstraintViolatedError(
            f"The database refuses a write that breaks one of its constraints: {error.message}. "
            "Nothing of that write is kept. Where another process writes the same dataset, try "
            "again when it has ended."
        )
    if isinstance(error, TransientError):
        return StoreError(f"Transient database error: {error.message}. Try again.")
    if isinstance(error, Neo4jError):
        return StoreError(f"The database rejected the request: {error.message}")
    return StoreError(f"The connection to the database failed: {error}")


def _check_version(store: GraphStore) -> None:
    version, _ = store.server()
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_SERVER:
        raise StoreError(
            f"{store.uri} runs Neo4j {version}; cobalance needs 5.26 LTS or newer. Upgrade the "
            "server, or leave ",
            Setting("uri"),
            " unset to use a local one.",
        )
