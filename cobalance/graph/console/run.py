"""Run a read-only query with hard limits on time, rows and size."""

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import BoundedSemaphore, Event, Thread
from typing import Any
from weakref import WeakKeyDictionary

from neo4j import READ_ACCESS, Driver, Query, Result, Session, Transaction
from neo4j.exceptions import DriverError, Neo4jError

from cobalance.base import (
    Action,
    CobalanceError,
    OptionError,
    QueryError,
    QueryRefusedError,
    QueryTimeoutError,
    Setting,
)
from cobalance.graph.console.guard import check_read_only
from cobalance.graph.console.message_limit import (
    MAX_MESSAGE_BYTES,
    MessageLimit,
    MessageTooLargeError,
)
from cobalance.graph.console.times import UnreadableError, read_times_as_text
from cobalance.graph.console.values import PlainValues, TooLargeError, plan_table
from cobalance.graph.database import DriverPool, unavailable_error

# In all cells together.
MAX_VALUES = 2_000_000
MAX_RUNNING = 2
"""Queries at once: more wait, within their time limit; those that the server cannot end count."""
EXAMPLE = """\
MATCH (q:Clique {dataset: $dataset, size: 2})-[n:COUNTED_IN]->(y:Class)
RETURN q.concepts AS concepts, y.name AS class, n.images AS images
ORDER BY q.gap DESC, concepts, class
LIMIT 20"""
"""A query to start from, for a dataset that is mined."""
_FETCH_ROWS = 1000
_CLOSE_S = 1.0
# Until a local server has stopped a query that is past its limit.
_STOPPING_S = 2.0
LANGUAGE = "CYPHER 5\n"
"""The line before every text: the language that the guard checks, whatever the server's default."""
_PLACE = re.compile(
    r"\(line (?P<line>\d{1,9}), column (?P<column>\d{1,9}) \(offset: (?P<offset>\d{1,9})\)\)"
)
# The driver takes no limit of zero.
_LEAST_S = 0.01

_RUNNING = BoundedSemaphore(MAX_RUNNING)
# A server with capacity is not asked again for so long, unless a query is given up meanwhile: the
# answer takes as long as a small read.
_CHECK_EVERY_S = 2.0
_CHECKED: WeakKeyDictionary[DriverPool, float] = WeakKeyDictionary()
# Transactions that the server could not interrupt yet stay in its list.
_STUCK = """
SHOW TRANSACTIONS YIELD metaData, status, elapsedTime
WHERE metaData.cobalance_console_s IS NOT NULL AND (status STARTS WITH 'Terminated'
  OR elapsedTime.milliseconds > 1000 * (metaData.cobalance_console_s + 1))
RETURN count(*) AS stuck"""


@dataclass(frozen=True)
class ConsoleResult:
    """A query's rows as plain values; for EXPLAIN and PROFILE, the steps of its plan.

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
    drivers: DriverPool,
    database: str,
    text: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    timeout_s: float = 30.0,
    max_rows: int = 10_000,
) -> ConsoleResult:
    """Run a read-only query and return its rows.

    Three guards keep it from changing anything: `check_read_only` before a connection is made, the
    server's READ mode, and a transaction that is always rolled back. Neo4j enforces its time limit
    between rows only, so that an endless expression keeps a core busy. The query therefore runs in
    a thread of its own and the call returns on time whatever the server does. The local server
    stops such a query's thread (`cobalance.graph.database.local.query_watch`); while another server
    still computes `MAX_RUNNING` queries past their limit, further ones are refused.

    Parameters
    ----------
    drivers : DriverPool
        Gives a driver to this query alone. Of a query that fails or is given up it is closed, which
        unblocks the thread, and leaves the program's other connections alone.
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
        It did not end within `timeout_s`, or could not begin, as `MAX_RUNNING` others ran.
    QueryError
        The server rejects it, or a single row is too large or nested too deeply.
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
    if not _RUNNING.acquire(timeout=timeout_s):
        raise QueryTimeoutError(
            f"{MAX_RUNNING} other queries of this console ran for all of the {timeout_s:g} s. Try "
            "again when they have ended."
        )
    try:
        driver = drivers.take()
    except BaseException:
        _RUNNING.release()
        raise

    remaining_s = max(timeout_s - (time.monotonic() - started), _LEAST_S)
    outcome: Future[ConsoleResult] = Future()
    has_timed_out = Event()

    def run() -> bool:
        """Answer the query; returns whether its connection can serve the next one."""
        with _open_session(driver, database, max_rows) as session:
            _require_capacity(drivers, session, remaining_s)

            with _open_transaction(session, remaining_s) as (transaction, limit):
                columns, rows, truncated = _fetch(
                    transaction, limit, text, dict(parameters or {}), max_rows
                )
                elapsed_s = time.monotonic() - started
                # Nobody waits for the rollback.
                outcome.set_result(ConsoleResult(columns, rows, truncated, elapsed_s))

        return not truncated

    work = partial(_work, drivers, driver, run, outcome, has_timed_out)
    Thread(target=work, name="console query", daemon=True).start()
    try:
        return outcome.result(timeout=remaining_s)
    except TimeoutError as error:
        has_timed_out.set()
        _CHECKED.pop(drivers, None)

        # In a thread, too: closing, which ends the query's thread, may wait for the server.
        closing = Thread(target=_close, args=(driver,), name="console close", daemon=True)
        closing.start()
        closing.join(_CLOSE_S)
        raise _timeout_error(timeout_s) from error
    except (Neo4jError, DriverError) as error:
        raise _translate_error(error, timeout_s, database, text) from error


