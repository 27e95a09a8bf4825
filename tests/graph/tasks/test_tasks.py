"""Tasks from their order to their end, with reports that come late, twice or from the dead."""

import pytest

from cobalance.base.errors import NotFoundError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.reports import heartbeat, stop_worker
from cobalance.graph.jobs.status import read_job
from cobalance.graph.tasks.lifecycle import (
    active_tasks,
    cancel_task,
    create_task,
    end_task,
    fail_task,
    list_tasks,
    read_task,
    release_task,
    report_task,
    retry_task,
    start_task,
)


@pytest.fixture
def loaded(store, dataset):
    images = Annotations.from_records(
        [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b")]
    )
    write_annotations(store, dataset, images, source="a test")
    return dataset


@pytest.fixture
def task(store, loaded):
    settings = {"of": "it's", "seeds": [1]}
    return create_task(
        store, "measure", "worker", dataset=loaded, settings=settings, created_by="ann"
    )


def active(store, task):
    return [one for one in active_tasks(store) if one.id == task]


def test_the_course_of_a_task(store, loaded, task):
    (waiting,) = active(store, task)
    assert (waiting.kind, waiting.extra, waiting.attempt) == ("measure", "worker", 0)
    assert create_task(store, "other", "models", task=task) == task
    assert not report_task(store, task, 0, "early", 0, None)
    started = start_task(store, task, 0)
    assert started is not None
    assert (started.kind, started.dataset, started.starts) == ("measure", loaded, 1)
    assert started.settings == {"of": "it's", "seeds": [1]}
    assert start_task(store, task, 0).starts == 2  # by another worker, as the first has died
    release_task(store, task, 0)  # told to stop, which does not count
    assert read_task(store, task).state == "queued"
    assert start_task(store, task, 0).starts == 2
    assert report_task(store, task, 0, "train", 3, 10)
    heartbeat(store, "w", host="h", job=task)
    store.write(
        "MATCH (t:Task {id: $task}) SET t.stage_at = t.updated_at - duration('PT30S')", task=task
    )
    found = read_task(store, task)
    stop_worker(store, "w")
    assert found.hosts == ("h",)
    assert found.seconds_left == pytest.approx(70)  # 3 of 10 took 30 s
    assert (found.state, found.stage, found.done, found.total) == ("running", "train", 3, 10)
    assert (found.workers, found.created_by, found.kind) == (1, "ann", "measure")
    end_task(store, task, 0, note="two of ten were empty")
    fail_task(store, task, 0, "too late")
    found = read_task(store, task)
    assert (found.state, found.remarks) == ("done", ("two of ten were empty",))
    assert found.ended_at >= found.started_at >= found.created_at
    assert active(store, task) == []
    assert cancel_task(store, task) == "done"
    assert not retry_task(store, task)


@pytest.mark.parametrize(
    ("worker", "counts"),
    [
        ({}, True),  # of a version that does not say what it has
        ({"extras": ["worker", "models"]}, True),
        ({"extras": []}, False),
        ({"only": []}, False),
        ({"only": ["another"]}, False),
        ({"job": "another"}, False),
    ],
)
def test_who_could_take_a_task_or_a_job(store, loaded, task, worker, counts):
    """Idle workers count alike for both; a job of an earlier version does not say what it needs."""
    job = create_job(store, loaded, "cows", [("a", ("x",), 1)], extra="worker")
    old = create_job(store, loaded, "cows", [("a", ("x",), 1)])
    jobs = [job, old]
    start_task(store, task, 0)
    report_task(store, task, 0, "train", 3, 10)

    def counted() -> list[int]:
        return [read_task(store, task).workers, *(read_job(store, one).workers for one in jobs)]

    before = counted()
    heartbeat(store, f"w {task}", host="h", **worker)
    try:
        found = [after - one for after, one in zip(counted(), before, strict=True)]
        assert found == [counts, counts, counts or worker == {"extras": []}]
        assert read_task(store, task).hosts == ()
        assert read_task(store, task).seconds_left is None  # nobody is at it
        heartbeat(store, f"w {task}", host="h", only=[task, *jobs])
        assert counted() == [one + 1 for one in before]
    finally:
        stop_worker(store, f"w {task}")


def test_a_retry_is_another_attempt_to_which_reports_of_earlier_ones_do_nothing(store, task):
    start_task(store, task, 0)
    fail_task(store, task, 0, "the disk is full")
    assert read_task(store, task).error == "the disk is full"
    assert retry_task(store, task)
    found = read_task(store, task)
    assert (found.state, found.error, found.attempt, found.ended_at) == ("queued", "", 1, None)
    assert start_task(store, task, 0) is None
    assert start_task(store, task, 1).starts == 1
    assert not report_task(store, task, 0, "late", 1, 1)
    end_task(store, task, 0)
    fail_task(store, task, 0, "late")
    assert read_task(store, task).state == "running"


def test_a_cancelled_task_is_not_wanted_any_more_until_it_is_retried(store, task):
    start_task(store, task, 0)
    assert cancel_task(store, task) == "cancelled"
    assert not report_task(store, task, 0, "train", 1, 2)
    end_task(store, task, 0)
    assert read_task(store, task).state == "cancelled"
    assert retry_task(store, task)
    assert start_task(store, task, 1) is not None


def test_tasks_are_dropped_and_renamed_with_their_dataset(store, loaded, task):
    new = f"{loaded} renamed"
    rename_dataset(store, loaded, new)
    assert [one.id for one in list_tasks(store, new)] == [task]
    assert task in [one.id for one in list_tasks(store)]
    drop_dataset(store, new)
    assert list_tasks(store, new) == []
    for change in (read_task, cancel_task, retry_task):
        with pytest.raises(NotFoundError, match="There is no task"):
            change(store, task)


def test_an_unknown_extra_is_refused(store):
    with pytest.raises(UnknownNameError, match="unknown extra 'gpu'"):
        create_task(store, "measure", "gpu")
