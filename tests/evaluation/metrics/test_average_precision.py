import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import InputError
from cobalance.evaluation.metrics.average_precision import average_precision, mean_average_precision
from cobalance.evaluation.predictions import check_predictions

images = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([0.1, 0.4, 0.5, 0.9]), st.integers(1, 3)),
    min_size=1,
    max_size=12,
)


@given(images)
def test_average_precision_is_that_of_a_loop_over_thresholds(rows):
    expanded = [(label, score) for label, score, n in rows for _ in range(n)]
    positives = sum(label for label, _ in expanded)
    expected, recall = (0.0 if positives else np.nan), 0.0
    for threshold in sorted({score for _, score in expanded}, reverse=True):
        found = [label for label, score in expanded if score >= threshold]
        if positives:
            expected += (sum(found) / positives - recall) * sum(found) / len(found)
            recall = sum(found) / positives
    truth, scores, n = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    found = average_precision(truth[:, None], scores[:, None], n)
    assert found.tolist() == pytest.approx([expected], nan_ok=True)


def test_a_class_without_positives_is_left_out_and_counted():
    table = pd.DataFrame(
        {
            "image": ["1", "2", "3", "4"],
            "y_cup": [1, 0, 1, 0],
            "p_cup": [0.9, 0.8, 0.7, 0.1],
            "y_dog": [0, 0, 0, 1],
            "p_dog": [0.1, 0.2, 0.3, 0.4],
            "y_elk": [0, 0, 0, 0],
            "p_elk": [0.4, 0.3, 0.2, 0.1],
        }
    )
    scores = mean_average_precision(check_predictions(table))
    each = scores[scores["metric"] == "average_precision"].set_index("group")["value"]
    assert each.to_dict() == pytest.approx(
        {"cup": (1 + 2 / 3) / 2, "dog": 1, "elk": np.nan}, nan_ok=True
    )
    rest = scores.set_index("metric")["value"]
    assert rest["mean_average_precision"] == pytest.approx(((1 + 2 / 3) / 2 + 1) / 2)
    assert rest["classes_without_positives"] == 1


def test_single_labels_count_as_labels_of_their_class():
    table = pd.DataFrame(
        {"image": ["1", "2"], "class_name": ["a", "b"], "p_a": [0.6, 0.7], "p_b": [0.4, 0.3]}
    )
    scores = mean_average_precision(check_predictions(table.assign(p_c=0.5)))
    rest = scores.set_index("metric")["value"]
    assert rest["mean_average_precision"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert rest["classes_without_positives"] == 1


def test_without_any_positive_the_mean_is_nan():
    table = check_predictions(pd.DataFrame({"image": ["1"], "y_a": [0], "p_a": [0.5]}))
    scores = mean_average_precision(table).set_index("metric")["value"]
    assert np.isnan(scores["mean_average_precision"])


def test_a_class_without_scores_is_named():
    table = check_predictions(pd.DataFrame({"image": ["1"], "y_a": [0], "p_b": [0.5]}))
    with pytest.raises(InputError, match="no scores for the class 'a': there is no column p_a"):
        mean_average_precision(table)
