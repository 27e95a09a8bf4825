"""The best of several candidates, chosen by real workers: what brute force chooses."""

import sys

import pytest

from generation.jobs import rounds
from graph.jobs.status import read_queries
from tests.e2e import scored
from tests.e2e.best_of import assert_settled, order


@pytest.fixture(autouse=True)
def known_scores(monkeypatch):
    monkeypatch.setitem(sys.modules, "generation.filters.blank", scored)


@pytest.mark.parametrize("chunk_size", [1, 4, 64])
def test_the_winners_are_those_of_brute_force(store, loaded, own, work, chunk_size):
    job = order(store, loaded, chunk_size=chunk_size)
    work()
    assert_settled(store, own, job)
    messages = read_queries(store, job)["message"]
    assert messages.str.contains(r"have no score blank second, and are last by that\.").any()


def test_rounds_that_are_too_small_for_a_query(store, loaded, own, work, monkeypatch):
    monkeypatch.setattr(rounds, "MAX_ROUND", 7)
    job = order(store, loaded, chunk_size=3)
    work()
    assert_settled(store, own, job)
