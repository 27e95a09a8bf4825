"""Progress of jobs: queries in parts, rates, and changes of the dataset."""

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id, retry_job
from cobalance.graph.jobs.reports import (
    end_job,
    fail_queries,
    heartbeat,
    start_queries,
    stop_worker,
)
from cobalance.graph.jobs.rounds import begin_round
from cobalance.graph.jobs.settlement import RankedCandidate, Settlement, settle_queries
from cobalance.graph.jobs.status import read_job, read_queries, read_speeds
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
    speeds = read_speeds(store).set_index("job")
    assert speeds.loc[job, "seconds_per_image"] == 4.0
    assert speeds.loc[job, "images"] == 1
    assert other not in speeds.index


def test_measured_speeds_of_a_job_that_chooses_the_best(store, job):
    begin_round(store, job, 0, [], best_of=4)
    query = query_id(job, 1)
    record_made(store, job, {query: [accepted(query, 0), rejected(query, 1)]})
    speeds = read_speeds(store).set_index("job")
    names = ["images", "best_of", "seconds_per_candidate", "seconds_per_image"]
    assert speeds.loc[job, names].tolist() == [0, 4, 2.0, 8.0]


def test_a_job_that_chooses_the_best_goes_on_candidate_by_candidate(store, job):
    """Queries for 3, 2 and 5 images, 4 candidates of each; every candidate takes 2 s."""
    first, second, third = (query_id(job, position) for position in range(3))
    assert read_job(store, job).steps == (0, 10)
    begin_round(store, job, 0, [], best_of=4)
    start_queries(store, job, 0, [first, second, third])

    def state():
        found = read_job(store, job)
        left = read_queries(store, job, seconds_per_image=found.seconds_per_image)
        return found.steps, found.seconds_left, left["seconds_left"].tolist()

    assert state()[:2] == ((0, 40), None)
    record_made(store, job, {second: [rejected(second, at) for at in range(7)]})
    assert state() == ((7, 40), 66.0, [24.0, 2.0, 40.0])
    record_made(store, job, {second: [accepted(second, 7)]})
    assert state() == ((8, 40), 64.0, [24.0, 0.0, 40.0])
    best = [RankedCandidate(f"{second}/7", 1, "")]
    settle_queries(store, job, [Settlement(second, 8, best, "", "short")])
    fail_queries(store, job, 0, [first], "no object")
    steps, left, of_query = state()
    assert (steps, left, of_query[2]) == ((8, 40), 40.0, 40.0)
    assert retry_job(store, job, short=True) == 2  # one short image: four candidates more
    steps, left, of_query = state()
    assert (steps, left, of_query) == ((4, 40), 72.0, [24.0, 8.0, 40.0])
    fail_queries(store, job, 1, [first, second, third], "no object")
    end_job(store, job)
    found = read_job(store, job)
    assert (found.state, found.steps, found.progress) == ("failed", (4, 40), 0.1)
