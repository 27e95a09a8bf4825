"""Jobs in the graph: what a worker and a person do to them, repeated, at once, and interrupted."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from random import Random

import pandas as pd
import pytest

from app.services.plans import plan_dataset
from app.services.stores import open_store
from generation.jobs.rounds import next_spans
from generation.planning.plan import PlanOptions
from graph.database.migrations import MIGRATIONS
from graph.database.schema import JOB_COUNTERS
from graph.dataset.drop_rename import drop_dataset, rename_dataset
from graph.dataset.mining import MiningOptions, mine_dataset
from graph.dataset.write import write_annotations
from graph.errors import (
    DatasetNotFoundError,
    JobNotFoundError,
    OptionError,
    StoreError,
    UnknownNameError,
)
from graph.jobs.candidate_pages import list_candidates
from graph.jobs.candidates import (
    NewCandidate,
    QueryCounts,
    decide,
    read_verdicts,
    record_made,
    reject_made,
)
from graph.jobs.lifecycle import QUERY_STATES, cancel_job, create_job, query_id, retry_job
from graph.jobs.reports import (
    end_job,
    fail_job,
    fail_queries,
    finish_queries,
    heartbeat,
    start_queries,
    stop_worker,
    workers_alive,
)
from graph.jobs.rounds import Span, begin_round, read_query_progress
from graph.jobs.status import list_jobs, measured_speeds, read_job, read_queries
from graph.records import Annotations, ImageRecord, Mention

COUNTS = [counter.name for counter in JOB_COUNTERS]

QUERIES = [("a", ("x", "y"), 3), ("b", ("x",), 2), ("a", ("y",), 5)]


@pytest.fixture
def loaded(store, dataset):
    records = [ImageRecord(f"{i}", "ab"[i % 2], (Mention("x"), Mention("y"))) for i in range(8)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)
    return dataset


@pytest.fixture
def job(store, loaded):
    return create_job(store, loaded, "mine", QUERIES, created_by="ann", settings={"preset": "fast"})


def accepted(query, index, **changes):
    return NewCandidate(f"{query}/{index}", f"{index}.png", "accepted", seconds=2.0, **changes)


def rejected(query, index, **changes):
    return NewCandidate(
        f"{query}/{index}", f"{index}.png", "rejected", reason="blank", seconds=2.0, **changes
    )


def states(store, job):
    return read_queries(store, job)["state"].tolist()


def test_a_job_is_its_queries_and_nothing_more(store, loaded, job):
    read = read_job(store, job)
    assert (read.id, read.dataset, read.plan, read.state) == (job, loaded, "mine", "queued")
    assert (read.settings, read.created_by, read.error) == ({"preset": "fast"}, "ann", "")
    assert read.queries == {"queued": 3, "running": 0, "done": 0, "failed": 0}
    assert (read.wanted, read.remaining, read.accepted, read.progress) == (10, 10, 0, 0.0)
    assert read.created_at is not None
    assert (read.started_at, read.seconds_left, read.workers) == (None, None, 0)
    frame = read_queries(store, job)
    found = list(zip(frame["class_name"], frame["concepts"], frame["n"], strict=True))
    assert found == QUERIES
    assert frame["id"].tolist() == [query_id(job, i) for i in range(3)]
    assert frame["seconds_left"].isna().all()
    assert [found.id for found in list_jobs(store, loaded)] == [job]
    edges = store.read(
        "MATCH (:Job {id: $job})-[:RUNS]->(q)-[:REBALANCES]->(k:Clique) "
        "MATCH (q)-[:FOR_CLASS]->(y:Class) "
        "RETURN k.concepts AS concepts, y.name AS name ORDER BY q.position",
        job=job,
    )
    assert [(e["name"], tuple(e["concepts"])) for e in edges] == [q[:2] for q in QUERIES]


def test_the_course_of_a_job(store, loaded, job):
    first, second, third = (query_id(job, i) for i in range(3))
    assert start_queries(store, job, 0, [first]) == loaded
    assert read_job(store, job).state == "running"
    counts = record_made(store, job, {first: [accepted(first, 0), rejected(first, 1)]})
    assert counts == {first: QueryCounts(n=3, accepted=1, rejected=1)}
    read = read_job(store, job)
    assert (read.seconds, read.seconds_per_image, read.remaining) == (4.0, 4.0, 9)
    assert read.seconds_left == 36.0
    queries = read_queries(store, job, seconds_per_image=5.0)
    assert queries["seconds_left"].tolist() == [8.0, 10.0, 25.0]
    assert read_queries(store, job)["seconds_left"].notna().tolist() == [True, False, False]
    record_made(store, job, {first: [accepted(first, i) for i in (2, 3)]})
    finish_queries(store, job, {first: ""})
    assert states(store, job) == ["done", "queued", "queued"]
    assert start_queries(store, job, 0, [first, second, third]) == loaded
    assert states(store, job) == ["done", "running", "running"]
    finish_queries(store, job, {third: "the cap of 20 candidates was reached"})
    end_job(store, job)
    assert read_job(store, job).state == "running"
    fail_job(store, job, "CUDA out of memory")
    assert states(store, job) == ["done", "failed", "done"]
    read = read_job(store, job)
    assert (read.state, read.short, read.seconds_left) == ("failed", 1, None)
    assert read.ended_at is not None
    assert read_queries(store, job)["message"].tolist() == [
        "",
        "CUDA out of memory",
        "the cap of 20 candidates was reached",
    ]
    assert retry_job(store, job) == 1
    read = read_job(store, job)
    assert (read.state, read.error, read.ended_at) == ("queued", "", None)
    assert states(store, job) == ["done", "queued", "done"]
    assert start_queries(store, job, 0, [second]) is None  # the attempt before
    assert start_queries(store, job, 1, [second]) == loaded
    finish_queries(store, job, {second: ""})
    assert read_job(store, job).state == "running"
    end_job(store, job)
    read = read_job(store, job)
    assert (read.state, read.ended_at is None) == ("done", False)


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


def test_workers_are_alive_while_they_are_heard_of(store, job):
    name = f"worker of {job}"
    heartbeat(store, name, host="here")
    heartbeat(store, name, host="here", job=job)
    (alive,) = [worker for worker in workers_alive(store) if worker.id == name]
    assert (alive.host, alive.job) == ("here", job)
    assert 0 <= alive.silent_s < 30
    store.write(
        "MATCH (w:Worker {id: $id}) SET w.heartbeat_at = datetime() - duration('PT1M')", id=name
    )
    assert name not in [worker.id for worker in workers_alive(store)]
    assert name in [worker.id for worker in workers_alive(store, within_s=90)]
    store.write(
        "MATCH (w:Worker {id: $id}) SET w.heartbeat_at = datetime() - duration('P2D')", id=name
    )
    heartbeat(store, f"{name} 2")
    assert store.read("MATCH (w:Worker {id: $id}) RETURN w.id", id=name) == []
    stop_worker(store, f"{name} 2")
    heartbeat(store, name, job="no such job")
    stop_worker(store, name)


def test_reports_may_be_repeated(store, dump, loaded, job):
    query = query_id(job, 0)
    batch = [accepted(query, 0, scores={"clip": 0.7}, seed=-5), rejected(query, 1)]
    for _ in range(3):
        assert start_queries(store, job, 0, [query]) == loaded
        assert record_made(store, job, {query: batch}) == {query: QueryCounts(3, 1, 1)}
    before = dump(loaded)
    record_made(store, job, {query: batch})
    after = dump(loaded)
    assert {t for t in before if "Candidate" in t} == {t for t in after if "Candidate" in t}
    for message in ("enough", "more than enough"):
        finish_queries(store, job, {query: message})
    assert read_queries(store, job)["message"].tolist() == ["enough", "", ""]
    assert start_queries(store, job, 0, [query]) is None
    for _ in range(2):
        assert cancel_job(store, job) == "cancelled"
    fail_job(store, job, "too late")
    end_job(store, job)
    assert read_job(store, job).state == "cancelled"
    assert states(store, job) == ["done", "queued", "queued"]


def test_a_decision_by_hand_outlives_a_repeated_report(store, job):
    query = query_id(job, 0)
    batch = [accepted(query, i) for i in range(3)]
    record_made(store, job, {query: batch})
    assert decide(store, batch[1].id, "rejected", "ann") == QueryCounts(3, 2, 1)
    assert decide(store, batch[1].id, "rejected", "ann") == QueryCounts(3, 2, 1)
    assert record_made(store, job, {query: batch}) == {query: QueryCounts(3, 2, 1)}
    (candidate,) = list_candidates(store, job, verdict="rejected").candidates
    assert (candidate.id, candidate.decided_by) == (batch[1].id, "ann")
    assert candidate.decided_at is not None
    assert decide(store, batch[1].id, "accepted", "") == QueryCounts(3, 3, 0)


def test_what_is_found_twice_is_rejected_unless_people_decided(store, job):
    first, second = query_id(job, 0), query_id(job, 1)
    made = {first: [accepted(first, i) for i in range(3)], second: [accepted(second, 0)]}
    record_made(store, job, made)
    decide(store, f"{first}/1", "accepted", "ann")
    for reason in ("twice", "found twice again"):
        reject_made(store, job, dict.fromkeys([f"{first}/1", f"{first}/2", f"{second}/0"], reason))
    assert read_verdicts(store, job) == {
        f"{first}/0": {"verdict": "accepted", "reason": "", "decided_by": None},
        f"{first}/1": {"verdict": "accepted", "reason": "", "decided_by": "ann"},
        f"{first}/2": {"verdict": "rejected", "reason": "twice", "decided_by": None},
        f"{second}/0": {"verdict": "rejected", "reason": "twice", "decided_by": None},
    }
    assert read_queries(store, job)["accepted"].tolist() == [2, 0, 0]
    assert counted(store, job) == recounted(store, job)


def test_a_query_has_only_so_many_images(store, loaded):
    with pytest.raises(OptionError, match="1,000,000,000 or fewer"):
        create_job(store, loaded, "mine", [("a", ("x",), 10**30)])


def test_what_is_done_with_too_few_can_be_queued_again(store, job):
    wanted = {query_id(job, position): n for position, (_, _, n) in enumerate(QUERIES)}
    start_queries(store, job, 0, list(wanted))
    made = {query: [accepted(query, i) for i in range(n)] for query, n in wanted.items()}
    assert record_made(store, job, made) == {q: QueryCounts(n, n, 0) for q, n in wanted.items()}
    finish_queries(store, job, dict.fromkeys(wanted, ""))
    end_job(store, job)
    assert read_job(store, job).state == "done"
    decide(store, f"{query_id(job, 1)}/0", "rejected", "ann")
    read = read_job(store, job)
    assert (read.state, read.short, read.covered, read.progress) == ("done", 1, 9, 0.9)
    assert retry_job(store, job) == 0
    assert read_job(store, job).state == "done"
    assert retry_job(store, job, short=True) == 1
    assert states(store, job) == ["done", "queued", "done"]
    assert read_job(store, job).state == "queued"


def test_a_running_job_tries_again_for_more_than_its_cap(store, job):
    first = query_id(job, 0)
    start_queries(store, job, 0, [first])
    record_made(store, job, {first: [rejected(first, i) for i in range(3)]})
    finish_queries(store, job, {first: "the cap was reached"})
    assert retry_job(store, job, short=True) == 1
    assert read_job(store, job).state == "running"
    assert [query.retries for query in read_query_progress(store, job)] == [1, 0, 0]
    spans, ended = next_spans(read_query_progress(store, job)[:1], candidates_per_image=1)
    assert spans == [Span(0, 3, 3)]
    assert not ended


def test_more_may_be_accepted_than_wanted(store, job):
    query = query_id(job, 1)
    batch = [accepted(query, 0), accepted(query, 1), rejected(query, 2)]
    record_made(store, job, {query: batch})
    decide(store, batch[2].id, "accepted", "ann")
    read = read_job(store, job)
    assert (read.accepted, read.covered, read.remaining) == (3, 2, 8)


def test_a_cancelled_job_starts_nothing_and_can_go_on(store, job):
    first, second, _ = (query_id(job, i) for i in range(3))
    start_queries(store, job, 0, [first, second])
    finish_queries(store, job, {first: ""})
    assert cancel_job(store, job) == "cancelled"
    assert start_queries(store, job, 0, [second]) is None
    assert states(store, job) == ["done", "queued", "queued"]
    # What a worker was about to report is taken, and does not bring the job back to life.
    assert record_made(store, job, {second: [accepted(second, 0)]})[second].accepted == 1
    finish_queries(store, job, {second: ""})
    end_job(store, job)
    assert read_job(store, job).state == "cancelled"
    assert retry_job(store, job) == 0
    assert read_job(store, job).state == "queued"
    assert states(store, job) == ["done", "done", "queued"]


def test_a_cancelled_job_with_nothing_left_stays_cancelled(store, job):
    cancel_job(store, job)
    finish_queries(store, job, {query_id(job, i): "" for i in range(3)})
    end_job(store, job)
    assert retry_job(store, job) == 0
    assert read_job(store, job).state == "cancelled"


def test_a_job_that_cannot_go_on(store, job):
    first = query_id(job, 0)
    start_queries(store, job, 0, [first])
    finish_queries(store, job, {first: ""})
    fail_job(store, job, "the folder of the model is missing")
    fail_job(store, job, "another worker finds the same")
    end_job(store, job)
    assert start_queries(store, job, 0, [query_id(job, 1)]) is None
    read = read_job(store, job)
    assert (read.state, read.error) == ("failed", "the folder of the model is missing")
    assert states(store, job) == ["done", "failed", "failed"]
    assert retry_job(store, job) == 2
    read = read_job(store, job)
    assert (read.state, read.error) == ("queued", "")


def test_a_job_that_failed_with_all_queries_done_can_be_tried_again(store, job):
    """Such as for want of room for its manifest."""
    queries = [query_id(job, i) for i in range(3)]
    finish_queries(store, job, dict.fromkeys(queries, ""))
    assert states(store, job) == ["done"] * 3
    assert read_job(store, job).state == "queued"
    fail_job(store, job, "the disk is full")
    assert read_job(store, job).state == "failed"
    assert retry_job(store, job) == 0
    assert read_job(store, job).state == "queued"
    end_job(store, job)
    read = read_job(store, job)
    assert (read.state, read.error, read.queries["done"]) == ("done", "", 3)


def test_queries_that_cannot_go_on_fail_the_job_at_its_end(store, job):
    first, second, third = (query_id(job, i) for i in range(3))
    fail_queries(store, job, 1, [second], "of another attempt")
    fail_queries(store, job, 0, [first, third], "nothing shows an a")
    read = read_job(store, job)
    assert (read.state, read.queries["failed"], read.remaining) == ("queued", 2, 2)
    end_job(store, job)
    assert read_job(store, job).state == "queued"
    finish_queries(store, job, {second: ""})
    end_job(store, job, note="one is blurred")
    read = read_job(store, job)
    assert (read.state, read.error, read.note) == (
        "failed",
        "nothing shows an a",
        "one is blurred",
    )
    assert read.remarks == ("nothing shows an a", "one is blurred")
    fail_queries(store, job, 0, [second], "too late")
    assert states(store, job) == ["failed", "done", "failed"]
    assert retry_job(store, job) == 2
    assert read_job(store, job).remarks == ()


def test_a_job_knows_that_its_dataset_has_changed(store, loaded, job):
    assert not read_job(store, job).dataset_changed
    more = Annotations.from_records([ImageRecord("0", "b", (Mention("x"),))])
    write_annotations(store, loaded, more, source="a test")
    assert read_job(store, job).dataset_changed
    assert "have changed since this job was ordered" in read_job(store, job).remarks[0]
    assert not read_job(store, create_job(store, loaded, "mine", QUERIES)).dataset_changed


def test_whoever_decides_for_a_round_that_is_over_ends_nothing(store, job):
    queries = [query_id(job, i) for i in range(3)]
    begin_round(store, job, 0, [Span(0, 0, 1)])
    begin_round(store, job, 1, [Span(0, 1, 1)])
    finish_queries(store, job, {queries[0]: ""}, after=0)
    assert states(store, job) == ["queued"] * 3
    finish_queries(store, job, {queries[0]: "enough"}, after=1)
    assert states(store, job) == ["done", "queued", "queued"]
    end_job(store, job)
    assert read_job(store, job).state == "queued"
    assert counted(store, job) == recounted(store, job)


def test_an_ended_job_is_not_cancelled(store, job):
    finish_queries(store, job, {query_id(job, i): "" for i in range(3)})
    end_job(store, job)
    assert cancel_job(store, job) == "done"


def test_candidates_come_with_all_that_was_reported_in_pages(store, job):
    query, other = query_id(job, 0), query_id(job, 1)
    full = NewCandidate(
        f"{query}/0",
        "file:///out/0.png",
        "rejected",
        {"clip": 0.25, "objects": 1.0},
        "the cow is missing",
        "7",
        "cars/7.jpg",
        "masks/7.png",
        -(2**63),
        1.5,
    )
    record_made(store, job, {query: [full]})
    later = {query: [accepted(query, i) for i in range(1, 6)]}
    record_made(store, job, later | {other: [NewCandidate(f"{other}/0", None, "rejected")]})
    (read,) = list_candidates(store, job, per_page=1).candidates
    assert (read.class_name, read.concepts, read.query) == ("a", ("x", "y"), query)
    assert (read.uri, read.source_image, read.source_uri, read.mask_uri) == (
        "file:///out/0.png",
        "7",
        "cars/7.jpg",
        "masks/7.png",
    )
    assert read.scores == {"clip": 0.25, "objects": 1.0}
    assert (read.reason, read.seed, read.seconds) == ("the cow is missing", -(2**63), 1.5)
    assert (read.verdict, read.decided_by) == ("rejected", None)
    pages = [list_candidates(store, job, page=i, per_page=3) for i in (1, 2, 3, 4)]
    assert [len(page.candidates) for page in pages] == [3, 3, 1, 0]
    assert {page.total for page in pages} == {7}
    assert len({c.id for page in pages for c in page.candidates}) == 7
    assert list_candidates(store, job, query=query).total == 6
    assert list_candidates(store, job, query=query, verdict="accepted").total == 5
    assert list_candidates(store, job, verdict="rejected").total == 2
    assert list_candidates(store, "no such job", query=query).total == 0


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


def test_planning_and_mining_anew_change_no_job(store, loaded):
    def load(*annotated):
        records = [
            ImageRecord(str(i), class_name, tuple(Mention(name) for name in names))
            for i, (class_name, names) in enumerate(annotated)
        ]
        annotations = Annotations.from_records(records)
        write_annotations(store, loaded, annotations, source="a test", replace=True)
        mine_dataset(store, loaded, MiningOptions(2), max_cliques=100)
        return plan_dataset(store, loaded, "conbias", PlanOptions(1, 2)).plan

    planned = load(("a", "xy"), ("a", "xy"), ("a", "x"), ("b", "x"), ("b", "y"))
    queries = [(query.class_name, query.concepts, query.n) for query in planned.queries]
    assert ("b", ("x", "y"), 2) in queries
    job = create_job(store, loaded, "conbias", queries)
    before = read_queries(store, job)
    assert ("b", ("x", "y"), 2) not in [
        (query.class_name, query.concepts, query.n)
        for query in load(("a", "x"), ("b", "x"), ("b", "x")).queries
    ]
    pd.testing.assert_frame_equal(read_queries(store, job), before)
    assert start_queries(store, job, 0, [query_id(job, 0)]) == loaded


def test_the_same_job_created_twice(store, loaded, dump):
    job = create_job(store, loaded, "mine", QUERIES)
    before = dump(loaded)
    assert create_job(store, loaded, "mine", QUERIES, job=job) == job
    assert dump(loaded) == before


class StopError(Exception):
    pass


def test_a_creation_that_was_interrupted_goes_on(store, loaded):
    queries = [("a", ("x",), i + 1) for i in range(2500)]

    def stop(stage, done, total):
        if done < total:
            raise StopError

    with pytest.raises(StopError):
        create_job(store, loaded, "mine", queries, job=f"{loaded} job", progress=stop)
    job = f"{loaded} job"
    assert read_job(store, job).state == "preparing"
    assert start_queries(store, job, 0, [query_id(job, 0)]) is None
    assert retry_job(store, job) == 0
    with pytest.raises(StopError):
        create_job(store, loaded, "mine", queries, progress=stop)
    (left,) = list_jobs(store, loaded)
    assert left.id == job  # of the other nothing is left, nor of its queries
    held = store.read("MATCH (q:JobQuery {dataset: $d}) RETURN DISTINCT q.job AS id", d=loaded)
    assert [row["id"] for row in held] == [job]
    assert create_job(store, loaded, "mine", queries, job=job) == job
    read = read_job(store, job)
    assert (read.state, read.queries["queued"], read.wanted) == (
        "queued",
        2500,
        2500 * 2501 // 2,
    )


def test_a_job_cancelled_before_it_was_whole_is_not_taken_up_again(store, loaded):
    queries = [("a", ("x",), i + 1) for i in range(2500)]
    job = f"{loaded} job"

    def cancel(stage, done, total):
        if done < total:
            cancel_job(store, job)

    with pytest.raises(StoreError):
        create_job(store, loaded, "mine", queries, job=job, progress=cancel)
    with pytest.raises(OptionError, match="has a part of its queries"):
        retry_job(store, job, short=True)
    assert read_job(store, job).state == "cancelled"


@pytest.mark.parametrize(
    ("queries", "error", "message"),
    [
        ([], OptionError, "asks for no images"),
        ([("c", ("x",), 1)], UnknownNameError, "unknown class 'c'. Known: a, b."),
        ([("a", ("x", "z"), 1)], UnknownNameError, "unknown concept 'z'. Known: x, y."),
        ([("a", ("x",), 0)], OptionError, "asks for 0 images"),
    ],
)
def test_plans_that_no_job_can_run(store, loaded, queries, error, message):
    with pytest.raises(error, match=message):
        create_job(store, loaded, "mine", queries)
    assert list_jobs(store, loaded) == []


def test_no_job_without_its_dataset(store, dataset):
    with pytest.raises(DatasetNotFoundError):
        create_job(store, dataset, "mine", QUERIES)


def test_names_that_are_not_there(store, job):
    for call in (
        lambda: read_job(store, "no"),
        lambda: cancel_job(store, "no"),
        lambda: retry_job(store, "no"),
        lambda: fail_job(store, "no", ""),
        lambda: record_made(store, "no", {"no/000000": []}),
        lambda: decide(store, "no", "accepted", ""),
    ):
        with pytest.raises(JobNotFoundError, match=r"There is no .* 'no'"):
            call()
    # Of a job that was dropped there is nothing left to begin, finish, reject or end.
    assert start_queries(store, "no", 0, ["no/000000"]) is None
    finish_queries(store, "no", {"no/000000": ""})
    reject_made(store, "no", {"no/000000/0": "twice"})
    end_job(store, "no")
    with pytest.raises(UnknownNameError, match="unknown verdict 'maybe'"):
        decide(store, "no", "maybe", "")
    with pytest.raises(UnknownNameError, match="unknown verdict 'maybe'"):
        NewCandidate("1", None, "maybe")


def test_a_candidate_stays_with_its_query(store, job):
    first, second = query_id(job, 0), query_id(job, 1)
    candidate = accepted(first, 0)
    record_made(store, job, {first: [candidate]})
    assert record_made(store, job, {second: [candidate]}) == {second: QueryCounts(2, 0, 0)}
    assert read_queries(store, job)["accepted"].tolist() == [1, 0, 0]
    made_for = store.read(
        "MATCH (:Candidate {id: $id})-[:MADE_FOR]->(q) RETURN q.id AS query", id=candidate.id
    )
    assert made_for == [{"query": first}]


def test_hostile_names_are_data(store, dataset):
    names = ("}) DETACH DELETE n //", "'\"`$x", "<b>\u202e")
    records = [ImageRecord(str(i), names[i % 2], (Mention(names[2]),)) for i in range(4)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    job = create_job(store, dataset, names[0], [(names[1], (names[2],), 1)], created_by=names[1])
    query = query_id(job, 0)
    made = NewCandidate(names[0], names[1], "rejected", {names[2]: 1.0}, names[0], names[1])
    record_made(store, job, {query: [made]})
    decide(store, names[0], "accepted", names[2])
    (read,) = list_candidates(store, job).candidates
    assert (read.id, read.uri, read.reason, read.decided_by) == (
        names[0],
        names[1],
        names[0],
        names[2],
    )
    finish_queries(store, job, {query: names[2]})
    fail_job(store, job, names[0])
    read = read_job(store, job)
    assert (read.created_by, read.error) == (names[1], names[0])
    assert read_queries(store, job)["message"].tolist() == [names[2]]


def test_drop_takes_jobs_along(store, loaded, job):
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, 0)]})
    drop_dataset(store, loaded)
    with pytest.raises(JobNotFoundError, match="dropped with its dataset"):
        record_made(store, job, {query: [accepted(query, 1)]})
    left = store.read("MATCH (n {dataset: $d}) RETURN count(n) AS n", d=loaded)
    assert left == [{"n": 0}]


def test_rename_takes_jobs_along(store, loaded, job):
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, 0)]})
    new = f"{loaded} renamed"
    rename_dataset(store, loaded, new)
    record_made(store, job, {query: [accepted(query, 1)]})
    assert [found.id for found in list_jobs(store, new)] == [job]
    assert list_jobs(store, loaded) == []
    labels = store.read(
        "MATCH (n {dataset: $d}) WHERE n:Job OR n:JobQuery OR n:Candidate "
        "RETURN labels(n)[0] AS label, count(n) AS n ORDER BY label",
        d=new,
    )
    assert labels == [
        {"label": "Candidate", "n": 2},
        {"label": "Job", "n": 1},
        {"label": "JobQuery", "n": 3},
    ]


@pytest.mark.parametrize("change", ["drop", "rename"])
def test_a_worker_reports_while_its_dataset_is_dropped_or_renamed(store, loaded, job, change):
    """Between any two steps of the change a report is taken, or refused, but never left behind."""
    query, made = query_id(job, 0), []

    def report(stage, done, total):
        try:
            record_made(store, job, {query: [accepted(query, len(made))]})
        except JobNotFoundError:
            made.append(False)
        else:
            made.append(True)

    new = f"{loaded} renamed"
    if change == "drop":
        drop_dataset(store, loaded, report)
        assert made[0]
        assert not any(made[1:])
        assert store.read("MATCH (c:Candidate {query: $q}) RETURN c.id", q=query) == []
        return
    rename_dataset(store, loaded, new, report)
    assert all(made)
    found = store.read(
        "MATCH (c:Candidate {query: $q}) RETURN DISTINCT c.dataset AS dataset", q=query
    )
    assert found == [{"dataset": new}]
    assert read_queries(store, job)["accepted"].tolist()[0] == len(made)


def test_no_job_is_created_while_its_dataset_is_dropped(store, loaded):
    refused = []

    def create(stage, done, total):
        if done == 0:
            with pytest.raises((StoreError, DatasetNotFoundError)) as error:
                create_job(store, loaded, "mine", QUERIES)
            refused.append(error)

    drop_dataset(store, loaded, create)
    assert len(refused) == 1
    assert store.read("MATCH (j:Job {dataset: $d}) RETURN j.id", d=loaded) == []


def test_several_writers_at_once_lose_and_double_nothing(settings, store, loaded):
    """Workers with a connection each report the same candidates, persons decide, all repeated."""
    queries = [("a", ("x",), 40), ("b", ("y",), 40)]
    job = create_job(store, loaded, "mine", queries)
    ids = [query_id(job, i) for i in range(2)]

    def work(seed):
        random = Random(seed)
        with open_store(settings) as own:
            for query in random.sample(ids, 2):
                start_queries(own, job, 0, [query])
                indexes = list(range(40))
                random.shuffle(indexes)
                for start in range(0, 40, 8):
                    batch = [accepted(query, i) for i in indexes[start : start + 8]]
                    record_made(own, job, {query: batch})
                    decide(own, random.choice(batch).id, "rejected", f"person {seed}")
                    heartbeat(own, f"{job} {seed}", job=job)
                finish_queries(own, job, {query: ""})
                end_job(own, job)
            stop_worker(own, f"{job} {seed}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    read = read_job(store, job)
    assert read.state == "done"
    assert (read.accepted + read.rejected, read.seconds) == (80, 160.0)
    (counted,) = store.read(
        "MATCH (c:Candidate {job: $job})-[m:MADE_FOR]->() RETURN count(m) AS edges, "
        "count(DISTINCT c) AS made, sum(CASE c.verdict WHEN 'accepted' THEN 1 ELSE 0 END) AS yes",
        job=job,
    )
    assert counted == {"edges": 80, "made": 80, "yes": read.accepted}
    assert read.rejected > 0


def test_the_last_two_queries_end_at_once(settings, store, loaded):
    """Whoever comes second ends the job: it sees that the other query has ended."""

    def end(own, job, position):
        finish_queries(own, job, {query_id(job, position): ""})
        end_job(own, job)

    with open_store(settings) as one, open_store(settings) as two, ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            job = create_job(store, loaded, "mine", QUERIES[:2])
            start_queries(store, job, 0, [query_id(job, position) for position in range(2)])
            ends = [pool.submit(end, own, job, position) for position, own in enumerate((one, two))]
            for ended in ends:
                ended.result()
            assert read_job(store, job).state == "done"


def recounted(store, job):
    """What the job's counts say, from its queries one by one."""
    queries = read_queries(store, job)
    states = queries["state"]
    missing = (queries["n"] - queries["accepted"]).clip(lower=0)
    return {
        "queries": {state: int((states == state).sum()) for state in QUERY_STATES},
        "short": int(((states == "done") & (missing > 0)).sum()),
        "wanted": int(queries["n"].sum()),
        "covered": int((queries["n"] - missing).sum()),
        "accepted": int(queries["accepted"].sum()),
        "rejected": int(queries["rejected"].sum()),
        "remaining": int(missing[states.isin(["queued", "running"])].sum()),
        "seconds": pytest.approx(queries["seconds"].sum(), abs=1e-5),
    }


