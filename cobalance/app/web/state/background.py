"""Run a console query in a background thread, so that the page stays responsive."""

import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Thread

import streamlit as st

from cobalance.graph.console.run import ConsoleResult
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import QueryRefusedError
from cobalance.graph.queries.console_query import ConsoleQuery, names_in

FIRST_WAIT_S = 1.0  # enough for most queries; then the page responds again
RUN = "_cypher_run"  # the session's last run

_running = BoundedSemaphore(4)  # queries of this process, so that nobody can pile them up


@dataclass(frozen=True, eq=False)
class Run:
    """A query that was started, and its outcome, which may be pending."""

    query: ConsoleQuery
    outcome: "Future[ConsoleResult]" = field(default_factory=Future)
    started: float = field(default_factory=time.monotonic)
    names: dict[str, str] = field(default_factory=dict)  # of the result's nodes, by element id


def start(store: GraphStore, query: ConsoleQuery) -> Run:
    """Start a query in a thread, and wait a little for its result."""
    run = Run(query)

    def work() -> None:
        try:
            result = query.run(store)
            run.names.update(names_in(store, result))
            run.outcome.set_result(result)
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
