"""Rounds of a job: decisions about an earlier one are void."""

from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import query_id, retry_job
from cobalance.graph.jobs.reports import end_job, fail_queries, finish_queries, start_queries
from cobalance.graph.jobs.rounds import Span, begin_round, missing_numbers, read_query_progress
from cobalance.graph.jobs.status import read_job
from tests.graph.jobs.reporting import counted, recounted, states


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


def test_the_numbers_that_a_failed_query_has_left_out(store, job):
    queries = [query_id(job, i) for i in range(3)]
    begin_round(store, job, 0, [Span(0, 0, 3), Span(2, 0, 5)])
    start_queries(store, job, 0, queries)
    for query, numbers in ((queries[0], (0, 1)), (queries[2], (1, 4))):
        made = [NewCandidate(f"{query}/{number:06d}", None, "rejected") for number in numbers]
        record_made(store, job, {query: made})
    assert missing_numbers(store, job, read_query_progress(store, job)) == {}
    fail_queries(store, job, 0, queries, "no object")
    retry_job(store, job)
    assert missing_numbers(store, job, read_query_progress(store, job)) == {2: [0, 2, 3]}
