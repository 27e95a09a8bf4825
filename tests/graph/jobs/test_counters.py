"""A job's counters equal the counts of its queries, whatever is done to it."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from cobalance.graph.database.job_nodes import JOB_COUNTERS
from cobalance.graph.jobs.rounds import begin_round
from tests.graph.jobs.reporting import act_at_random, counted, recounted

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
