import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from cobalance.base.errors import InputError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.metrics.opportunity_gap import opportunity_gap
from cobalance.evaluation.predictions import check_predictions

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


def people_of_two_classes(n: int = 400) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Right and wrong predictions, and groups of which a third of the genders are unknown."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"image": [f"{row}" for row in range(n)]})
    table["class_name"] = rng.choice(["cook", "nurse"], n)
    table["predicted"] = np.where(rng.random(n) < 0.6, table["class_name"], "other")
    gender = rng.choice(
        np.array(["man", "woman", None, ""], dtype=object), n, p=[0.3, 0.3, 0.2, 0.2]
    )
    return check_predictions(table), table[["image"]].assign(gender=gender)


def test_unknown_genders_are_no_third_group_of_the_gap():
    table, groups = people_of_two_classes()
    scores = METRICS.open("opportunity_gap")(Inputs(predictions=table, groups=groups))
    right = (table["class_name"] == table["predicted"]).to_numpy()
    expected = {}
    for name in ("cook", "nurse"):
        of = [(table["class_name"] == name) & (groups["gender"] == one) for one in ("man", "woman")]
        expected[name] = 100 * (right[of[0]].mean() - right[of[1]].mean())
        row = scores[scores["group"] == f"gender: {name}"].iloc[0]
        assert row["value"] == pytest.approx(expected[name])
        hits, n = [right[one].sum() for one in of], [one.sum() for one in of]
        limits = confint_proportions_2indep(hits[0], n[0], hits[1], n[1], method="newcomb")
        assert [row["low"], row["high"]] == pytest.approx([100 * limit for limit in limits])
    values = scores[scores["group"] == "gender"].set_index("metric")["value"]
    assert values.to_dict() == pytest.approx(
        {
            "opportunity_gap": sum(map(abs, expected.values())),
            "classes_without_recall": 0,
            "images_without_attribute": groups["gender"].isin([None, ""]).sum(),
        }
    )


def test_recalls_of_no_group_in_a_table_are_left_out():
    recalls = pd.DataFrame(
        {"class_name": "cook", "group": ["man", "woman", "none"], "recall": [50.0, 50.0, 0.0]}
    )
    scores = opportunity_gap(recalls).set_index("metric")["value"]
    assert scores[["recall_difference", "opportunity_gap"]].tolist() == [0, 0]


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
