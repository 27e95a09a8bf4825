"""Acceptance by query against simulations of known shares, and against the slow way."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from benchmarks.pilot import RATES, simulate
from cobalance.generation.planning.acceptance import (
    estimate_acceptance,
    pilot_size,
    sum_to_make,
)
from cobalance.statistics.intervals import wilson

RUNS = 100


@pytest.fixture(scope="module")
def runs():
    """100 jobs of nine queries for 50 images each, three of each acceptance."""
    rng = np.random.default_rng(0)
    return [simulate(np.array(RATES * 3), 50, rng) for _ in range(RUNS)]


@pytest.mark.parametrize("query", range(9))
def test_the_intervals_have_the_true_acceptance_in_90_of_100_runs(runs, query):
    assert sum(run.covered_by_pilot[query] for run in runs) >= 90
    assert sum(run.covered_at_end[query] for run in runs) >= 90


def test_the_estimate_of_candidates_is_within_15_percent(runs):
    errors = {
        "after the pilot": [run.error(0) for run in runs],
        "after half": [run.error(run.halfway) for run in runs],
        "at the end": [run.error(-1) for run in runs],
    }
    within = {
        when: sum(abs(error) <= 0.15 for error in of_runs) for when, of_runs in errors.items()
    }
    assert within["after the pilot"] >= 90
    assert within["after half"] == within["at the end"] == RUNS
    # No bias that would tell of a wrong prior.
    assert abs(np.mean(errors["after the pilot"])) < 0.05


def test_rounds_are_few_and_little_is_made_in_vain(runs):
    rng = np.random.default_rng(0)
    plain = [simulate(np.array(RATES * 3), 50, rng, pilot=False) for _ in range(20)]
    assert np.mean([run.rounds for run in runs]) < 0.6 * np.mean([run.rounds for run in plain])
    assert np.mean([run.in_vain / run.total for run in runs]) < 0.01
    assert all(run.in_vain == 0 for run in plain)


@pytest.mark.parametrize("candidates_per_image", [1, 2, 3, 4, 8, 20])
def test_a_pilot_is_as_large_as_it_takes_to_know_that_nothing_comes(candidates_per_image):
    size = pilot_size(candidates_per_image)
    n = 10**6

    def is_hopeless(made):
        most = n * candidates_per_image
        return bool(estimate_acceptance([n], [0], [made], [most])["is_hopeless"][0])

    assert is_hopeless(size)
    assert not is_hopeless(size - 1)


@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 240), st.floats(0, 1)), min_size=1, max_size=5
    )
)
def test_estimates_against_the_slow_way(drawn):
    queries = []
    for n, tried, share in drawn:
        made = min(tried, 4 * n)
        queries.append((n, min(n, int(share * made)), made, 4 * n))
    frame = estimate_acceptance(*np.array(queries).T)

    pooled = (sum(q[1] for q in queries) + 1) / (sum(q[2] for q in queries) + 1)
    for row, (n, accepted, made, most) in zip(frame.itertuples(), queries, strict=True):
        missing, left = n - accepted, most - made
        expected = min(missing * (made + 2) / (accepted + 2 * pooled), left)
        assert row.to_make == pytest.approx(expected)
        assert 0 <= row.to_make_low <= row.to_make_high <= left + 1e-9

        high = 1.0
        if made:
            _, (high,) = wilson(np.array([float(accepted)]), np.array([float(made)]))
            assert row.acceptance == accepted / made
            assert row.low <= row.acceptance <= row.high == high
        assert row.is_hopeless == (missing > 0 and accepted + high * left < n / 2)
        planned = min(int(missing / high), left)
        if made and accepted + row.low * left < n / 2:
            planned = min(planned, made)
        assert row.next_count == planned

    total, low, high = sum_to_make(frame)
    assert low <= total <= high
    assert total == round(frame["to_make"].sum())


def test_no_queries_and_none_made():
    assert estimate_acceptance([], [], [], []).empty
    assert sum_to_make(estimate_acceptance([], [], [], [])) == (0, 0, 0)
    fresh = estimate_acceptance([5], [0], [0], [20])
    assert fresh[["to_make", "to_make_low", "to_make_high"]].to_numpy().tolist() == [[5, 5, 20]]
    assert fresh["next_count"].tolist() == [5]
    assert fresh["acceptance"].isna().all()
    # One that asks for more than it may have gets these.
    assert estimate_acceptance([5], [0], [20], [20])["next_count"].tolist() == [0]
