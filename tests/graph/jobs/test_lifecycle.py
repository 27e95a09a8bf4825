"""Jobs created, cancelled, retried, dropped and renamed, also twice and interrupted."""

import pandas as pd
import pytest

from cobalance.base.errors import (
    ConflictError,
    DataError,
    NotFoundError,
    OptionError,
    StoreError,
    UnknownNameError,
)
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.jobs.rounds import next_spans
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import (
    NewCandidate,
    QueryCounts,
    decide,
    record_made,
    reject_made,
)
from cobalance.graph.jobs.lifecycle import cancel_job, create_job, query_id, retry_job
from cobalance.graph.jobs.reports import end_job, fail_job, finish_queries, start_queries
from cobalance.graph.jobs.rounds import Span, read_query_progress
from cobalance.graph.jobs.status import list_jobs, read_job, read_queries
from cobalance.workflows.plan.planners import plan_dataset
from tests.graph.jobs.reporting import QUERIES, accepted, rejected, states


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


def test_a_query_has_only_so_many_images(store, loaded):
    with pytest.raises(DataError, match="1,000,000,000 or fewer"):
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


def test_an_ended_job_is_not_cancelled(store, job):
    finish_queries(store, job, {query_id(job, i): "" for i in range(3)})
    end_job(store, job)
    assert cancel_job(store, job) == "done"


def test_planning_and_mining_anew_change_no_job(store, loaded):
    def load(*annotated):
        records = [
            ImageRecord(str(i), class_name, tuple(Mention(name) for name in names))
            for i, (class_name, names) in enumerate(annotated)
        ]
        annotations = Annotations.from_records(records)
        write_annotations(store, loaded, annotations, source="a test", if_exists="replace")
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
    with pytest.raises(ConflictError, match="has a part of its queries"):
        retry_job(store, job, short=True)
    assert read_job(store, job).state == "cancelled"


@pytest.mark.parametrize(
    ("queries", "error", "message"),
    [
        ([], DataError, "asks for no images"),
        ([("c", ("x",), 1)], UnknownNameError, "unknown class 'c'. Known: a, b."),
        ([("a", ("x", "z"), 1)], UnknownNameError, "unknown concept 'z'. Known: x, y."),
        ([("a", ("x",), 0)], DataError, "asks for 0 images"),
    ],
)
def test_plans_that_no_job_can_run(store, loaded, queries, error, message):
    with pytest.raises(error, match=message):
        create_job(store, loaded, "mine", queries)
    assert list_jobs(store, loaded) == []


def test_no_job_without_its_dataset(store, dataset):
    with pytest.raises(NotFoundError):
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
        with pytest.raises(NotFoundError, match=r"There is no .* 'no'"):
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


def test_drop_takes_jobs_along(store, loaded, job):
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, 0)]})
    drop_dataset(store, loaded)
    with pytest.raises(NotFoundError, match="dropped with its dataset"):
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


def test_no_job_is_created_while_its_dataset_is_dropped(store, loaded):
    refused = []

    def create(stage, done, total):
        if done == 0:
            with pytest.raises((StoreError, NotFoundError)) as error:
                create_job(store, loaded, "mine", QUERIES)
            refused.append(error)

    drop_dataset(store, loaded, create)
    assert len(refused) == 1
    assert store.read("MATCH (j:Job {dataset: $d}) RETURN j.id", d=loaded) == []


def test_a_job_keeps_which_images_it_edits(store, loaded):
    edits = [Edit("0", "a b in x", ("a b in x", "there"), "c"), Edit("0"), Edit("1")]
    queries = [
        PlannedQuery("b", ("x", "y"), 1, edits[0]),
        PlannedQuery("nobody's class", ("x", "y"), 1, edits[1]),
        PlannedQuery("b", (), 1, edits[2]),
        PlannedQuery("b", ("x",), 2),
    ]
    job = create_job(store, loaded, "r", queries)
    progress = read_query_progress(store, job)
    assert [PlannedQuery(q.class_name, q.concepts, q.n, q.edit) for q in progress] == queries
    assert read_queries(store, job)["source_image"].tolist()[:3] == ["0", "0", "1"]
    rows = store.read(
        "MATCH (:Job {id: $job})-[:RUNS]->(q)-[r]->(n) WHERE q.source_image IS NOT NULL "
        "RETURN q.position AS at, type(r) AS type, coalesce(n.id, n.name) AS end",
        job=job,
    )
    assert {(row["at"], row["type"], row["end"]) for row in rows} == {
        *((0, "EDITS", "0"), (0, "FOR_CLASS", "b")),
        (1, "EDITS", "0"),
        *((2, "EDITS", "1"), (2, "FOR_CLASS", "b")),
    }


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([("b", (), 1, Edit("8")), ("b", (), 1, Edit("9"))], "no image '8', and 1 more, which is"),
        ([("c", (), 1, Edit("0"))] * 2, "Two queries ask for the image '0' edited to show 'c'"),
        ([("c", (), 0, Edit("0"))], "asks for 0 images"),
    ],
)
def test_edits_that_no_job_can_make(store, loaded, queries, message):
    with pytest.raises((OptionError, DataError), match=message):
        create_job(store, loaded, "mine", queries)
    assert list_jobs(store, loaded) == []