def _work(
    drivers: DriverPool,
    driver: Driver,
    run: Callable[[], bool],
    outcome: Future[ConsoleResult],
    has_timed_out: Event,
) -> None:
    """Run a query in its own thread, then keep or close its driver."""
    is_reusable = False
    try:
        is_reusable = run()
    except BaseException as error:  # noqa: BLE001 - the caller, who waits, raises it
        # After the answer only the rollback can fail, which nobody waits for.
        if not outcome.done():
            outcome.set_exception(error)
    finally:
        if is_reusable:
            drivers.give_back(driver)
        else:
            _close(driver)

        # The server computes on until it has stopped the query.
        if has_timed_out.is_set():
            time.sleep(_STOPPING_S)
        _RUNNING.release()


@contextmanager
def _open_session(driver: Driver, database: str, max_rows: int) -> Iterator[Session]:
    session = driver.session(
        database=database,
        default_access_mode=READ_ACCESS,
        fetch_size=min(max_rows + 1, _FETCH_ROWS),
    )
    try:
        yield session
    finally:
        # Where the caller has closed the driver meanwhile, the first attempt may end halfway.
        with suppress(DriverError, Neo4jError, OSError, BufferError):
            session.close()
        session.close()


def _close(driver: Driver) -> None:
    """Close a driver whose connection the thread of a query may just be writing to."""
    with suppress(BufferError):
        driver.close()


@contextmanager
def _open_transaction(
    session: Session, timeout_s: float
) -> Iterator[tuple[Transaction, MessageLimit]]:
    """A transaction that is rolled back, and the limit on its connection's messages."""
    # Sent together with the query, as the driver does in `execute_query`: a round trip less.
    pipelined: Any = session._pipelined_begin
    with pipelined:
        transaction = session.begin_transaction(
            timeout=timeout_s, metadata={"cobalance_console_s": timeout_s}
        )
    limit = MessageLimit(transaction)

    try:
        yield transaction, limit
    finally:
        # What was not fetched is discarded.
        transaction.close()
        limit.release()


