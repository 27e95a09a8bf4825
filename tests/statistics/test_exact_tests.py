"""Exact tests of many classes, against tables listed one by one, scipy's and random tables."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy.special import gammaln
from scipy.stats import chi2_contingency, fisher_exact

from cobalance.statistics import exact_tests
from cobalance.statistics.association import FISHER, FISHER_EACH_CLASS, homogeneity_test


def by_listing(held, sizes, more=0.0):
    """Freeman and Halton's p-value in exact arithmetic; of tables up to e^more as probable."""
    total = sum(held)
    ways = [
        prod(map(comb, sizes, (*table, total - sum(table))))
        for table in product(*(range(min(size, total) + 1) for size in sizes[:-1]))
        if 0 <= total - sum(table) <= sizes[-1]
    ]
    own = prod(map(comb, sizes, held))
    limit = own * Fraction(np.exp(more))
    return float(Fraction(sum(n for n in ways if n <= limit), sum(ways)))


@st.composite
def cliques(draw):
    sizes = draw(st.lists(st.integers(1, 14), min_size=3, max_size=4))
    return [draw(st.integers(0, size)) for size in sizes], sizes


@settings(max_examples=60, deadline=None)
@given(cliques())
def test_p_value_is_that_of_all_tables(case):
    held, sizes = case
    found, each = exact_tests.fisher_many(np.array([held, held]), np.array(sizes))
    assert found == pytest.approx([by_listing(held, sizes)] * 2, rel=1e-7)
    assert not each.any()


@settings(max_examples=25, deadline=None)
@given(cliques())
def test_p_value_on_the_grid_is_that_of_tables_as_probable_within_its_steps(case):
    held, sizes = case
    assume(0 < sum(held) < sum(sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_tests, "MOST_TABLES", 0)
        found, _ = exact_tests.fisher_many(np.array([held, held]), np.array(sizes))
    within = len(sizes) * exact_tests.STEP
    least, most = (by_listing(held, sizes, more) for more in (-within, within))
    assert least * (1 - 1e-9) <= found[0] == found[1] <= most * (1 + 1e-9)


def test_many_tables_agree_with_random_ones():
    rng = np.random.default_rng(3)
    sizes = np.array([300, 200, 150, 400, 350, 100])
    counts = rng.binomial(sizes, 0.03, (4, 6))
    p_values, tests = homogeneity_test(counts, sizes)
    assert set(tests) == {FISHER}
    totals = counts.sum(axis=1)
    assert (totals > 20).all()  # too many tables to list
    for held, p_value in zip(counts, p_values, strict=True):
        drawn = rng.multivariate_hypergeometric(sizes, held.sum(), 40_000, method="marginals")
        rare, own = (
            (gammaln(x + 1.0) + gammaln(sizes - x + 1.0)).sum(axis=-1) for x in (drawn, held)
        )
        share = (rare >= own - 1e-7).mean()
        assert p_value == pytest.approx(share, abs=5 * np.sqrt(0.25 / 40_000))


def test_tails_are_as_deep_as_those_of_chi_square():
    sizes = np.array([1000] * 6)
    p_values, tests = homogeneity_test(np.array([[27, 0, 0, 0, 0, 0], [9, 9, 9, 0, 0, 0]]), sizes)
    assert tests.tolist() == [FISHER] * 2
    # the tables no more probable than all 27 images in one class are these six alone
    alone = 6 * comb(1000, 27) / comb(6000, 27)
    assert p_values[0] == pytest.approx(alone, rel=0.02)
    assert 1e-7 < p_values[1] < 1e-3


def test_frequent_cliques_of_uneven_classes_are_tested_class_by_class():
    sizes, held = np.array([3, 4000, 3000, 3500]), np.array([[3, 150, 160, 140]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_tests, "MOST_TABLES", 1000)
        p_values, tests = homogeneity_test(held, sizes)
    pairs = [
        fisher_exact([[n, held.sum() - n], [size - n, sizes.sum() - held.sum() - size + n]]).pvalue
        for n, size in zip(held[0].tolist(), sizes.tolist(), strict=True)
    ]
    assert tests.tolist() == [FISHER_EACH_CLASS]
    assert p_values[0] == pytest.approx(min(1, 4 * min(pairs)), rel=1e-6)
    assert chi2_contingency(np.stack([held[0], sizes - held[0]])).pvalue < p_values[0]
