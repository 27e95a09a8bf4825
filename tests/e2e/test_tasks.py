"""Tasks on the queue: done, failed, cancelled, left to others, and started again after a kill."""

import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.worker import worker as worker_module
from cobalance.generation.worker.worker import Worker
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job
from cobalance.graph.tasks.lifecycle import cancel_task, create_task, read_task, retry_task
from cobalance.workflows.work.run import worker_resources
from tests.browser.server import environment_of
from tests.e2e.small_jobs import PLAIN, QUERIES, assert_complete
from tests.support.waiting import until


@pytest.fixture
def worker(own, options):
    """A worker with these functions for tasks."""

    def make(changed=options, **tasks):
        return Worker(replace(worker_resources(own), tasks=tasks), changed)

    return make


def test_tasks_end_with_notes_or_errors_and_can_be_tried_again(store, loaded, worker, options):
    seen = []

    def measure(run):
        seen.append((run.dataset, dict(run.settings)))
        run.progress("measure", 1, 2)
        run.progress("measure", 2, 2)
        return f"{len(run.graph(lambda graph: graph.read('RETURN 1 AS one')))} row"

    def fail(run):
        raise [OptionError("There are no images. Load some."), ZeroDivisionError()][len(run.id) % 2]

    def order(kind, **more):
        return create_task(store, kind, "worker", dataset=loaded, settings={"a": 1}, **more)

    good, bad, broken = order("measure"), order("fail"), order("fail", task=f"{loaded} x"[-17:])
    unknown = order("sing")
    worker = worker(measure=measure, fail=fail)
    worker.run()
    assert set(worker.seen) == {good, bad, broken, unknown}
    assert seen == [(loaded, {"a": 1})]
    found = read_task(store, good)
    assert (found.state, found.note, found.done, found.total) == ("done", "1 row", 2, 2)
    assert read_task(store, bad).error == "There are no images. Load some."
    assert read_task(store, broken).error == "ZeroDivisionError"
    assert "knows no task 'sing'" in read_task(store, unknown).error
    assert retry_task(store, bad)
    again = Worker(
        replace(worker.resources, tasks={"fail": lambda run: ""}), options, worker.progress
    )
    again.run()
    assert read_task(store, bad).state == "done"


def test_a_task_without_its_packages_is_left_to_other_workers(store, loaded, worker, monkeypatch):
    monkeypatch.setattr(worker_module, "installed_extras", lambda: ("worker",))
    task = create_task(store, "measure", "train", dataset=loaded)
    here = worker(measure=lambda run: "")
    here.run()
    assert here.left == {task: ("Task", "train")}
    assert read_task(store, task).state == "queued"


def test_a_cancelled_task_stops_at_its_next_report(store, loaded, worker):
    reports = threading.Semaphore(0)

    def endless(run):
        while True:
            run.progress("wait", 1, 1)
            reports.release()

    task = create_task(store, "endless", "worker", dataset=loaded)
    thread = threading.Thread(target=worker(endless=endless).run)
    thread.start()
    assert reports.acquire(timeout=300)
    assert cancel_task(store, task) == "cancelled"
    thread.join(300)
    assert not thread.is_alive()
    assert read_task(store, task).state == "cancelled"


def test_a_worker_that_is_told_to_stop_leaves_its_task_to_others(store, loaded, worker):
    reports, go_on = threading.Semaphore(0), threading.Event()

    def count(run):
        while not go_on.is_set():
            run.progress("count", 1, 1)
            reports.release()
        return "counted"

    task = create_task(store, "count", "worker", dataset=loaded)
    first = worker(count=count)
    thread = threading.Thread(target=first.run)
    thread.start()
    assert reports.acquire(timeout=300)
    first.stop()
    thread.join(300)
    assert not thread.is_alive()
    assert read_task(store, task).state == "queued"
    go_on.set()
    worker(count=count).run()
    found = read_task(store, task)
    assert (found.state, found.note) == ("done", "counted")
    assert store.read("MATCH (t:Task {id: $id}) RETURN t.starts AS n", id=task) == [{"n": 1}]


def test_a_job_waits_for_the_task_that_has_the_device(store, loaded, own, worker, options):
    begun, go_on = threading.Event(), threading.Event()

    def hold(run):
        begun.set()
        while not go_on.wait(0.02):
            run.progress("hold", 0, None)
        return ""

    task = create_task(store, "hold", "worker", dataset=loaded)
    thread = threading.Thread(target=worker(replace(options, dead_after_s=1.0), hold=hold).run)
    thread.start()
    assert begun.wait(300)
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    until(lambda: read_job(store, job).state == "running")
    assert read_job(store, job).made == 0
    go_on.set()
    thread.join(300)
    assert not thread.is_alive()
    assert read_task(store, task).state == "done"
    assert_complete(store, own, job)


def test_a_task_goes_on_when_its_worker_is_killed(store, loaded, settings, own, tmp_path):
    environment = environment_of(settings) | {
        "COBALANCE_QUEUE": f"sqlite:///{tmp_path}/queue.sqlite",
        "COBALANCE_OUTPUT": own.folders().output,
    }
    (tmp_path / "counted").mkdir()
    counted = {"folder": str(tmp_path / "counted")}
    task = create_task(store, "count", "worker", dataset=loaded, settings=counted)

    def start():
        return subprocess.Popen([sys.executable, "-m", "tests.e2e.task_worker"], env=environment)

    first = start()
    try:
        until(lambda: (tmp_path / "counted" / "2").exists() or first.poll() is not None)
    finally:
        first.kill()
        first.wait()
    assert read_task(store, task).state == "running"
    assert start().wait(120) == 0
    found = read_task(store, task)
    assert (found.state, found.note, found.attempt) == ("done", "counted", 0)
    assert (tmp_path / "counted" / "4").exists()
