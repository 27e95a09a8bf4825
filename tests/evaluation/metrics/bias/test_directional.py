"""Directional amplification of images, against brute force, and of counts that stand for images."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import DataError, InputError, OptionError, UnknownNameError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.bias.directional import directional_amplification
from cobalance.evaluation.metrics.metric import Inputs
from tests.evaluation.metrics.bias.scored import value

CARD = pd.DataFrame(
    {
        "attribute": list("aabb"),
        "task": ["cook", "none"] * 2,
        "test": [2, 1, 1, 4],
        "predicted": [3, 0, 0, 5],
    }
)


def score(name: str, table: pd.DataFrame, **options: object) -> pd.Series:
    return METRICS.open(name, options)(Inputs(table=table)).set_index(["metric", "group"])["value"]


def test_the_authors_card_from_counts() -> None:
    found = score("directional_amplification", CARD.astype("str"))
    assert found["attribute_to_task", ""] == pytest.approx(0.26667, abs=1e-5)
    assert found["attribute_to_task", "a → cook"] == pytest.approx(1 / 3)
    assert found["attribute_to_task", "b → cook"] == pytest.approx(0.2)
    even = CARD.assign(training=1)
    assert score("directional_amplification", even)["attribute_to_task", ""] == 0
    assert score("directional_amplification", even, ties="negative")[
        "attribute_to_task", ""
    ] == pytest.approx((-1 / 3 + 0.2) / 2)


@given(st.integers(0, 2**32 - 1))
def test_counts_equal_images(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    names = ["attribute", "task", "told_attribute", "told_task"]
    images = pd.DataFrame({name: rng.choice(list("xyz"), n) for name in names})
    images.loc[:2, "attribute"] = images.loc[:2, "told_attribute"] = list("xyz")
    images.loc[:2, "task"] = images.loc[:2, "told_task"] = list("xyz")
    counts = {
        "test": images.groupby(["attribute", "task"]).size(),
        "predicted": images.groupby(["attribute", "told_task"]).size(),
        "predicted_attribute": images.groupby(["told_attribute", "task"]).size(),
    }
    for one in counts.values():
        one.index.names = ["attribute", "task"]
    table = pd.DataFrame(counts).fillna(0).reset_index()
    expected = directional_amplification(
        images["task"],
        images["attribute"],
        predicted_labels=images["told_task"],
        predicted_attributes=images["told_attribute"],
    ).set_index(["metric", "group"])["value"]
    found = score("directional_amplification", table.sample(frac=1, random_state=0))
    pd.testing.assert_series_equal(found, expected)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (CARD.assign(predicted=[3, 1, 0, 5]), "'a' has 3 images in test, and 4 in predicted"),
        (CARD.drop(columns="predicted"), "no column predicted or predicted_attribute"),
        (CARD.assign(test=0.5), r"row 1: test is 0\.5, which is no number of images"),
        (CARD.assign(task="cook"), "row 2: 'a' and 'cook' are there twice"),
        (CARD.assign(test=1e9), "adds up to"),
    ],
    ids=["sizes", "column", "share", "twice", "many"],
)
def test_counts_that_cannot_be_used_say_where(table: pd.DataFrame, said: str) -> None:
    with pytest.raises(InputError, match=said):
        score("directional_amplification", table)


def test_the_authors_card() -> None:
    labels, found = [[0], [1], [1], [0], [0], [0], [0], [1]], [[1]] * 3 + [[0]] * 5
    attributes = np.array([[0, 1]] * 3 + [[1, 0]] * 5)
    scores = directional_amplification(labels, attributes, predicted_labels=found)
    assert round(value(scores, "attribute_to_task"), 4) == 0.2667
    pairs = scores[scores["group"] != ""]["value"].round(4).tolist()
    assert pairs == [0.2, 0.3333]


@pytest.mark.parametrize(("ties", "expected"), [("zero", 0.0), ("negative", -0.05)])
def test_exact_independence_in_training(ties: str, expected: float) -> None:
    labels = np.tile([1] * 5 + [0] * 5, 2)[:, None]
    found = labels.copy()
    found[5] = 1
    scores = directional_amplification(
        labels,
        ["a"] * 10 + ["b"] * 10,
        predicted_labels=found,
        ties=ties,  # type: ignore[arg-type]
    )
    assert value(scores, "attribute_to_task") == pytest.approx(expected)
    assert value(scores, "attribute_to_task_absolute") == pytest.approx(0.05)


@settings(max_examples=40)
@given(st.data())
def test_both_directions_equal_brute_force(data: st.DataObject) -> None:
    n, n_tasks, n_attributes = (data.draw(st.integers(1, most)) for most in (12, 3, 3))

    def bits(rows: int, width: int) -> list[list[int]]:
        row = st.lists(st.integers(0, 1), min_size=width, max_size=width)
        return data.draw(st.lists(row, min_size=rows, max_size=rows))

    m = data.draw(st.integers(1, 12))
    tasks, found_tasks = bits(n, n_tasks), bits(n, n_tasks)
    people, found_people = bits(n, n_attributes), bits(n, n_attributes)
    training, training_people = bits(m, n_tasks), bits(m, n_attributes)
    kept = [i for i in range(m) if any(training[i]) or any(training_people[i])]

    def sign(attribute: int, task: int) -> int:
        both = sum(training_people[i][attribute] * training[i][task] for i in kept)
        one = sum(training_people[i][attribute] for i in kept)
        other = sum(training[i][task] for i in kept)
        return (both * len(kept) > one * other) - (both * len(kept) < one * other)

    def mean(given_: list[list[int]], truth: list[list[int]], found: list[list[int]]) -> list:
        pairs = []
        for c in range(len(given_[0])):
            rows = [i for i in range(n) if given_[i][c]]
            for o in range(len(truth[0])):
                if rows:
                    delta = sum(found[i][o] - truth[i][o] for i in rows) / len(rows)
                    pairs.append(((c, o), delta))
        return pairs

    scores = directional_amplification(
        tasks,
        people,
        predicted_labels=found_tasks,
        predicted_attributes=found_people,
        training_labels=training,
        training_attributes=training_people,
    )
    for metric, pairs, turned in (
        ("attribute_to_task", mean(people, tasks, found_tasks), False),
        ("task_to_attribute", mean(tasks, people, found_people), True),
    ):
        if not pairs:
            assert math.isnan(value(scores, metric))
            continue
        signed = [sign(*(pair[::-1] if turned else pair)) * delta for pair, delta in pairs]
        assert value(scores, metric) == pytest.approx(sum(signed) / len(pairs), abs=1e-12)
        assert value(scores, f"{metric}_absolute") == pytest.approx(
            sum(abs(delta) for _, delta in pairs) / len(pairs), abs=1e-12
        )
    assert len(scores) == 4 + 2 * n_tasks * n_attributes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Nothing is predicted"),
        ({"predicted_labels": [[0.5], [1]]}, "predicted_labels, row 1, column '0' is 0.5"),
        ({"predicted_labels": [[1]]}, "predicted_labels has 1"),
        ({"predicted_labels": [[1, 0], [0, 1]]}, "Give the same labels in both"),
        ({"predicted_labels": [[1], [1]], "training_labels": [[1]]}, "together"),
    ],
    ids=["none", "scores", "rows", "labels", "training"],
)
def test_labels_that_cannot_be_used_say_why(options: dict[str, object], message: str) -> None:
    with pytest.raises((OptionError, DataError), match=message):
        directional_amplification([[1], [0]], ["a", "b"], **options)  # type: ignore[arg-type]


def test_an_unknown_rule_for_ties_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown ties 'positive'"):
        directional_amplification(
            [[1], [0]],
            ["a", "b"],
            predicted_labels=[[1], [0]],
            ties="positive",  # type: ignore[arg-type]
        )
