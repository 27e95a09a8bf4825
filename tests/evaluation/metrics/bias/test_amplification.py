"""Amplification towards majority groups against values by hand and brute force."""

import math
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import DataError, OptionError
from cobalance.evaluation.metrics.bias.amplification import mals_amplification
from cobalance.evaluation.metrics.bias.object_tables import count_table
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
    with pytest.raises((OptionError, DataError), match=message):
        mals_amplification(before, after)  # type: ignore[arg-type]


def test_predictions_become_a_table() -> None:
    table = count_table([[1, 1], [1, 0], [0, 1]], ["w", "m", "m"])
    assert table.to_dict() == {"m": {"0": 1, "1": 1}, "w": {"0": 1, "1": 1}}
