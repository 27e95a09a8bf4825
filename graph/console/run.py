"""Run a read-only query with hard limits on time, rows and size."""

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any

from neo4j import READ_ACCESS, Driver, Query, Session
from neo4j.exceptions import DriverError, Neo4jError

from graph.console.guard import check_read_only
from graph.console.values import PlainValues, TooLargeError
from graph.database.store import unavailable_error
from graph.errors import (
    Action,
    CobalanceError,
    OptionError,
    QueryError,
    QueryRefusedError,
    QueryTimeoutError,
    Setting,
)

MAX_VALUES = 2_000_000  # in all cells together
MAX_STUCK = 2  # queries that the server may still compute past their time limit
EXAMPLE = """\
MATCH (q:Clique {dataset: $dataset, size: 2})-[n:COUNTED_IN]->(y:Class)
RETURN q.concepts AS concepts, y.name AS class, n.images AS images
ORDER BY q.gap DESC, concepts, class
LIMIT 20"""
"""A query to start from, for a dataset that is mined."""
_FETCH_ROWS = 1000
_CLOSE_S = 1.0

# Transactions that the server could not interrupt yet stay in its list.
_STUCK = """
SHOW TRANSACTIONS YIELD metaData, status, elapsedTime
WHERE metaData.cobalance_console_s IS NOT NULL AND (status STARTS WITH 'Terminated'
  OR elapsedTime > duration({seconds: metaData.cobalance_console_s + 1}))
RETURN count(*) AS stuck"""


@dataclass(frozen=True)
class ConsoleResult:
    """A query's rows as plain values.

    Parameters
    ----------
    columns : tuple of str
        Names in the order of the query's RETURN.
    rows : list of tuple
        One tuple a row, of None, bool, int, float, str, list and dict.
    truncated : bool
        Whether the query had more rows than these.
    elapsed_s : float
        From the call to the last row, connecting included.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    elapsed_s: float


def run_console_query(
    connect: Callable[[], Driver],
    database: str,
    text: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    timeout_s: float = 30.0,
    max_rows: int = 10_000,
) -> ConsoleResult:
    """Run a read-only query and return its rows.

    Three guards keep it from changing anything: `check_read_only` before a connection is made, the
    server's READ mode, and a transaction that is always rolled back. The server enforces its time
    limit between rows only: an endless expression keeps a core busy, and one that overflows the
    parser's stack is never answered. So the query runs in a thread of its own and the call returns
    on time whatever the server does; while `MAX_STUCK` queries are past their limit, further ones
    are refused.

    Parameters
    ----------
    connect : callable
        Opens a driver for this query alone: closing it unblocks the thread, and leaves the
        program's other connections alone.
    database : str
        The database's name.
    text : str
        Cypher.
    parameters : mapping of str to object, optional
        Values for ``$name``.
    timeout_s : float
        Time limit in seconds, connecting included.
    max_rows : int
        The most rows to return; the server does not compute the rest.

    Raises
    ------
    QueryRefusedError
        The query does more than read, or too many earlier ones still run.
    QueryTimeoutError
        It did not end within `timeout_s`.
    QueryError
        The server rejects it, or a single row is too large.
    StoreUnavailableError
        No server answers, it refuses the credentials, or it has no such database.
    OptionError
        A limit is not above zero.
    """
    if not (timeout_s > 0 and math.isfinite(timeout_s)) or max_rows < 1:
        raise OptionError(
            f"The limits are {timeout_s} s and {max_rows} rows; both must be above zero, and the "
            "time finite."
        )
    check_read_only(text)
    started = time.monotonic()
    driver = connect()
    outcome: Future[ConsoleResult] = Future()

    def work() -> None:
        try:
            with driver.session(
                database=database,
                default_access_mode=READ_ACCESS,
                fetch_size=min(max_rows + 1, _FETCH_ROWS),
            ) as session:
                _require_capacity(session, timeout_s)
                found = _fetch(session, text, dict(parameters or {}), timeout_s, max_rows)
            elapsed_s = time.monotonic() - started
            outcome.set_result(ConsoleResult(*found, elapsed_s=elapsed_s))
        except BaseException as error:  # noqa: BLE001 - the caller, who waits, raises it
            outcome.set_exception(error)

    Thread(target=work, name="console query", daemon=True).start()
    try:
        return outcome.result(timeout=timeout_s)
    except TimeoutError as error:
        raise _timed_out(timeout_s) from error
    except (Neo4jError, DriverError) as error:
        raise _our_error(error, timeout_s, database) from error
    finally:
        # In a thread, too: closing may wait for the server.
        closing = Thread(target=driver.close, name="console close", daemon=True)
        closing.start()
        closing.join(_CLOSE_S)


def _fetch(
    session: Session, text: str, parameters: dict[str, Any], timeout_s: float, max_rows: int
) -> tuple[tuple[str, ...], list[tuple[Any, ...]], bool]:
    plain = PlainValues(MAX_VALUES)
    rows: list[tuple[Any, ...]] = []
    truncated = False
    transaction = session.begin_transaction(
        timeout=timeout_s, metadata={"cobalance_console_s": timeout_s}
    )
    try:
        try:
            result = transaction.run(text, parameters)
        except (TypeError, ValueError, OverflowError) as error:  # before anything was sent
            raise QueryError(
                f"A parameter cannot be sent: {error}. Numbers (64 bits), texts, lists, maps and "
                "dates can."
            ) from error
        columns = tuple(result.keys())
        for record in result:
            if len(rows) == max_rows:
                truncated = True
                break
            rows.append(tuple([plain.of(value) for value in record.values()]))
    except TooLargeError:
        if not rows:
            raise QueryError(
                f"The first row alone holds more than {MAX_VALUES:,} values. Return rows instead "
                "of one long list: UNWIND it, or leave out collect()."
            ) from None
        truncated = True
    finally:
        transaction.close()  # rolls back, and discards what was not fetched
    return columns, rows, truncated


def _require_capacity(session: Session, timeout_s: float) -> None:
    record = session.run(Query(_STUCK, timeout=timeout_s)).single(strict=True)
    if record["stuck"] >= MAX_STUCK:
        raise QueryRefusedError(
            f"The server still computes {record['stuck']} earlier queries of this console that are "
            "past their time limit: it cannot interrupt a single expression. Wait until they end, "
            "restart the server, or, if it is a local one, ",
            Action("stop_server"),
            ".",
        )


def _timed_out(timeout_s: float) -> QueryTimeoutError:
    return QueryTimeoutError(
        f"The query did not end within {timeout_s:g} s and was cancelled. Narrow it with WHERE or "
        "LIMIT, or raise ",
        Setting("timeout_s"),
        ".",
    )


def _our_error(error: Neo4jError | DriverError, timeout_s: float, database: str) -> CobalanceError:
    """The driver's error as ours, with what to do."""
    unavailable = unavailable_error(error, database)
    if unavailable is not None:
        return unavailable
    if isinstance(error, DriverError):
        return QueryError(f"The query could not be sent: {error}.")
    code, message = error.code or "", (error.message or str(error)).strip()
    if "TransactionTimedOut" in code:
        return _timed_out(timeout_s)
    if code == "Neo.ClientError.Statement.AccessMode":
        return QueryRefusedError(f"The server refused the query: {message}")
    if code == "Neo.ClientError.Statement.ParameterMissing":
        return QueryError(f"{message}. Give each one a value.")
    if "OutOfMemory" in code:
        return QueryError(
            f"The server has not enough memory for this query: {message}. Return or collect less."
        )
    return QueryError(message)
