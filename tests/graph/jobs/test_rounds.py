"""Rounds of a job: decisions about an earlier one are void."""

from graph.jobs.lifecycle import query_id
from graph.jobs.reports import (
    end_job,
    finish_queries,
)
from graph.jobs.rounds import Span, begin_round
from graph.jobs.status import read_job
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