def _fetch(
    transaction: Transaction,
    limit: MessageLimit,
    text: str,
    parameters: dict[str, Any],
    max_rows: int,
) -> tuple[tuple[str, ...], list[tuple[Any, ...]], bool]:
    """The columns and rows of a query or of its plan, and whether there were more rows."""
    plain = PlainValues(MAX_VALUES)
    rows: list[tuple[Any, ...]] = []
    truncated = False

    try:
        read_times_as_text(transaction)
        result = _send(transaction, LANGUAGE + text, parameters)
        columns = tuple(result.keys())

        for record in result:
            if len(rows) == max_rows:
                truncated = True
                break
            rows.append(tuple([plain.of(value) for value in record.values()]))
            limit.next_message()

        summary = result.consume()
        if plan := summary.profile or summary.plan:
            return *plan_table(plan, is_profile=summary.profile is not None), False
    except (TooLargeError, MessageTooLargeError) as error:
        if not rows:
            raise QueryError(
                f"The first row alone holds more than {MAX_VALUES:,} values or "
                f"{MAX_MESSAGE_BYTES >> 20} MB. Return rows instead of one long list: UNWIND it, "
                "or leave out collect()."
            ) from error
        truncated = True
    except RecursionError as error:
        raise QueryError(
            "A value of the answer holds lists or maps nested too deeply. Return its parts."
        ) from error
    except UnreadableError as error:
        raise QueryError(f"The answer holds {error}. Return it as text, by toString().") from error
    return columns, rows, truncated


def _send(transaction: Transaction, text: str, parameters: dict[str, Any]) -> Result:
    try:
        return transaction.run(text, parameters)
    except (TypeError, ValueError, OverflowError) as error:
        # The driver raises them before anything is sent.
        reason = f"{error}"
    except RecursionError:
        reason = "it is nested too deeply"
    raise QueryError(
        f"A parameter cannot be sent: {reason}. Numbers (64 bits), texts, lists, maps and dates "
        "can."
    )


def _require_capacity(drivers: DriverPool, session: Session, timeout_s: float) -> None:
    """Raise QueryRefusedError if too many queries that were given up still run."""
    if time.monotonic() < _CHECKED.get(drivers, -math.inf) + _CHECK_EVERY_S:
        return

    record = session.run(Query(_STUCK, timeout=timeout_s)).single(strict=True)
    if record["stuck"] >= MAX_RUNNING:
        raise QueryRefusedError(
            f"The server still computes {record['stuck']} earlier queries of this console that are "
            "past their time limit: it cannot interrupt a single expression. Wait until they end, "
            "restart the server, or, if it is a local one, ",
            Action("stop_server"),
            ".",
        )

    _CHECKED[drivers] = time.monotonic()


def _timeout_error(timeout_s: float) -> QueryTimeoutError:
    return QueryTimeoutError(
        f"The query did not end within {timeout_s:g} s and was cancelled. Narrow it with WHERE or "
        "LIMIT, or raise ",
        Setting("timeout_s"),
        ".",
    )


def _translate_error(
    error: Neo4jError | DriverError, timeout_s: float, database: str, text: str
) -> CobalanceError:
    """Translate a driver error into ours, with its remedy."""
    unavailable = unavailable_error(error, database)
    if unavailable is not None:
        return unavailable
    if isinstance(error, DriverError):
        return QueryError(f"The query could not be sent: {error}.")

    code = error.code or ""
    message = _PLACE.sub(_place_in_query, error.message or str(error)).strip()
    if "TransactionTimedOut" in code:
        return _timeout_error(timeout_s)
    if code == "Neo.ClientError.Statement.AccessMode":
        return QueryRefusedError(f"The server refused the query: {message}")
    if code == "Neo.ClientError.Statement.ParameterMissing":
        values: list[str | Setting] = []
        for name in message.rpartition(": ")[2].split(", "):
            values += [", ", Setting(f"parameters.{name}")]
        return QueryError(f"{message}. Give each one a value: ", *values[1:], ".")
    if "OutOfMemory" in code:
        return QueryError(
            f"The server has not enough memory for this query: {message}. Return or collect less, "
            "or try again when what else fills its heap has ended."
        )
    return QueryError(message, offset=_offset(message, text))


def _place_in_query(place: re.Match[str]) -> str:
    """Word a mistake's place in the text that was sent as one behind `LANGUAGE`."""
    line = max(int(place["line"]) - 1, 1)
    offset = max(int(place["offset"]) - len(LANGUAGE), 0)
    return f"(line {line}, column {place['column']} (offset: {offset}))"


def _offset(message: str, text: str) -> int | None:
    """Where the server finds the mistake, in characters of the query; it counts as UTF-16 does."""
    place = _PLACE.search(message)
    if place is None:
        return None
    # A unit of UTF-16 has two bytes.
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * int(place["offset"])]
    return len(before.decode("utf-16-le", "replace"))
