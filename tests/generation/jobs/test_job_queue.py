"""The job queue: clear errors, no pickles, and nothing left of ended jobs."""

import ast
import base64
import contextlib
import importlib
import pickle
import re
import sqlite3
import sys
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import dbos
import pytest
from dbos import DBOS, _migration, _serialization, _sys_db, _sys_db_sqlite

import cobalance.generation.jobs.job_queue
from cobalance.base.errors import MachineError, StoreUnavailableError
from cobalance.generation.jobs.chunks import Chunk
from cobalance.generation.jobs.job_queue import Queue
from tests.support.waiting import until


def test_a_queue_that_cannot_be_opened_is_a_clear_error(tmp_path):
    (tmp_path / "queue.sqlite").write_text("this is no database, but a text " * 20)
    with pytest.raises(StoreUnavailableError, match=r"The job queue sqlite:///.* cannot be opened"):
        Queue(f"sqlite:///{tmp_path}/queue.sqlite", "worker", lambda *_: "done")


@pytest.fixture
def on_python_3_12(monkeypatch):
    """DBOS with the SQL that it takes from Python 3.12 on, whatever SQLite there is."""
    newer = max(tuple(sys.version_info), (3, 12, 0, "final", 0))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", newer)
        importlib.reload(_migration)
    monkeypatch.setattr(_sys_db_sqlite, "sqlite_migrations", _migration.sqlite_migrations)
    monkeypatch.setattr(_sys_db, "sys", SimpleNamespace(**{**vars(sys), "version_info": newer}))
    yield
    importlib.reload(_migration)


@pytest.mark.usefixtures("on_python_3_12")
def test_chunks_are_queued_on_newer_pythons_with_an_older_sqlite(tmp_path):
    """SQLite has the function since 3.42; Debian 12 has 3.40."""
    file, executed = tmp_path / "queue.sqlite", []

    def execute(chunk, _attempt):
        executed.append(chunk.id)
        return "done"

    before_ms = time.time_ns() // 1_000_000
    queue = Queue(f"sqlite:///{file}", "worker", execute, poll_s=0.02)
    try:
        queue.enqueue([Chunk("job", "000-000000", ((0, 0),))], 0, "worker")
        until(lambda: executed and not queue.is_busy("job", 0, 0))
    finally:
        queue.close(wait_s=60)
    after_ms = time.time_ns() // 1_000_000
    with contextlib.closing(sqlite3.connect(file)) as connection:
        (table,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'workflow_status'"
        )
        rows = connection.execute("SELECT created_at, completed_at FROM workflow_status").fetchall()
    assert "unixepoch('subsec')" in table[0]
    assert [(type(created), type(ended)) for created, ended in rows] == [(int, int)]
    assert all(before_ms <= created <= ended <= after_ms for created, ended in rows)


def test_dbos_asks_for_the_time_in_the_one_form_that_is_defined():
    """Fails when a newer dbos gives the function other arguments."""
    sources = [file.read_text() for file in Path(dbos.__file__).parent.rglob("*.py")]
    calls = [call for source in sources for call in re.findall(r"unixepoch\(([^)]*)\)", source)]
    assert {call.strip("'\"") for call in calls} == {"subsec"}


