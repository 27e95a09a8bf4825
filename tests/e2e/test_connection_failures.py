"""Graph and queue that go away and come back, and workers that are told to stop."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

from cobalance.base.errors import StoreError, StoreUnavailableError
from cobalance.generation.jobs.job_queue import Queue
from cobalance.generation.worker.worker import Worker
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.reports import workers_alive
from cobalance.graph.jobs.statements import ADD_CANDIDATES
from cobalance.workflows.work import run as gpu_workers
from cobalance.workflows.work.run import worker_resources
from tests.e2e.small_jobs import PLAIN, QUERIES, assert_complete
from tests.support.waiting import until


def test_the_graph_goes_away_and_comes_back(way, store, loaded, own, options, fails, caplog):
    """Behind a connection that is cut while images are made."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"chunk_size": 1})
    begun = threading.Event()
    fails.BEFORE.append(begun.set)
    reached = replace(worker_resources(own), connect=lambda: GraphStore.connect(*way.login))
    thread = threading.Thread(target=Worker(reached, options).run)
    thread.start()
    assert begun.wait(300)
    way.cut()
    until(lambda: not thread.is_alive() or "waiting for the graph" in caplog.text)
    way.restore()
    thread.join(300)
    assert not thread.is_alive()
    assert_complete(store, own, job)


def test_the_queue_goes_away_and_comes_back(store, loaded, own, work, fails, monkeypatch, caplog):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    ask, asked = Queue.is_busy, []

    def ask_in_vain(*arguments):
        asked.append(arguments)
        if len(asked) < 3:
            raise StoreUnavailableError("The job queue does not answer.")
        return ask(*arguments)

    monkeypatch.setattr(Queue, "is_busy", ask_in_vain)
    work()
    assert caplog.text.count("waiting for the queue") == 2
    assert_complete(store, own, job)


def test_a_refusal_of_the_graph_is_no_end(store, loaded, own, options, fails, monkeypatch):
    """Such as for a deadlock."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    write, refused = GraphStore.write, []

    def write_in_vain(self, text, **parameters):
        if text is ADD_CANDIDATES and len(refused) < 2:
            refused.append(text)
            raise StoreError("The database could not finish now.")
        return write(self, text, **parameters)

    monkeypatch.setattr(GraphStore, "write", write_in_vain)
    Worker(worker_resources(own), options).run()
    assert len(refused) == 2
    assert_complete(store, own, job)


def test_a_worker_that_is_told_to_end_is_alive_until_it_has(store, loaded, own, options, fails):
    """Others would make again what it ends."""
    create_job(store, loaded, "plan", QUERIES[:1], settings=PLAIN | {"chunk_size": 8})
    worker = Worker(worker_resources(own), replace(options, dead_after_s=1.0))
    alive = []

    def heartbeat():
        (row,) = store.read(
            "MATCH (w:Worker {id: $id}) RETURN w.heartbeat_at.epochMillis AS at", id=worker.id
        )
        return row["at"]

    def end_slowly():
        worker.stop()
        stopped_at = heartbeat()
        until(lambda: heartbeat() > stopped_at + 1000)
        alive.extend(found.id for found in workers_alive(store, within_s=1.0))

    fails.BEFORE.append(end_slowly)
    worker.run()
    assert worker.id in alive
    assert worker.id not in {found.id for found in workers_alive(store)}


def test_workers_on_gpus_are_told_to_end_when_their_parent_is(tmp_path, monkeypatch):
    """As by `docker stop`, which tells the first process alone."""
    script = (
        "import pathlib, signal, sys\n"
        f"told = pathlib.Path({str(tmp_path / 'told')!r})\n"
        "signal.signal(signal.SIGTERM, lambda *_: (told.touch(), sys.exit(0)))\n"
        f"pathlib.Path({str(tmp_path / 'began')!r}).touch()\n"
        "signal.pause()\n"
    )
    start = subprocess.Popen
    monkeypatch.setattr(
        gpu_workers.subprocess,
        "Popen",
        lambda _, env: start([sys.executable, "-c", script], env=env),
    )

    def stop():
        until((tmp_path / "began").exists)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=stop)
    thread.start()
    gpu_workers.run_on_gpus([0], os.environ, until_idle=False, dead_after_s=30)
    thread.join()
    assert (tmp_path / "told").exists()
