import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import InputError, OptionError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.comparison import compare_methods
from cobalance.evaluation.metrics.group_accuracy import (
    balanced_accuracy,
    group_accuracy,
    out_of_distribution,
    worst_group,
)
from cobalance.evaluation.metrics.metric import Inputs, score_metrics
from cobalance.evaluation.predictions import check_predictions
from tests.evaluation.tables import frame_f, one_row_an_image

STATES = ("common", "uncommon", "none")


def value(scores: pd.DataFrame) -> float:
    assert len(scores) == 1
    return float(scores["value"].iloc[0])


def test_values_of_frame_f():
    table = frame_f()
    assert value(balanced_accuracy(table)) == pytest.approx(0.735)
    assert value(out_of_distribution(table)) == pytest.approx(0.41)
    assert value(worst_group(table)) == pytest.approx(0.40)
    assert value(balanced_accuracy(table, by="class")) == pytest.approx((0.74 + 0.73) / 2)
    assert value(worst_group(table, by="class")) == pytest.approx(0.73)
    worst = (
        group_accuracy(table).set_index("group").loc["urban, background uncommon, object uncommon"]
    )
    assert [round(worst[name], 4) for name in ("value", "low", "high", "n")] == [
        0.4,
        0.3094,
        0.4980,
        100,
    ]


def test_rows_of_images_give_what_counts_give():
    counts = frame_f()
    rows, groups = one_row_an_image(counts)
    rates = {"rates": {"background": 0.95, "object": 0.9}}
    names = ("group_accuracy", "balanced_accuracy", "out_of_distribution", "worst_group")
    for name, options in (*((name, {}) for name in names), ("shortcut_gaps", rates)):
        metric = METRICS.open(name, options)
        of_rows = metric(Inputs(predictions=rows, groups=groups))
        pd.testing.assert_frame_equal(metric(Inputs(predictions=counts)), of_rows)


runs_of_images = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from("abcd"),
        st.sampled_from(STATES),
        st.sampled_from(STATES),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=50)
@given(runs_of_images, st.lists(st.integers(0, 5), min_size=30, max_size=30))
def test_accuracies_are_those_of_a_brute_force(images, counts):
    rows = [(*image, n) for image, n in zip(images, counts, strict=False)]
    columns = ["class_name", "predicted", "first", "second", "n"]
    table = check_predictions(pd.DataFrame(rows, columns=columns))
    expanded = [row[:4] for row in rows for _ in range(row[4])]
    groups = {}
    for name, predicted, first, second in expanded:
        groups.setdefault((name, first, second), []).append(name == predicted)
    means = [np.mean(right) for right in groups.values()]
    found = group_accuracy(table)
    assert sorted(found["value"].dropna()) == pytest.approx(sorted(means))
    assert found["n"].sum() == len(expanded)
    assert (found["n"] == 0).tolist() == found["value"].isna().tolist()
    assert value(balanced_accuracy(table)) == pytest.approx(
        np.mean(means) if means else np.nan, nan_ok=True
    )
    assert value(worst_group(table)) == pytest.approx(min(means, default=np.nan), nan_ok=True)
    out = [name == predicted for name, predicted, *states in expanded if states == ["uncommon"] * 2]
    assert value(out_of_distribution(table)) == pytest.approx(
        np.mean(out) if out else np.nan, nan_ok=True
    )


def test_unequal_groups_count_once_each_and_images_of_the_ood_set_once_each():
    rows = [("a", "a", "common", 90), ("a", "b", "common", 10), ("a", "a", "uncommon", 1)]
    rows += [("b", "a", "uncommon", 3), ("b", "b", "common", 1)]
    table = check_predictions(pd.DataFrame(rows, columns=["class_name", "predicted", "place", "n"]))
    assert value(balanced_accuracy(table)) == pytest.approx((0.9 + 1 + 0 + 1) / 4)
    assert value(out_of_distribution(table)) == pytest.approx(1 / 4)
    assert value(worst_group(table)) == 0


def test_a_group_of_one_image_has_a_wide_interval():
    table = check_predictions(
        pd.DataFrame({"image": ["1"], "class_name": ["a"], "predicted": ["a"]})
    )
    low, high = group_accuracy(table)[["low", "high"]].iloc[0]
    z = 1.959964
    assert low == pytest.approx(1 / (1 + z**2), abs=1e-6)
    assert high == 1


def test_a_class_without_images_stays_as_nan():
    table = check_predictions(
        pd.DataFrame({"image": ["1"], "class_name": ["a"], "p_a": [0.2], "p_b": [0.8]})
    )
    scores = group_accuracy(table).set_index("group")
    assert scores["value"].to_dict() == {"a": 0, "b": pytest.approx(np.nan, nan_ok=True)}
    assert value(balanced_accuracy(table)) == 0


