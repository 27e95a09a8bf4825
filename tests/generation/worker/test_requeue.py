"""Chunks that nobody executes are requeued."""

import contextlib
import sqlite3
import threading

from cobalance.generation.jobs.chunks import Chunk
from cobalance.generation.jobs.job_queue import Queue
from cobalance.generation.worker.requeue import Requeuer
from cobalance.generation.worker.resources import RetryingStore
from tests.support.waiting import until


def hand_out(folder, chunk, worker):
    """Have the queue list a chunk of the extra `models` as a worker's, as if handed out to it."""
    with contextlib.closing(sqlite3.connect(folder / "queue.sqlite")) as connection:
        connection.execute(
            "UPDATE workflow_status SET status = 'PENDING', executor_id = ? "
            "WHERE workflow_uuid = ?",
            (worker, chunk),
        )
        connection.commit()


def test_a_chunk_that_the_queue_has_as_ours_and_nobody_executes_is_requeued(store, tmp_path):
    """As after its database was away between handing the chunk out and the worker's receipt."""
    begun, go_on = threading.Event(), threading.Event()

    def execute(_chunk, _attempt):
        begun.set()
        assert go_on.wait(300)
        return "done"

    queue = Queue(f"sqlite:///{tmp_path}/queue.sqlite", "mine", execute, 0.05, ["worker"])
    try:
        queue.enqueue([Chunk("ours", "000-000000", ((0, 0),))], 0, "worker")
        queue.enqueue([Chunk("lost", "000-000000", ((0, 0),))], 0, "models")
        assert begun.wait(300)
        hand_out(tmp_path, "lost/0/000-000000", "mine")
        retrying = RetryingStore(lambda: store, threading.Event())
        requeuer = Requeuer("mine", retrying, queue, dead_after_s=0.5)
        requeuer.requeue_orphans()
        assert set(queue.running()) == {"ours/0/000-000000", "lost/0/000-000000"}
        until(lambda: requeuer.requeue_orphans() or set(queue.running()) == {"ours/0/000-000000"})
    finally:
        go_on.set()
        queue.close(wait_s=60)


def test_the_graph_is_asked_who_is_alive_only_where_others_have_chunks(store, tmp_path):
    connections = []

    def connect():
        connections.append(store)
        return store

    queue = Queue(f"sqlite:///{tmp_path}/queue.sqlite", "mine", lambda *_: "done", 0.05, ["worker"])
    try:
        chunks = [Chunk(job, "000-000000", ((0, 0),)) for job in ("own", "other")]
        queue.enqueue(chunks, 0, "models")
        retrying = RetryingStore(connect, threading.Event())
        requeuer = Requeuer("mine", retrying, queue, dead_after_s=600)
        requeuer.requeue_orphans()
        hand_out(tmp_path, "own/0/000-000000", "mine")
        requeuer.requeue_orphans()
        assert (set(queue.running()), connections) == ({"own/0/000-000000"}, [])
        hand_out(tmp_path, "other/0/000-000000", f"{tmp_path} has no such worker")
        requeuer.requeue_orphans()
        assert (set(queue.running()), connections) == ({"own/0/000-000000"}, [store])
    finally:
        queue.close(wait_s=60)
