import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.annotation.measuring.scores import auc, label_scores, macro

ROWS = st.lists(
    st.tuples(
        st.sampled_from([np.nan, -1e30, 0.1, 0.1000001, 0.5, 1e30]),
        st.booleans(),
        st.sampled_from([0.0, 1.0, np.nan]),
    ),
    max_size=12,
)


@given(ROWS)
def test_each_measure_equals_its_definition(rows):
    scores, labels, truth = (np.array([row[at] for row in rows]) for at in range(3))
    beside = np.zeros(len(rows))  # another concept's scores: every image was read
    (row, _) = label_scores(
        ["a", "b"],
        np.stack([scores, beside], axis=1).reshape(-1, 2),
        np.stack([labels, labels], axis=1).astype(bool).reshape(-1, 2),
        np.stack([truth, truth], axis=1).reshape(-1, 2),
    ).to_dict("records")
    seen = [row for row in rows if row[2] in (0, 1)]
    yes = [row for row in seen if row[2]]
    assert (row["images"], row["shown"]) == (len(seen), len(yes))
    assert (row["not_visible"], row["unread"]) == (len(rows) - len(seen), 0)
    lowest = [-np.inf if np.isnan(one[0]) else one[0] for one in yes]
    others = [-np.inf if np.isnan(one[0]) else one[0] for one in seen if not one[2]]
    wins = [(a > b) + (a == b) / 2 for a in lowest for b in others]
    unscored = all(np.isnan(one[0]) for one in seen)
    assert row["auc"] == pytest.approx(
        np.mean(wins) if wins and not unscored else np.nan, nan_ok=True
    )
    labelled = [one for one in seen if one[1]]
    hits = sum(1 for one in labelled if one[2])
    assert row["precision"] == (pytest.approx(hits / len(labelled)) if labelled else NAN)
    assert row["recall"] == (pytest.approx(hits / len(yes)) if yes else NAN)
    total = len(labelled) + len(yes)
    assert row["f1"] == (pytest.approx(2 * hits / total) if total else NAN)


NAN = pytest.approx(np.nan, nan_ok=True)


def test_images_that_could_not_be_read_are_left_out():
    scores = np.array([[np.nan, np.nan], [0.9, np.nan], [0.1, 0.4]])
    labels, truth = np.zeros((3, 2), bool), np.array([[1, 1], [1, 1], [0, 0]], float)
    found = label_scores(["a", "b"], scores, labels, truth)
    assert found["unread"].tolist() == [1, 1]
    assert found["images"].tolist() == [2, 2]
    assert found["auc"].tolist() == [1.0, 0.0]


def test_a_concept_without_scores_or_of_one_class_has_no_auc():
    assert np.isnan(auc(np.array([np.nan, np.nan]), np.array([True, False])))
    assert np.isnan(auc(np.array([0.1, 0.2]), np.array([True, True])))
    assert np.isnan(macro([]).value)
    assert macro([np.nan]).left_out == 1
