"""Bias amplification against values by hand and brute force in whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalance.evaluation.metrics.bias.amplification import mals_amplification
from cobalance.evaluation.metrics.bias.directional import directional_amplification
from cobalance.evaluation.metrics.bias.object_tables import count_table
from cobalance.graph.errors import OptionError
from tests.evaluation.metrics.bias.scored import value

COUNTS = st.integers(0, 6)


def tables(n_groups: int) -> st.SearchStrategy[list[list[list[int]]]]:
    row = st.lists(COUNTS, min_size=n_groups, max_size=n_groups)
    return st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(row, min_size=n, max_size=n), min_size=2, max_size=2)
    )


def test_more_women_cook_after_training() -> None:
    scores = mals_amplification([[30, 10]], [[36, 8]])
    assert value(scores, "mals_amplification") == pytest.approx(36 / 44 - 30 / 40)
    assert round(value(scores, "mals_amplification"), 4) == 0.0682
    assert value(scores, "mals_violations") == 1
    assert value(mals_amplification([[30, 10]], [[36, 8]], margin=0.07), "mals_violations") == 0


def test_shares_counts_and_percentages_agree_in_any_order() -> None:
    counts = pd.DataFrame({"woman": [66, 20], "man": [34, 80]}, index=["cooking", "driving"])
    after = pd.DataFrame({"verb": ["driving", "cooking"], "man": [0.9, 0.16], "woman": [0.1, 0.84]})
    expected = (0.18 + 0.1) / 2
    first = counts["woman"] / 100
    for before, later in (
        (counts, after),
        (counts / 100, after),
        (first, pd.Series({"driving": 0.1, "cooking": 0.84})),
        (counts, pd.Series({"driving": 0.1, "cooking": 0.84})),
        (first, after.set_index("verb")[["woman", "man"]]),
        (counts.to_numpy(), [[84, 16], [10, 90]]),
        ([0.66, 0.2], [0.84, 0.1]),
        ({"woman": [66, 20], "man": [34, 80]}, {"man": [16, 90], "woman": [84, 10]}),
    ):
        scores = mals_amplification(before, later)
        assert value(scores, "mals_amplification") == pytest.approx(expected)
        assert value(scores, "mals_violations") == 2


def test_published_shares_that_do_not_quite_add_up_stay_as_published() -> None:
    scores = mals_amplification([[0.67, 0.34]], [[0.84, 0.17]])
    assert value(scores, "mals_amplification") == pytest.approx(0.17)


@settings(max_examples=40)
@given(tables(2) | tables(3))
def test_equals_brute_force(both: list[list[list[int]]]) -> None:
    before, after = both
    sums, absolute, beyond = [], [], 0
    for row, later in zip(before, after, strict=True):
        if not sum(row) or not sum(later):
            continue
        changes = [
            Fraction(b, sum(later)) - Fraction(a, sum(row)) for a, b in zip(row, later, strict=True)
        ]
        leans = [Fraction(a, sum(row)) > Fraction(1, len(row)) for a in row]
        sums.append(sum(change for change, lean in zip(changes, leans, strict=True) if lean))
        absolute += [abs(change) for change in changes]
        beyond += any(abs(change) > Fraction(1, 20) for change in changes)
    scores = mals_amplification(before, after)
    assert value(scores, "mals_violations") == beyond
    assert value(scores, "mals_amplification", column="n") == len(sums)
    if sums:
        assert value(scores, "mals_amplification") == pytest.approx(float(sum(sums) / len(sums)))
        assert value(scores, "mals_absolute") == pytest.approx(float(sum(absolute) / len(absolute)))
    else:
        assert math.isnan(value(scores, "mals_amplification"))
    assert len(scores) == 3 + len(before)


def test_after_rebalancing_only_the_absolute_change_is_seen() -> None:
    scores = mals_amplification([[20, 20]], [[30, 10]])
    assert value(scores, "mals_amplification") == 0
    assert value(scores, "mals_absolute") == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ([[3, -1]], [[3, 1]], "before, row '0', column '1' is -1"),
        ([[3, 1]], [[3, math.nan]], "after, row '0', column '1' is nan"),
        ([[3, 1]], [[3, 1], [2, 2]], "same objects and groups"),
        ([[3]], [[3]], "before has 1 groups"),
        ([66, 20], [84, 10], "from 0 to 1"),
        (
            pd.DataFrame({"m": [1], "w": [2]}, index=["cup"]),
            pd.DataFrame({"m": [1], "w": [2]}, index=["pan"]),
            "differ in their objects: 'cup'",
        ),
        (
            pd.DataFrame({"m": [1], "w": [2]}),
            pd.DataFrame({"m": [1], "x": [2]}),
            "differ in their groups: 'w'",
        ),
    ],
    ids=["negative", "nan", "shape", "one group", "percent", "objects", "groups"],
)
def test_a_table_that_cannot_be_used_says_where(
    before: object, after: object, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        mals_amplification(before, after)  # type: ignore[arg-type]


def test_predictions_become_a_table() -> None:
    table = count_table([[1, 1], [1, 0], [0, 1]], ["w", "m", "m"])
    assert table.to_dict() == {"m": {"0": 1, "1": 1}, "w": {"0": 1, "1": 1}}


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
    with pytest.raises(OptionError, match=message):
        directional_amplification([[1], [0]], ["a", "b"], **options)  # type: ignore[arg-type]
