import numpy as np
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from cobalance.statistics.intervals import newcombe, sum_interval, wilson

counts = st.tuples(st.integers(0, 40), st.integers(1, 40)).map(lambda pair: (min(pair), pair[1]))


@given(counts, counts)
def test_the_interval_of_a_difference_is_newcombes(one, other):
    (hits, n), (other_hits, other_n) = one, other
    of_hits, of_n = np.array([hits, other_hits], float), np.array([n, other_n], float)
    found = sum_interval(np.array([1.0, -1.0]), of_hits / of_n, *wilson(of_hits, of_n))
    expected = confint_proportions_2indep(hits, n, other_hits, other_n, method="newcomb")
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_difference_from_a_proportion_of_no_images_has_no_interval():
    low, _ = newcombe(*(np.array([value]) for value in (0.0, 0.0, 1.0, 1.0)))
    assert np.isnan(low[0])
