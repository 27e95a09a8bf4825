"""A job's counters equal the counts of its queries, whatever is done to it."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from graph.database.job_nodes import JOB_COUNTERS
from graph.database.migrations import MIGRATIONS
from graph.jobs.candidates import record_made
from graph.jobs.lifecycle import query_id
from graph.jobs.rounds import begin_round
from graph.jobs.status import read_job
from tests.graph.jobs.reporting import (
    accepted,
    act_at_random,
    counted,
    recounted,
    rejected,
)

COUNTS = [counter.name for counter in JOB_COUNTERS]


@pytest.mark.parametrize(("seed", "best_of"), [(0, 1), (1, 4), (2, 2)])
def test_the_counts_of_a_job_are_those_of_its_queries(store, job, seed, best_of):
    random = Random(seed)
    assert counted(store, job) == recounted(store, job)
    begin_round(store, job, 0, [], best_of=best_of)
    assert counted(store, job) == recounted(store, job)
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
    for migration in MIGRATIONS[2:]:
        for statement in migration.statements:
            if "(j:Job" in statement:
                store.write(statement)
    assert read_job(store, job) == expected


def test_a_store_from_before_unmade_candidates_were_counted_gets_their_number(store, job):
    query = query_id(job, 0)
    begin_round(store, job, 0, [], best_of=3)
    record_made(store, job, {query: [rejected(query, 0), accepted(query, 1)]})
    expected = read_job(store, job)
    assert expected.unmade == 3 * 10 - 2
    store.write("MATCH (j:Job {id: $job}) REMOVE j.unmade", job=job)
    (statement,) = MIGRATIONS[9].statements
    store.write(statement)
    assert read_job(store, job) == expected
