"""Run a console query in a background thread, so that the page stays responsive."""

import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Thread
from typing import Any

import streamlit as st

from graph.console.run import ConsoleResult, run_console_query
from graph.database.store import GraphStore
from graph.errors import QueryRefusedError
from graph.queries.binding import bind_named

FIRST_WAIT_S = 1.0  # enough for most queries; then the page responds again
RUN = "_cypher_run"  # the session's last run

_running = BoundedSemaphore(4)  # queries of this process, so that nobody can pile them up


@dataclass(frozen=True)
class ConsoleQuery:
    """A query to run on the graph.

    Parameters
    ----------
    text : str
        The name of a saved query, or Cypher.
    is_saved : bool
        Whether `text` is such a name.
    given : dict
        Its parameters.
    most_rows : int
        Limit of rows to show.
    timeout_s : float
        Time limit.
    """

    text: str
    is_saved: bool
    given: dict[str, Any]
    most_rows: int
    timeout_s: float

    def run(self, store: GraphStore) -> ConsoleResult:
        """Run it; see `run_console_query` and `bind_named` for the errors raised."""
        text, parameters = self.text, self.given
        if self.is_saved:
            if "limit" in parameters:  # one more shows that there are more
                parameters = {**parameters, "limit": self.most_rows + 1}
            query, parameters = bind_named(store, self.text, parameters)
            text = query.text
        return run_console_query(
            store.open_driver,
            store.database,
            text,
            parameters,
            timeout_s=self.timeout_s,
            max_rows=self.most_rows,
        )


@dataclass(frozen=True, eq=False)
class Run:
    """A query that was started, and its outcome, which may be pending."""

    query: ConsoleQuery
    outcome: "Future[ConsoleResult]" = field(default_factory=Future)
    started: float = field(default_factory=time.monotonic)


def start(store: GraphStore, query: ConsoleQuery) -> Run:
    """Start a query in a thread, and wait a little for its result."""
    run = Run(query)

    def work() -> None:
        try:
            run.outcome.set_result(query.run(store))
        except BaseException as error:  # noqa: BLE001 - the waiting page raises it
            run.outcome.set_exception(error)
        finally:
            _running.release()

    if not _running.acquire(blocking=False):
        run.outcome.set_exception(
            QueryRefusedError(
                "Four queries of this app are still running. Wait until one of them ends, then "
                "press Run again."
            )
        )
        return run
    Thread(target=work, name="console page", daemon=True).start()
    with suppress(TimeoutError):
        run.outcome.exception(timeout=FIRST_WAIT_S)
    return run


def forget() -> None:
    """Forget the session's last run; the database ends it at its time limit."""
    st.session_state.pop(RUN, None)
