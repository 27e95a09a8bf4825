import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from cobalance.annotation.labelling.rules import image_level, object_level

SCORES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(0, 5), st.integers(0, 4)),
    elements=st.sampled_from([0.1, 0.5, 0.5, 0.9, np.nan]),
)


def test_the_examples_of_the_paper_rule():
    scores = np.array([[0.2, 0.6, 0.5]])
    assert image_level(scores, np.array([0.55])).tolist() == [[False, True, False]]
    assert image_level(scores, np.array([0.7])).tolist() == [[False, False, False]]
    assert image_level(scores, np.array([0.45]), multi=True).tolist() == [[False, True, True]]


@given(SCORES, st.booleans())
def test_image_level_equals_brute_force(scores, multi):
    base = np.full(len(scores), 0.3)
    found = image_level(scores, base, multi=multi)
    for row, present in zip(scores, found, strict=True):
        above = [not np.isnan(s) and s > 0.3 for s in row]
        if not multi:
            known = [s for s in row if not np.isnan(s)]
            best = list(row).index(max(known)) if known else -1
            above = [a and i == best for i, a in enumerate(above)]
        assert present.tolist() == above


@given(SCORES)
def test_object_level_takes_scores_from_the_threshold_on(scores):
    expected = [[not np.isnan(s) and s >= 0.5 for s in row] for row in scores]
    assert object_level(scores, 0.5).tolist() == expected
