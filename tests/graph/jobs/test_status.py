"""Progress of jobs: queries in parts, rates, and changes of the dataset."""

from graph.dataset.write import write_annotations
from graph.jobs.candidates import (
    record_made,
)
from graph.jobs.lifecycle import create_job, query_id
from graph.jobs.reports import (
    heartbeat,
    start_queries,
    stop_worker,
)
from graph.jobs.status import measured_speeds, read_job, read_queries
from graph.records import Annotations, ImageRecord, Mention
from tests.graph.jobs.reporting import QUERIES, accepted, rejected


def test_the_rate_of_a_job_is_shared_by_its_workers(store, job):
    first = query_id(job, 0)
    start_queries(store, job, 0, [first])
    record_made(store, job, {first: [accepted(first, 0)]})
    try:
        for name in ("one", "two", "three"):
            heartbeat(store, f"{job} {name}", host="here", job=job)
        read = read_job(store, job)
        assert read.workers == 3
        assert read.heartbeat_at is not None
        assert read.seconds_left == 9 * 2.0 / 3
    finally:
        for name in ("one", "two", "three"):
            stop_worker(store, f"{job} {name}")


def test_a_job_knows_that_its_dataset_has_changed(store, loaded, job):
    assert not read_job(store, job).dataset_changed
    more = Annotations.from_records([ImageRecord("0", "b", (Mention("x"),))])
    write_annotations(store, loaded, more, source="a test")
    assert read_job(store, job).dataset_changed
    assert "have changed since this job was ordered" in read_job(store, job).remarks[0]
    assert not read_job(store, create_job(store, loaded, "mine", QUERIES)).dataset_changed


def test_queries_in_parts(store, job):
    start_queries(store, job, 0, [query_id(job, 2)])
    assert read_queries(store, job, state="running")["position"].tolist() == [2]
    assert read_queries(store, job, state="failed").empty
    for state in (None, "queued"):
        assert read_queries(store, job, state=state, limit=2)["position"].tolist() == [0, 1]
    assert read_queries(store, job, skip=1, limit=1)["position"].tolist() == [1]
    assert read_queries(store, job, skip=2, limit=5)["position"].tolist() == [2]
    assert read_queries(store, job, skip=3, limit=5).empty


def test_measured_speeds(store, loaded, job):
    other = create_job(store, loaded, "mine", QUERIES)
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, 0), rejected(query, 1)]})
    speeds = measured_speeds(store).set_index("job")
    assert speeds.loc[job, "seconds_per_image"] == 4.0
    assert speeds.loc[job, "images"] == 1
    assert other not in speeds.index
