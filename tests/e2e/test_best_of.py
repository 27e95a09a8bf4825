"""The best of several candidates, chosen by real workers: what brute force chooses."""

import sys

import pytest

from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.jobs import rounds
from cobalance.generation.worker import job_runner
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.candidates import decide
from cobalance.graph.jobs.lifecycle import retry_job
from cobalance.graph.jobs.rebalance import read_accepted
from cobalance.graph.jobs.status import read_job, read_queries
from cobalance.workflows.rebalance import rebalance_job
from cobalance.workflows.work.run import worker_resources
from tests.browser.server import environment_of
from tests.e2e import scored
from tests.e2e.best_of import BEST_OF, QUERIES, assert_counted, assert_settled, order, winners
from tests.e2e.killing import kill_workers


@pytest.fixture(autouse=True)
def known_scores(monkeypatch):
    monkeypatch.setitem(sys.modules, "cobalance.generation.filters.blank", scored)


def test_the_winners_are_those_of_brute_force(store, loaded, own, work):
    job = order(store, loaded, chunk_size=64)  # other tests here have 2, 3 and 5
    work()
    assert_settled(store, own, job)
    messages = read_queries(store, job)["message"]
    assert messages.str.contains(r"have no score blank second, and are last by that\.").any()


def test_rounds_that_are_too_small_for_a_query(store, loaded, own, work, monkeypatch):
    monkeypatch.setattr(rounds, "MAX_ROUND", 7)
    job = order(store, loaded, chunk_size=3)
    work()
    assert_settled(store, own, job)


@pytest.mark.parametrize("keep_losers", [True, False])
def test_what_lost_is_kept_if_asked(store, loaded, own, work, tmp_path, keep_losers):
    job = order(store, loaded, keep_losers=keep_losers, chunk_size=5)
    work()
    assert_settled(store, own, job)
    folder = tmp_path / "generated" / job / "images"
    files = {tuple(map(int, path.stem.split("-"))) for path in folder.iterdir()}
    best = {(query, index) for query, chosen in winners().items() for index in chosen}
    nodes = list_candidates(store, job, per_page=1000)
    if keep_losers:
        assert best < files
        assert nodes.total == read_job(store, job).made
        loser = next(one for one in nodes.candidates if one.rank == 2 and one.verdict == "rejected")
        assert decide(store, loser.id, "accepted", "ann").accepted == 1
    else:
        assert files == best
        assert nodes.total == len(best)
    images = read_accepted(store, job)
    assert len(images) == len(best)
    mine_dataset(store, loaded, MiningOptions(2), max_cliques=100)
    merged = rebalance_job(store, own.folders(), read_job(store, job))
    assert merged.generated == len(best)
    drop_dataset(store, merged.dataset)


def test_workers_that_are_killed_choose_the_same(store, loaded, own, settings, tmp_path):
    """Killed by force at random progress, until the job is done."""
    url = f"sqlite:///{tmp_path}/killed.sqlite"
    environment = environment_of(settings) | {
        "COBALANCE_QUEUE": url,
        "COBALANCE_OUTPUT": own.folders().output,
        "OMP_NUM_THREADS": "1",
    }
    job = order(store, loaded, keep_losers=False, chunk_size=2)
    wanted = sum(n for _, _, n in QUERIES) * BEST_OF
    for _ in kill_workers(store, job, environment, wanted, kills=1):
        assert_counted(store, job)
    Worker(worker_resources(own), WorkerOptions(url, poll_s=0.05, until_idle=True)).run()
    assert_settled(store, own, job)


def test_a_query_that_fails_leaves_no_gap_when_it_is_tried_again(
    store, loaded, own, work, fails, monkeypatch
):
    """Its candidates whose numbers end in 1 fail; others are made at the same time."""
    monkeypatch.setattr(job_runner, "_REPEATS", 1)
    fails.POISON.add("gate")
    job = order(store, loaded, chunk_size=2, making={})
    work()
    found = read_job(store, job)
    assert (found.state, found.queries["failed"], found.pending > 0) == ("failed", 1, True)
    assert_counted(store, job)
    fails.POISON.clear()
    assert retry_job(store, job) == 1
    work()
    assert_settled(store, own, job)
