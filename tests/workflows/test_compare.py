"""Comparisons in words."""

import numpy as np
import pytest

from cobalance.counting.cliques import Cliques
from cobalance.statistics.comparison import compare_cliques
from cobalance.workflows.compare import describe_comparison


@pytest.mark.parametrize(("n", "words"), [(1, "1 lost its lean"), (2, "2 lost their lean")])
def test_statuses_agree_with_their_counts(n, words):
    concepts, sizes = ("bird", "cow"), np.array([100, 100])
    leaning, even = ([[90, 10]] * n, [[90, 90]] * n)
    before, after = (
        Cliques(np.arange(n)[:, None], np.array(counts), sizes, concepts[:n], ("a", "b"))
        for counts in (leaning, even)
    )
    assert f" {words}, 0 weaker, " in describe_comparison(compare_cliques(before, after))
