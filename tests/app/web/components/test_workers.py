"""Workers that are started from the page Make: who may, what is said of them, and their log."""

import os
import sys
from collections.abc import Iterator
from functools import partial

import pytest

from cobalance.app.web.components import workers as workers_room
from cobalance.app.web.workers.supervisor import LocalWorkers
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.reports import heartbeat, stop_worker
from tests.app.conftest import Login, OpenPage, shown_text
from tests.support.waiting import until

PROGRAM = """
import signal
print("<b>hello</b>", flush=True)
signal.pause()
"""


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalWorkers]:
    """The app's workers, which run a program of a line."""
    made = LocalWorkers([sys.executable, "-c", PROGRAM], ())
    monkeypatch.setattr(workers_room, "WORKERS", made)
    monkeypatch.setenv("COBALANCE_WORKERS", "1")
    yield made
    for worker in made.all():
        worker.stop()
        worker.stop()
        worker.wait(30)


@pytest.fixture
def job(store: GraphStore, cars: str) -> str:
    return create_job(store, cars, "fields", [("urban", ("cow",), 3)])


def test_a_worker_from_its_start_to_its_end(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, workers: LocalWorkers
) -> None:
    open_jobs = partial(open_page, "jobs", dataset=cars)
    app = open_jobs()
    assert "No worker is running, so queued jobs wait. Start one here, or" in shown_text(app)
    app.button(key="_worker_start").click().run()
    assert not app.exception
    (worker,) = workers.running()
    until(worker.lines)
    app.run()
    assert "Worker 1 of this app is starting." in shown_text(app)
    assert "_worker_start" not in [button.key for button in app.button]  # there may be one
    assert [code.value for code in app.code if "hello" in code.value] == ["<b>hello</b>"]
    known = f"a:machine:{worker.pid}:0f"
    heartbeat(store, known, host="here")
    try:
        said = shown_text(open_jobs())  # the same for another session, which sees its log
    finally:
        stop_worker(store, known)
    assert "runs on" not in said  # it is the only one
    assert "Worker 1 of this app runs, for " in said
    app.button(key="_worker_stop 1").click().run()
    assert worker.wait(300)
    app.run()
    assert "Worker 1 of this app was stopped." in shown_text(app)
    app.button(key="_worker_forget 1").click().run()
    assert "of this app" not in shown_text(app)
    assert "_worker_start" in [button.key for button in app.button]


def test_one_that_died_says_why(
    open_page: OpenPage, cars: str, job: str, workers: LocalWorkers
) -> None:
    worker = workers.start(1)
    until(worker.lines)
    assert worker.pid is not None
    os.kill(worker.pid, 9)
    assert worker.wait(300)
    app = open_page("jobs", dataset=cars)
    said = shown_text(app)
    assert "Worker 1 of this app has died. It is not started again." in said
    assert "It was ended by SIGKILL" in said
    assert "_worker_start" in [button.key for button in app.button]


def test_who_may_only_look_sees_and_starts_none(
    open_page: OpenPage, cars: str, job: str, workers: LocalWorkers, login: Login
) -> None:
    login(editors="ann@example.org")
    worker = workers.start(2)
    until(worker.lines)
    app = open_page("jobs", dataset=cars)
    for email, may in (("eve@example.org", False), ("ann@example.org", True)):
        app.user = {"is_logged_in": True, "email": email, "email_verified": True}
        app.run()
        assert not app.exception
        assert ("hello" in str([code.value for code in app.code])) is may
        assert ("_worker_stop 1" in [button.key for button in app.button]) is may


def test_where_the_operator_allows_none_there_is_no_button(
    open_page: OpenPage, cars: str, job: str, workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COBALANCE_WORKERS", "0")
    app = open_page("jobs", dataset=cars)
    assert "_worker_start" not in [button.key for button in app.button]
