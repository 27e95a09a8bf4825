"""Every figure against scipy, statsmodels or exact integers, one clique at a time."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import Table2x2
from statsmodels.stats.multitest import multipletests

from cobalance.base.errors import OptionError
from cobalance.statistics import association as statistics
from cobalance.statistics.association import (
    CHI_SQUARE,
    FISHER,
    FISHER_EACH_CLASS,
    MIN_EXPECTED,
    NONE,
    TESTS,
    class_lift,
    class_rates,
    homogeneity_test,
    leading_classes,
    log_odds_ratio,
)
from cobalance.statistics.q_values import q_values


@st.composite
def tables(draw, min_classes=2, max_classes=4, min_size=1, max_size=80):
    """Class sizes and counts that they allow, for a few cliques."""
    sizes = draw(
        st.lists(st.integers(min_size, max_size), min_size=min_classes, max_size=max_classes)
    )
    row = st.tuples(*(st.integers(0, size) for size in sizes))
    counts = draw(st.lists(row, min_size=1, max_size=6))
    return np.array(counts), np.array(sizes)


def exact_fisher(a: int, b: int, size_a: int, size_b: int) -> float:
    """Two-sided, in exact arithmetic."""
    total = a + b
    ways = [
        comb(size_a, x) * comb(size_b, total - x)
        for x in range(max(0, total - size_b), min(total, size_a) + 1)
    ]
    limit = comb(size_a, a) * comb(size_b, b)
    return float(Fraction(sum(way for way in ways if way <= limit), sum(ways)))


def test_leading_classes_break_ties_in_class_order():
    over, under = leading_classes(np.array([[1, 2], [2, 1], [3, 3], [0, 5]]))
    assert over.tolist() == [1, 0, 0, 1]
    assert under.tolist() == [0, 1, 1, 0]
    over, under = leading_classes(np.array([[5, 0, 0], [0, 5, 5], [4, 4, 4]]))
    assert over.tolist() == [0, 1, 0]
    assert under.tolist() == [1, 0, 2]


def test_one_class_has_nothing_to_compare():
    counts, sizes = np.array([[3], [0]]), np.array([5])
    over, under = leading_classes(counts)
    assert np.isnan(log_odds_ratio(counts, sizes, over, under)).all()
    p_values, tests = homogeneity_test(counts, sizes)
    assert p_values.tolist() == [1, 1]
    assert tests.tolist() == [NONE, NONE]


def test_no_cliques():
    counts, sizes = np.zeros((0, 2), dtype=np.int64), np.array([5, 5])
    over, under = leading_classes(counts)
    assert log_odds_ratio(counts, sizes, over, under).shape == (0, 3)
    p_values, tests = homogeneity_test(counts, sizes)
    assert q_values(p_values).shape == tests.shape == (0,)
    assert class_rates(counts, sizes).shape == (0, 2)
    assert class_lift(counts, sizes, over).shape == (0,)


def test_class_without_images():
    counts, sizes = np.array([[30, 0, 10], [0, 0, 5]]), np.array([60, 0, 50])
    over, under = leading_classes(counts)
    assert np.isnan(class_rates(counts, sizes)[:, 1]).all()
    assert class_lift(counts, sizes, over).tolist() == pytest.approx([30 * 110 / (40 * 60), 2.2])
    odds = log_odds_ratio(counts, sizes, over, under)
    assert np.isnan(odds[0]).all()  # under is the class without images
    assert np.isfinite(odds[1]).all()
    without = homogeneity_test(counts[:, [0, 2]], sizes[[0, 2]])
    for found, expected in zip(homogeneity_test(counts, sizes), without, strict=True):
        assert found.tolist() == expected.tolist()
    p_values, tests = homogeneity_test(np.array([[3, 0]]), np.array([5, 0]))
    assert (p_values[0], tests[0]) == (1, NONE)


def test_clique_in_no_image_and_in_every_image():
    counts, sizes = np.array([[0, 0], [40, 70]]), np.array([40, 70])
    p_values, tests = homogeneity_test(counts, sizes)
    assert p_values.tolist() == [1, 1]
    assert tests.tolist() == [NONE, NONE]
    over, under = leading_classes(counts)
    lift = class_lift(counts, sizes, over)
    assert np.isnan(lift[0])
    assert lift[1] == 1
    assert np.isfinite(log_odds_ratio(counts, sizes, over, under)).all()


def test_counts_and_rates_can_disagree():
    """More images of the larger class, and still a smaller share of it."""
    counts, sizes = np.array([[20, 30]]), np.array([100, 1000])
    over, under = leading_classes(counts)
    odds, low, high = log_odds_ratio(counts, sizes, over, under)[0]
    assert over[0] == 1
    assert low < odds < high < 0
    assert class_lift(counts, sizes, over)[0] < 1


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, float("nan")])
def test_confidence_out_of_range(confidence):
    one = np.array([[1, 2]])
    with pytest.raises(OptionError, match=f"confidence is {confidence}"):
        log_odds_ratio(one, np.array([5, 5]), *leading_classes(one), confidence=confidence)


@given(tables(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
@example((np.array([[0, 0], [7, 9], [0, 9], [7, 0]]), np.array([7, 9])), 0.95)
def test_odds_ratio_is_that_of_statsmodels(table, confidence):
    counts, sizes = table
    over, under = leading_classes(counts)
    found = log_odds_ratio(counts, sizes, over, under, confidence=confidence)
    for row, (a, b) in enumerate(zip(over, under, strict=True)):
        held = counts[row, [a, b]]
        cells = np.stack([held, sizes[[a, b]] - held], axis=1)
        one = Table2x2(cells + 0.5 if (cells == 0).any() else cells, shift_zeros=False)
        expected = [one.log_oddsratio, *one.log_oddsratio_confint(1 - confidence)]
        assert found[row] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(tables(max_size=400))
def test_p_value_is_that_of_scipy(table):
    counts, sizes = table
    p_values, tests = homogeneity_test(counts, sizes)
    for row, held in enumerate(counts):
        cells = np.stack([held, sizes - held])
        if not held.any() or (held == sizes).all():
            assert (p_values[row], tests[row]) == (1, NONE)
            continue
        chi = stats.chi2_contingency(cells, correction=False)
        sparse = chi.expected_freq.min() < MIN_EXPECTED
        assume(abs(chi.expected_freq.min() - MIN_EXPECTED) > 1e-9)
        if sparse:
            if len(sizes) == 2:
                assert tests[row] == FISHER
                assert p_values[row] == pytest.approx(stats.fisher_exact(cells).pvalue, rel=1e-6)
        else:
            assert tests[row] == CHI_SQUARE
            assert p_values[row] == pytest.approx(chi.pvalue, rel=1e-9, abs=1e-300)


@given(tables(max_classes=2, max_size=60))
def test_fisher_is_exact(table):
    counts, sizes = table
    p_values, tests = homogeneity_test(counts, sizes)
    for row in np.flatnonzero(tests == FISHER):
        expected = exact_fisher(*counts[row].tolist(), *sizes.tolist())
        assert p_values[row] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sizes", [(100_000, 100_000), (1_000_000, 50), (30, 2_000_000)])
def test_fisher_is_exact_in_large_classes(sizes):
    rng = np.random.default_rng(3)
    counts = np.stack([rng.integers(0, 7, 40) for size in sizes], axis=1)
    counts = np.concatenate([counts, np.array(sizes) - counts])  # nearly every image too
    p_values, tests = homogeneity_test(counts, np.array(sizes))
    assert (tests == FISHER).sum() > 40
    for row in np.flatnonzero(tests == FISHER):
        expected = exact_fisher(*counts[row].tolist(), *sizes)
        assert p_values[row] == pytest.approx(expected, rel=1e-7)


@given(tables())
def test_order_of_cliques_and_classes_changes_nothing(table):
    counts, sizes = table
    p_values, tests = homogeneity_test(counts, sizes)
    turned_p, turned_tests = homogeneity_test(counts[::-1, ::-1], sizes[::-1])
    assert turned_p[::-1] == pytest.approx(p_values, rel=1e-9)
    assert turned_tests[::-1].tolist() == tests.tolist()


@pytest.mark.parametrize("sizes", [(40, 30), (40, 30, 20)])
def test_blocks_change_nothing(monkeypatch, sizes):
    counts = np.random.default_rng(7).integers(0, 20, (50, len(sizes)))
    whole = homogeneity_test(counts, np.array(sizes))
    monkeypatch.setattr(statistics, "BLOCK", 8)
    for found, expected in zip(homogeneity_test(counts, np.array(sizes)), whole, strict=True):
        assert found.tolist() == expected.tolist()


@given(tables())
def test_lift_from_its_definition(table):
    counts, sizes = table
    over, _ = leading_classes(counts)
    for held, code, lift in zip(counts, over, class_lift(counts, sizes, over), strict=True):
        n = sizes.sum()
        if held.any():
            together = held[code] / n
            assert lift == pytest.approx(together / ((held.sum() / n) * (sizes[code] / n)))
        else:
            assert np.isnan(lift)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_q_values_are_those_of_statsmodels(p_values):
    expected = multipletests(p_values, method="fdr_bh")[1]
    assert q_values(np.array(p_values)) == pytest.approx(expected)


def test_every_test_has_a_name():
    assert [TESTS[code] for code in (NONE, FISHER, CHI_SQUARE, FISHER_EACH_CLASS)] == [
        "none",
        "fisher",
        "chi-square",
        "fisher each class",
    ]
