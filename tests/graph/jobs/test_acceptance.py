"""Why candidates are rejected, which are too many, and queries that do without the rest."""

import pytest

from cobalance.base.errors import NotFoundError
from cobalance.graph.jobs.acceptance import SURPLUS, Rejections, read_rejections, reject_surplus
from cobalance.graph.jobs.candidates import decide, record_made
from cobalance.graph.jobs.lifecycle import create_job, drop_short, query_id, retry_job
from cobalance.graph.jobs.reports import finish_queries
from cobalance.graph.jobs.rounds import begin_round
from cobalance.graph.jobs.status import read_job, read_queries
from tests.graph.jobs.reporting import (
    QUERIES,
    accepted,
    counted,
    recounted,
    rejected,
    verdicts_of,
)


def test_rejections_by_filter(store, job):
    first, second = query_id(job, 0), query_id(job, 1)
    by_filters = [
        rejected(first, 0, rejected_by=["objects", "clip"], not_found=["x"]),
        rejected(first, 1, rejected_by=["objects"], not_found=["x", "y"]),
        accepted(first, 2),
        rejected(first, 3),
    ]
    record_made(store, job, {first: by_filters, second: [accepted(second, 0)]})
    assert read_rejections(store, [first, second, query_id(job, 2)]) == {
        first: Rejections(4, [["objects", "clip"], ["objects"]], [["x"], ["x", "y"]], ["blank"]),
        second: Rejections(1, [], [], []),
    }


def test_what_the_filters_accept_beyond_the_first_ones_is_rejected(store, job):
    second = query_id(job, 1)  # which wants two
    made = [accepted(second, 11), rejected(second, 0), accepted(second, 9), accepted(second, 10)]
    record_made(store, job, {second: made})
    for _ in range(2):
        reject_surplus(store, job, [second])
        assert read_job(store, job).accepted == 2
        assert read_queries(store, job)["surplus"].tolist() == [0, 1, 0]
    assert counted(store, job) == recounted(store, job)
    verdicts = verdicts_of(store, job)
    assert verdicts[f"{second}/11"]["reason"] == SURPLUS
    assert [verdicts[f"{second}/{n}"]["verdict"] for n in (9, 10)] == ["accepted"] * 2

    # What people accept takes no place of what the filters do.
    decide(store, f"{second}/0", "accepted", "ann")
    decide(store, f"{second}/11", "accepted", "ann")
    reject_surplus(store, job, [second])
    assert read_job(store, job).accepted == 4


def test_short_queries_do_without_the_rest(store, job):
    first, second, _ = (query_id(job, position) for position in range(3))
    record_made(store, job, {first: [accepted(first, 0)], second: [rejected(second, 0)]})
    finish_queries(store, job, {first: "", second: "It will not be had."})
    assert (read_job(store, job).wanted, read_job(store, job).short) == (10, 2)
    assert drop_short(store, job) == 2
    frame = read_queries(store, job)
    assert frame["n"].tolist() == [1, 0, 5]
    assert frame["message"].tolist() == [
        "Dropped: 1 of 3 images are enough.",
        "Dropped: 0 of 2 images are enough.",
        "",
    ]
    found = read_job(store, job)
    assert (found.wanted, found.covered, found.short, found.state) == (6, 1, 0, "queued")
    assert counted(store, job) == recounted(store, job)
    assert drop_short(store, job) == retry_job(store, job, short=True) == 0
    with pytest.raises(NotFoundError):
        drop_short(store, f"{job}x")


def test_time_and_money_by_the_expected_candidates(store, loaded):
    prices = {"hour_price": 1800.0, "making": {"price": 0.5}}
    job = create_job(store, loaded, "mine", QUERIES, settings=prices)
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, 0), rejected(query, 1)]})
    found = read_job(store, job)
    assert (found.candidates_left, found.cost_left) == (None, None)
    # Two candidates of 2 s at 0.5 a second, and 0.5 each.
    assert (found.cost, found.accepted_per_money, found.accepted_per_second) == (3.0, 1 / 3, 0.25)

    begin_round(store, job, 0, [], expected=(12, 1, 30))
    found = read_job(store, job)
    assert found.candidates_left == (10, 0, 28)
    assert (found.seconds_left, found.cost_left) == (20.0, 15.0)


def test_without_a_price_there_is_no_cost(store, job):
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, 0)]})
    found = read_job(store, job)
    assert (found.cost, found.cost_left, found.accepted_per_money) == (None, None, None)