def counted(store, job):
    found = asdict(read_job(store, job))
    return {name: found[name] for name in recounted(store, job)}


def act_at_random(store, job, random, steps):
    """Report, decide, cancel and try again, in any order, whether it makes sense or not."""
    made = []
    for _ in range(steps):
        positions = random.sample(range(len(QUERIES)), random.randint(1, len(QUERIES)))
        queries = [query_id(job, position) for position in positions]
        acts = ["start", "report", "report", "decide", "reject", "finish", "fail", "job"]
        match random.choice(acts):
            case "start":
                attempt = begin_round(store, job, 0, []).attempt
                start_queries(store, job, attempt, queries)
            case "report":
                found = {
                    query: NewCandidate(
                        f"{query}/{random.randrange(8)}",
                        "0.png",
                        random.choice(["accepted", "rejected"]),
                        seconds=random.choice([None, random.random()]),
                    )
                    for query in queries
                }
                record_made(store, job, {query: [one] for query, one in found.items()})
                made += [one.id for one in found.values()]
            case "decide" if made:
                decide(store, random.choice(made), random.choice(["accepted", "rejected"]), "ann")
            case "reject" if made:
                reject_made(store, job, dict.fromkeys(random.choices(made, k=2), "twice"))
            case "finish":
                finish_queries(store, job, dict.fromkeys(queries, ""))
            case "fail":
                attempt = begin_round(store, job, 0, []).attempt
                fail_queries(store, job, attempt, queries, "no object")
            case "job":
                act_on_job(store, job, random)


