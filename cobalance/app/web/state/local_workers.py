"""Workers that editors start from the web app; the same for all sessions of its process."""

import streamlit as st

from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit, require_editor
from cobalance.app.web.workers.supervisor import LocalWorker, LocalWorkers, workers_allowed
from cobalance.graph.plugins import is_installed

_workers = LocalWorkers()


def workers() -> LocalWorkers:
    """The workers of this process."""
    return _workers


def shown() -> list[LocalWorker]:
    """Those that run or have ended, for editors; others are shown none."""
    return workers().all() if may_edit() else []


def may_start() -> bool:
    """Whether this person may start one more worker now."""
    most = workers_allowed(session.settings(), st.get_option("server.address"))
    return may_edit() and is_installed("worker") and len(workers().running()) < most


def start() -> None:
    """Start a worker.

    Raises
    ------
    NotAllowedError
        The user may not change things.
    OptionError
        As many run as may.
    """
    require_editor()
    workers().start(workers_allowed(session.settings(), st.get_option("server.address")))


def stop(number: int) -> None:
    """Have a worker end when its images under way are done; the second time, at once.

    Raises
    ------
    NotAllowedError
        The user may not change things.
    """
    require_editor()
    worker = workers().find(number)
    if worker is not None:
        worker.stop()


def forget(number: int) -> None:
    """Show a worker that has ended no longer."""
    require_editor()
    workers().forget(number)