def test_runs_are_scored_one_by_one():
    one, other = frame_f(), frame_f()
    other["predicted"] = other["class_name"]
    table = pd.concat(
        [one.assign(method="erm"), one.assign(method="erm", seed=7), other.assign(method="dfr")]
    )
    scores = balanced_accuracy(check_predictions(table))
    assert list(scores[["method", "seed", "value"]].itertuples(index=False, name=None)) == [
        ("erm", 0, pytest.approx(0.735)),
        ("erm", 7, pytest.approx(0.735)),
        ("dfr", 0, 1),
    ]


def test_attributes_that_are_no_shortcuts_make_groups_too():
    table = check_predictions(
        pd.DataFrame({"image": ["1", "2"], "class_name": ["a", "a"], "predicted": ["a", "b"]})
    )
    people = pd.DataFrame({"image": ["2", "1"], "person": ["woman", "man"]})
    scores = group_accuracy(table, people).set_index("group")["value"]
    assert scores.to_dict() == {"a, person man": 1, "a, person woman": 0}
    with pytest.raises(OptionError, match="needs the state of at least one shortcut"):
        out_of_distribution(table, people)


def test_unknown_images_are_named():
    table = check_predictions(
        pd.DataFrame({"image": ["1", "x"], "class_name": ["a", "a"], "predicted": ["a", "b"]})
    )
    groups = pd.DataFrame({"image": ["1"], "place": ["common"]})
    with pytest.raises(InputError, match="names 1 image missing from groups: 'x'"):
        group_accuracy(table, groups)


def test_too_many_shortcuts_are_refused():
    table = frame_f().assign(**{f"s{code}": "common" for code in range(12)})
    with pytest.raises(OptionError, match="14 shortcuts and 2 classes give 32,768 groups"):
        group_accuracy(table)


def test_a_metric_says_what_it_needs():
    with pytest.raises(OptionError, match="worst_group needs predictions; given: captions"):
        METRICS.open("worst_group")(Inputs(captions=pd.DataFrame()))


def images_with_unknown_gender(n: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Predictions of two runs, and groups of which some genders are unknown in three spellings."""
    rng = np.random.default_rng(0)
    images = pd.DataFrame({"image": [f"{row}.jpg" for row in range(n)]})
    images["class_name"] = rng.choice(["cook", "nurse"], n)
    groups = images[["image"]].assign(
        gender=rng.choice(np.array(["man", "woman", "none", "", None], dtype=object), n),
        background=rng.choice(STATES, n),
    )
    right = rng.random(n) < np.where(groups["gender"].isin(["man", "woman"]), 0.8, 0.2)
    other = np.where(images["class_name"] == "cook", "nurse", "cook")
    first = images.assign(predicted=np.where(right, images["class_name"], other), method="erm")
    second = images.assign(predicted=images["class_name"], method="dfr")
    return check_predictions(pd.concat([first, second], ignore_index=True)), groups


def test_images_of_unknown_attribute_are_in_no_group_and_counted():
    table, groups = images_with_unknown_gender()
    chosen = {"group_accuracy": {}, "balanced_accuracy": {}, "worst_group": {}, "accuracy": {}}
    scored = score_metrics(Inputs(predictions=table, groups=groups), chosen).frame
    known = groups["gender"].isin(["man", "woman"]).to_numpy()
    for method, rows in table.groupby("method"):
        right = (rows["class_name"] == rows["predicted"]).to_numpy()
        cells = [
            right[known & (groups["gender"] == gender) & (groups["background"] == state) & of_class]
            for of_class in (rows["class_name"].to_numpy() == name for name in ("cook", "nurse"))
            for gender in ("man", "woman")
            for state in STATES
        ]
        means = [float(cell.mean()) for cell in cells]
        found = scored[scored["method"] == method].set_index("metric")
        assert found.loc["group_accuracy", "value"].tolist() == pytest.approx(means)
        assert not found["group"].str.contains("gender none").any()
        assert found.loc["balanced_accuracy", "value"] == pytest.approx(np.mean(means))
        assert found.loc["balanced_accuracy", "n"] == known.sum()
        assert found.loc["worst_group", "value"] == pytest.approx(min(means))
        assert found.loc["images_without_attribute", "value"] == (~known).sum()  # once
        assert found.loc["accuracy", ["value", "n"]].tolist() == pytest.approx([right.mean(), 300])


def test_a_method_is_compared_on_images_of_known_attributes():
    table, groups = images_with_unknown_gender()
    found = compare_methods(table, groups, "erm", np.random.default_rng(0), draws=50)
    values = found.set_index("metric")
    alone = table[table["method"] == "erm"]
    for metric in (balanced_accuracy, worst_group):
        expected = metric(alone, groups)["value"].iloc[0]
        assert values.loc[metric.__name__, ["before", "after"]].tolist() == [
            pytest.approx(expected),
            1,
        ]
    assert not found["group"].str.contains("gender none").any()
    right = (alone["class_name"] == alone["predicted"]).mean()
    assert values.loc["accuracy", "before"] == pytest.approx(right)