def test_an_sqlite_that_is_too_old_is_named_with_what_helps(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    file = tmp_path / "queue.sqlite"
    with pytest.raises(MachineError, match=r"needs SQLite 3\.35 or newer, .* has 3\.34\.1\. Use"):
        Queue(f"sqlite:///{file}", "worker", lambda *_: "done")
    assert not file.exists()


def test_a_job_that_has_ended_leaves_nothing_in_the_queue(queue_url, monkeypatch):
    monkeypatch.setattr(cobalance.generation.jobs.job_queue, "DELETE_BATCH", 5)
    made = []

    def work(chunk, _attempt):
        made.append(chunk.job)
        return "done"

    queue = Queue(queue_url, "worker", work, poll_s=0.02)
    try:
        queue.enqueue([Chunk("ended", f"000-{i:06d}", ((i, 0),)) for i in range(12)], 0, "worker")
        queue.enqueue([Chunk("ended", "000-000000", ((0, 0),))], 1, "models")
        queue.enqueue([Chunk("ended2", "000-000000", ((0, 0),))], 0, "worker")
        until(lambda: len(made) == 14 and not queue.running())
        queue.delete_job("ended")
        assert [left.workflow_id for left in DBOS.list_workflows()] == ["ended2/0/000-000000"]
    finally:
        queue.close()


def test_its_end_waits_for_what_it_has_taken_and_takes_no_more(queue_url):
    """What another worker finds then was executed once and is recorded, or was never taken."""
    chunks = [Chunk("job", f"000-{i:06d}", ((i, 0),)) for i in range(40)]
    begun, executed = threading.Event(), []

    def execute(chunk, _attempt):
        begun.set()
        time.sleep(0.001 * len(executed))  # so that they end at any time
        executed.append(chunk.id)
        return "done"

    def are_done(queue):
        return not queue.is_busy("job", 0, 0)

    for worker in ("first", "second", "last"):
        begun.clear()
        queue = Queue(queue_url, worker, execute, poll_s=0.02)
        try:
            assert set(queue.running().values()) <= {worker}
            queue.enqueue(chunks, 0, "worker")
            assert begun.wait(300)
            if worker == "last":
                until(partial(are_done, queue))
        finally:
            queue.close(wait_s=60)
        told = len(executed)
    assert told == len(executed) == len(set(executed)) == len(chunks)


def plant(file, pickled, state, label):
    """Write a pickle wherever the queue keeps what chunks are executed with and end with."""
    text = base64.b64encode(pickled).decode()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "UPDATE workflow_status SET status = ?, serialization = ?, owner_xid = NULL, "
            "completed_at = NULL, executor_id = NULL",
            [state, label],
        )
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        planted = set()
        for (table,) in tables.fetchall():
            columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            for column in columns & {"inputs", "output", "error"}:
                connection.execute(f"UPDATE {table} SET {column} = ?", [text])
                planted.add(column)
        connection.commit()
    assert planted == {"inputs", "output", "error"}


@pytest.mark.parametrize("label", ["py_pickle", "cobalance_json", None])
@pytest.mark.parametrize("state", ["ENQUEUED", "ERROR"])
def test_a_planted_pickle_is_not_loaded(tmp_path, label, state):
    """As what a chunk is to be executed with, and as the error that one ended with."""
    url, done = f"sqlite:///{tmp_path}/queue.sqlite", []

    def execute(chunk, _attempt):
        done.append(chunk.id)
        return "done"

    queue = Queue(url, "worker", execute, poll_s=0.05)
    queue.enqueue([Chunk("job", "000-000000", ((0, 0),))], 0, "worker")
    until(lambda: done and not queue.is_busy("job", 0, 0))
    queue.close()
    plant(tmp_path / "queue.sqlite", pickle.dumps("a text"), state, label)
    queue = Queue(url, "another", execute, poll_s=0.05)
    until(lambda: not queue.is_busy("job", 0, 0))
    errors = queue.errors("job", 0, 0)
    queue.close()
    assert errors
    assert "a text" not in errors
    assert len(done) == 1


def test_dbos_loads_pickles_in_one_place_which_is_guarded():
    """Fails when a newer dbos loads them elsewhere, or its default serializer moves."""
    importing = []
    for file in Path(dbos.__file__).parent.rglob("*.py"):
        names = {
            name
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
            )
        }
        if names & {"pickle", "_pickle", "cloudpickle", "dill", "jsonpickle", "marshal", "shelve"}:
            importing.append(file.name)
    assert importing == ["_serialization.py"]
    source = Path(_serialization.__file__).read_text()
    assert source.count("pickle.load") == 1
    assert "pickle.Unpickler" not in source
    value = base64.b64encode(pickle.dumps("text")).decode()
    for serializer in (_serialization.DefaultSerializer(), _serialization.DBOSDefaultSerializer):
        with pytest.raises(TypeError, match="not loaded"):
            serializer.deserialize(value)


def test_chunks_are_taken_that_need_what_was_not_known_at_the_start(queue_url):
    executed = []

    def execute(chunk, _attempt):
        executed.append(chunk.job)
        return "done"

    queue = Queue(queue_url, "worker", execute, poll_s=0.02, needs=())
    try:
        queue.enqueue([Chunk("painted", "000-000000", ((0, 0),))], 0, "models")
        queue.enqueue([Chunk("plugged", "000-000000", ((0, 0),))], 0, "worker, filter mine")
        queue.enqueue([Chunk("drawn", "000-000000", ((0, 0),))], 0, "worker")
        queue.listen(["models", "worker, filter mine"])
        until(lambda: len(executed) == 2 and not queue.running())
        assert sorted(executed) == ["painted", "plugged"]
    finally:
        queue.close()
