import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import (
    METRICS,
    Inputs,
    opportunity_gap,
    retrieval_ranks,
    retrieval_recall,
)
from evaluation.predictions import check_predictions
from graph.errors import InputError

OCCUPATIONS = ("Dancer", "Doctor", "Patient", "Farmer", "Nurse", "Singer")
TABLE_8 = {
    "none": "50.70 58.43 28.12 22.00 84.56 90.91 78.12 74.22 12.50 20.00 76.13 80.08",
    "c3": "54.93 54.82 20.83 13.00 83.82 89.61 75.66 67.19 15.28 25.00 81.07 87.65",
    "c4": "43.66 47.59 22.92 23.00 85.29 88.31 80.37 74.61 2.78 5.63 75.74 83.27",
}
"""Pinpoint Counterfactuals: recall of men and women for each occupation."""


def test_published_gaps():
    rows = [
        (method, occupation, group, recall)
        for method, line in TABLE_8.items()
        for (occupation, group), recall in zip(
            ((name, group) for name in OCCUPATIONS for group in "MW"), line.split(), strict=True
        )
    ]
    table = pd.DataFrame(rows, columns=["method", "class_name", "group", "recall"])
    scores = METRICS.open("opportunity_gap")(Inputs(table=table))
    sums = scores[scores["metric"] == "opportunity_gap"].set_index("method")["value"]
    assert sums.round(2).to_dict() == {"none": 35.55, "c3": 38.50, "c4": 23.17}
    nurse = scores[(scores["group"] == "Nurse") & (scores["method"] == "none")]
    assert nurse["value"].tolist() == pytest.approx([-7.5])


def test_gap_of_predictions_by_group():
    rows = [("nurse", "m", 1, 4), ("nurse", "w", 3, 4), ("singer", "m", 5, 5), ("cook", "w", 2, 2)]
    images, groups = [], []
    for name, group, right, n in rows:
        for number in range(n):
            image = f"{name}-{group}-{number}"
            images.append((image, name, name if number < right else "other"))
            groups.append((image, group))
    table = check_predictions(pd.DataFrame(images, columns=["image", "class_name", "predicted"]))
    people = pd.DataFrame(groups, columns=["image", "right"]).sample(frac=1, random_state=2)
    scores = METRICS.open("opportunity_gap")(Inputs(predictions=table, groups=people))
    found = scores.set_index(["metric", "group"])["value"].to_dict()
    assert found == pytest.approx(
        {
            ("recall_difference", "right: cook"): np.nan,
            ("recall_difference", "right: nurse"): -50,
            ("recall_difference", "right: singer"): np.nan,
            ("opportunity_gap", "right"): 50,
            ("classes_without_recall", "right"): 2,
        },
        nan_ok=True,
    )
    low, high = scores[scores["group"] == "right: nurse"][["low", "high"]].iloc[0]
    assert -100 < low < -50 < high < 100


def test_more_than_two_groups_take_the_widest_difference():
    recalls = pd.DataFrame({"class_name": "nurse", "group": list("abc"), "recall": [10, 40, 25]})
    scores = opportunity_gap(recalls)
    assert scores.loc[scores["metric"] == "opportunity_gap", "value"].tolist() == [30]


def test_a_second_recall_or_a_single_group_is_refused():
    recalls = pd.DataFrame({"class_name": ["nurse"] * 2, "group": ["a", "a"], "recall": [1, 2]})
    with pytest.raises(InputError, match="row 2: has a second recall"):
        opportunity_gap(recalls)
    with pytest.raises(InputError, match="less than two groups"):
        opportunity_gap(recalls.head(1))


vectors = st.lists(st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5, 1.0])] * 2), min_size=1, max_size=6)


@given(vectors, vectors, st.data())
def test_ranks_are_those_of_a_loop(texts, images, data):
    relevant = data.draw(
        st.lists(
            st.lists(st.booleans(), min_size=len(images), max_size=len(images)),
            min_size=len(texts),
            max_size=len(texts),
        )
    )

    def cosine(a, b):
        norms = [np.hypot(*vector) or 1 for vector in (a, b)]
        return (a[0] / norms[0]) * (b[0] / norms[1]) + (a[1] / norms[0]) * (b[1] / norms[1])

    expected = []
    for text, right in zip(texts, relevant, strict=True):
        similar = [cosine(text, image) for image in images]
        best = max((s for s, r in zip(similar, right, strict=True) if r), default=-np.inf)
        before = [s >= best - 1e-12 for s, r in zip(similar, right, strict=True) if not r]
        expected.append(1 + sum(before))
    found = retrieval_ranks(np.array(texts), np.array(images), np.array(relevant))
    for one, other, text in zip(found, expected, texts, strict=True):
        # products that are equal on paper may differ in the last digit: skip what rounding decides
        if len({round(cosine(text, image), 9) for image in images}) == len(images):
            assert one == other


def test_ties_count_against_the_text():
    same = np.ones((3, 4))
    assert retrieval_ranks(same, same, np.arange(3)).tolist() == [3, 3, 3]


def test_recall_by_group_from_embeddings():
    images = pd.DataFrame(np.eye(4)).assign(image=["a", "b", "c", "d"])
    texts = images.iloc[[0, 1, 2, 3]].assign(image=["a", "b", "d", "c"])  # the last two are swapped
    groups = pd.DataFrame({"image": list("abcd"), "person": ["m", "m", "w", "w"], "age": "old"})
    inputs = Inputs(texts=texts, embeddings=images, groups=groups)
    scores = METRICS.open("retrieval_recall", {"k": 1})(inputs)
    assert scores.set_index("group")["value"].to_dict() == {"": 0.5, "m": 1, "w": 0, "old": 0.5}
    assert set(scores["metric"]) == {"recall@1"}
    all_found = METRICS.open("retrieval_recall", {"k": 4})(inputs)
    assert (all_found["value"] == 1).all()


def test_recall_needs_the_images_of_texts():
    images = pd.DataFrame(np.eye(2)).assign(image=["a", "b"])
    inputs = Inputs(texts=images.assign(image=["a", "x"]), embeddings=images)
    with pytest.raises(InputError, match="names 1 image missing from embeddings: 'x'"):
        METRICS.open("retrieval_recall")(inputs)


def test_recall_without_texts_of_a_group():
    scores = retrieval_recall(np.array([1, 2]), pd.Series(["m", None], dtype=object))
    assert scores["n"].tolist() == [2, 1]