def act_on_job(store, job, random):
    match random.choice(["cancel", "retry", "end", "fail", "fill"]):
        case "cancel":
            cancel_job(store, job)
        case "retry":
            retry_job(store, job)
        case "end":
            end_job(store, job)
        case "fail":
            fail_job(store, job, "no model")
        case "fill":
            retry_job(store, job, short=True)


@pytest.mark.parametrize("seed", range(3))
def test_the_counts_of_a_job_are_those_of_its_queries(store, job, seed):
    random = Random(seed)
    for _ in range(12):
        act_at_random(store, job, random, 5)
        assert counted(store, job) == recounted(store, job)


def test_writers_at_once_leave_no_count_out(store, job):
    with ThreadPoolExecutor(6) as pool:
        for turn in range(5):
            seeds = range(6 * turn, 6 * turn + 6)
            running = [pool.submit(act_at_random, store, job, Random(seed), 5) for seed in seeds]
            for writer in running:
                writer.result()
            assert counted(store, job) == recounted(store, job)
    assert counted(store, job)["accepted"] > 0


def test_a_store_from_before_the_counts_gets_them(store, job):
    act_at_random(store, job, Random(7), 20)
    expected = read_job(store, job)
    store.write(f"MATCH (j:Job {{id: $job}}) REMOVE {', '.join(f'j.{c}' for c in COUNTS)}", job=job)
    for statement in MIGRATIONS[2].statements:
        if "Job" in statement:
            store.write(statement)
    assert read_job(store, job) == expected
