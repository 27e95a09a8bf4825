"""A job's counters equal the counts of its queries, whatever is done to it."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from graph.database.migrations import MIGRATIONS
from graph.database.schema import JOB_COUNTERS
from graph.jobs.status import read_job
from tests.graph.jobs.reporting import (
    act_at_random,
    counted,
    recounted,
)

COUNTS = [counter.name for counter in JOB_COUNTERS]


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
    for migration in MIGRATIONS[2:]:
        for statement in migration.statements:
            if "(j:Job" in statement:
                store.write(statement)
    assert read_job(store, job) == expected
