"""Residuals against statsmodels; the strongest contrast against a loop over pairs."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.contingency_tables import Table

from cobalance.statistics.contrasts import Contrast, standardized_residuals, strongest_contrast

SIZES = st.lists(st.integers(0, 300), min_size=1, max_size=6).map(np.array)


@st.composite
def counted(draw):
    sizes = draw(SIZES)
    shares = draw(arrays(float, (draw(st.integers(0, 5)), len(sizes)), elements=st.floats(0, 1)))
    return np.floor(shares * sizes).astype(np.int64), sizes


@settings(max_examples=60, deadline=None)
@given(counted())
def test_residuals_are_those_of_a_table_of_each_concept(made):
    counts, sizes = made
    found = standardized_residuals(counts, sizes)
    assert found.shape == counts.shape
    assert np.isfinite(found).all()
    for row, residuals in zip(counts, found, strict=True):
        if 0 < row.sum() < sizes.sum() and (sizes > 0).sum() > 1:
            some = sizes > 0
            table = Table(np.array([row, sizes - row])[:, some], shift_zeros=False)
            assert residuals[some] == pytest.approx(table.standardized_resids[0], abs=1e-6)
        else:
            assert not residuals.any()


def test_balanced_concepts_have_no_residual():
    counts = np.array([[30, 15, 3], [0, 0, 0], [100, 50, 10]])
    assert not standardized_residuals(counts, np.array([100, 50, 10])).any()


@settings(max_examples=60, deadline=None)
@given(counted())
def test_the_strongest_contrast_is_the_first_of_the_largest(made):
    counts, sizes = made
    strengths = {}
    for one, other in combinations(np.flatnonzero(sizes).tolist(), 2):
        total = 0.0
        for row in counts.tolist():
            p, q = ((row[i] + 1) / (int(sizes[i]) + 2) for i in (one, other))
            error = sqrt(p * (1 - p) / (sizes[one] + 2) + q * (1 - q) / (sizes[other] + 2))
            total += max(abs(p - q) - 1.96 * error, 0)
        strengths[one, other] = total
    found = strongest_contrast(counts, sizes)
    if not strengths:
        assert found is None
        return
    most = max(strengths.values())
    as_strong = [pair for pair, strength in strengths.items() if strength > most - 1e-9]
    assert (found.first, found.second, found.ties) == (*as_strong[0], len(as_strong) - 1)
    assert found.strength == pytest.approx(most)


def test_a_class_of_few_images_does_not_win_by_chance():
    # all three of the tiny class show it; but the two large classes differ beyond doubt
    counts = np.array([[600, 2, 300]])
    assert strongest_contrast(counts, np.array([1000, 3, 1000])) == Contrast(
        0, 2, pytest.approx(0.3 * 1000 / 1002 - 1.96 * sqrt((0.24 + 0.21) / 1000), rel=0.01), 0
    )
