"""Candidates: reported again, decided by people, dropped and renamed with their dataset."""

import pytest

from cobalance.base.errors import NotFoundError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.candidates import (
    NewCandidate,
    QueryCounts,
    decide,
    record_made,
    reject_made,
)
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import fail_job, finish_queries
from cobalance.graph.jobs.status import read_job, read_queries
from tests.graph.jobs.reporting import accepted, counted, recounted, rejected, states, verdicts_of


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
    assert verdicts_of(store, job) == {
        f"{first}/0": {"verdict": "accepted", "reason": "", "decided_by": None},
        f"{first}/1": {"verdict": "accepted", "reason": "", "decided_by": "ann"},
        f"{first}/2": {"verdict": "rejected", "reason": "twice", "decided_by": None},
        f"{second}/0": {"verdict": "rejected", "reason": "twice", "decided_by": None},
    }
    assert read_queries(store, job)["accepted"].tolist() == [2, 0, 0]
    assert counted(store, job) == recounted(store, job)


def test_a_query_whose_candidates_are_all_in_one_report_ends_with_it(store, job):
    whole, short, other = (query_id(job, i) for i in range(3))
    record_made(store, job, {other: [accepted(other, 0)]}, finish=True)
    made = {
        whole: [*(accepted(whole, i) for i in range(3)), rejected(whole, 3)],
        short: [accepted(short, 0), rejected(short, 1)],
        other: [accepted(other, i) for i in range(1, 5)],  # and one of an earlier chunk
    }
    record_made(store, job, {whole: made[whole]})
    assert states(store, job) == ["queued", "queued", "queued"]
    for _ in range(2):
        record_made(store, job, made, finish=True)
        assert states(store, job) == ["done", "queued", "queued"]
        assert counted(store, job) == recounted(store, job)


def test_more_may_be_accepted_than_wanted(store, job):
    query = query_id(job, 1)
    batch = [accepted(query, 0), accepted(query, 1), rejected(query, 2)]
    record_made(store, job, {query: batch})
    decide(store, batch[2].id, "accepted", "ann")
    read = read_job(store, job)
    assert (read.accepted, read.covered, read.remaining) == (3, 2, 8)


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


@pytest.mark.parametrize("change", ["drop", "rename"])
def test_a_worker_reports_while_its_dataset_is_dropped_or_renamed(store, loaded, job, change):
    """Between any two steps of the change a report is taken, or refused, but never left behind."""
    query, made = query_id(job, 0), []

    def report(stage, done, total):
        try:
            record_made(store, job, {query: [accepted(query, len(made))]})
        except NotFoundError:
            made.append(False)
        else:
            made.append(True)

    new = f"{loaded} renamed"
    if change == "drop":
        drop_dataset(store, loaded, report)
        assert made[0]
        assert not made[-1]
        assert made == sorted(made, reverse=True)  # once refused, never taken again
        assert store.read("MATCH (c:Candidate {query: $q}) RETURN c.id", q=query) == []
        return
    rename_dataset(store, loaded, new, report)
    assert all(made)
    found = store.read(
        "MATCH (c:Candidate {query: $q}) RETURN DISTINCT c.dataset AS dataset", q=query
    )
    assert found == [{"dataset": new}]
    assert read_queries(store, job)["accepted"].tolist()[0] == len(made)
