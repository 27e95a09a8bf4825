import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.decomposition import PCA

from cobalance.annotation.measuring.vocabulary import (
    best_cosines,
    effective_dimension,
    vocabulary_recall,
)


def test_best_cosines_of_nine_and_seven_tenths_give_half():
    proposed = np.eye(3)[:1]
    known = np.array([[0.9, np.sqrt(1 - 0.81), 0], [0.7, 0, np.sqrt(1 - 0.49)]])
    assert best_cosines(known, proposed) == pytest.approx([0.9, 0.7])
    assert vocabulary_recall(known * 3, proposed * 7) == 0.5
    assert vocabulary_recall(known, np.empty((0, 3))) == 0
    assert np.isnan(vocabulary_recall(np.empty((0, 3)), proposed))


def test_two_pairs_of_equal_vectors_have_one_dimension():
    e1, e2 = np.eye(2)
    assert effective_dimension(np.array([e1, e1, e2, e2])) == (1, 0.25)
    assert effective_dimension(np.array([e1, e1])) == (0, 0.0)
    assert effective_dimension(np.empty((0, 2)))[0] == 0


@given(arrays.arrays(np.float64, (6, 4), elements=st.integers(-5, 5).map(float)))
def test_effective_dimension_equals_scikit_learn(vectors):
    found, share = effective_dimension(vectors)
    if len(np.unique(vectors, axis=0)) == 1:
        assert found == 0
        return
    ratios = PCA().fit(vectors).explained_variance_ratio_
    assert found == next(k for k in range(1, 5) if ratios[:k].sum() >= 0.95 - 1e-9)
    assert share == found / 6
