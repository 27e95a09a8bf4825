"""Asking the graph from a page: in a thread of its own, so that the page stays free."""

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

FIRST_WAIT_S = 1.0  # for most queries' answer; then the page is free again
RUN = "_cypher_run"  # the session's last run

_running = BoundedSemaphore(4)  # queries of this process, so that nobody can pile them up


@dataclass(frozen=True)
class Question:
    """What is asked of the graph.

    Parameters
    ----------
    text : str
        The name of a saved query, or Cypher.
    is_saved : bool
        Which of the two.
    given : dict
        Parameters.
    most_rows : int
        To show.
    timeout_s : float
        That it may take.
    """

    text: str
    is_saved: bool
    given: dict[str, Any]
    most_rows: int
    timeout_s: float

    def answer(self, store: GraphStore) -> ConsoleResult:
        """Ask; see `run_console_query` and `bind_named` for what may be raised."""
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
    """A question that has been asked, and its answer, which may still be to come."""

    question: Question
    outcome: "Future[ConsoleResult]" = field(default_factory=Future)
    started: float = field(default_factory=time.monotonic)


def start(store: GraphStore, question: Question) -> Run:
    """Ask in a thread of its own, and wait a little for the answer."""
    run = Run(question)

    def work() -> None:
        try:
            run.outcome.set_result(question.answer(store))
        except BaseException as error:  # noqa: BLE001 - the page, which waits, raises it
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
    """Let go of the session's last run; the database ends it at its time limit."""
    st.session_state.pop(RUN, None)
