"""The imbalance table row by row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import OptionError
from cobalance.base.records import Annotations
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import incidence_of
from cobalance.statistics.imbalance import imbalance_table
from tests.support.unequal import images, rows_of


def make_cliques(counts, class_sizes, members=None, concepts=("cow", "road", "sign")) -> Cliques:
    members = [[0, -1], [1, -1], [2, -1], [0, 1], [0, 2], [1, 2]] if members is None else members
    return Cliques(
        np.array(members[: len(counts)], dtype=np.int32).reshape(-1, 2),
        np.array(counts, dtype=np.int64).reshape(-1, len(class_sizes)),
        np.array(class_sizes),
        concepts,
        ("country", "town", "urban")[: len(class_sizes)],
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    counts = [[30, 10], [5, 25], [7, 7], [5, 5], [6, 0], [0, 6]]
    return imbalance_table(make_cliques(counts, [100, 100]))


@st.composite
def cliques(draw):
    sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=3))
    counts = draw(st.lists(st.tuples(*(st.integers(0, n) for n in sizes)), max_size=6))
    return make_cliques(counts, sizes)


def test_columns(frame):
    assert list(frame.columns) == [
        "concepts",
        "size",
        "count_country",
        "count_town",
        "rate_country",
        "rate_town",
        "gap",
        "over_represented",
        "under_represented",
        "lift",
        "log_odds_ratio",
        "log_odds_ratio_low",
        "log_odds_ratio_high",
        "p_value",
        "q_value",
        "test",
        "leans",
        "effect",
        "highest_rate",
        "lowest_rate",
        "disagreement",
    ]
    assert frame.index.tolist() == list(range(6))


def test_row_by_hand(frame):
    row = frame.loc[0]
    assert (row["concepts"], row["size"], row["gap"]) == (("cow",), 1, 20)
    assert (row["over_represented"], row["under_represented"]) == ("country", "town")
    assert (row["rate_country"], row["rate_town"]) == (0.3, 0.1)
    assert row["lift"] == pytest.approx(1.5)
    assert row["log_odds_ratio"] == pytest.approx(np.log((30 * 90) / (70 * 10)))
    assert row["log_odds_ratio_low"] < row["log_odds_ratio"] < row["log_odds_ratio_high"]
    # chi-square = n (ad - bc)^2 / the product of the margins = 12.5, one degree of freedom
    assert row["p_value"] == pytest.approx(0.000407, abs=1e-6)
    assert (row["test"], frame.loc[4, "test"]) == ("chi-square", "fisher")


def test_balanced_cliques_stay_and_name_no_class(frame):
    balanced = frame[frame["gap"] == 0]
    assert balanced["concepts"].tolist() == [("sign",), ("cow", "road")]
    assert balanced["under_represented"].isna().all()
    assert balanced["over_represented"].isna().all()
    assert balanced["log_odds_ratio"].tolist() == pytest.approx([0, 0])


@pytest.mark.parametrize("n_classes", [6, 20])
def test_rates_and_odds_compare_one_pair_of_classes_and_counts_their_own(n_classes):
    records = images(n_classes)
    expected = rows_of(records)
    incidence = incidence_of(Annotations.from_records(records))
    table = imbalance_table(mine_cliques(incidence, max_size=2, common=()))
    found = {row["concepts"]: row for row in table.to_dict("records")}
    assert found.keys() == expected.keys()
    for concepts, row in expected.items():
        names = ("over_represented", "under_represented", "gap", "highest_rate", "lowest_rate")
        ours = [found[concepts][name] for name in names]
        assert ours == [row.most, row.fewest, row.gap, row.highest, row.lowest]
        assert found[concepts]["effect"] == float(row.effect)
        odds = [found[concepts][f"log_odds_ratio{end}"] for end in ("", "_low", "_high")]
        assert odds == pytest.approx(row.log_odds)
    # Another pair by counts, or this would tell nothing.
    pairs = [(row.most, row.fewest) != (row.highest, row.lowest) for row in expected.values()]
    assert sum(pairs) > len(pairs) / 2


def test_equal_rates_of_unequal_classes_are_ties_that_the_first_class_wins():
    counts = [[1, 2, 100], [2, 4, 100], [2, 2, 150], [3, 6, 300], [0, 0, 9]]
    frame = imbalance_table(make_cliques(counts, [3, 6, 300]))
    pairs = frame[["highest_rate", "lowest_rate"]].astype(object)
    assert pairs.where(pairs.notna(), None).to_numpy().tolist() == [
        [None, None],
        ["country", "urban"],
        ["country", "town"],
        [None, None],
        ["urban", "country"],
    ]
    # 1 to 1 where rates are equal, also where all images show it: half an image changes nothing.
    assert frame["log_odds_ratio"].iloc[[0, 3]].tolist() == [0, 0]


def test_confidence_widens_the_interval():
    one = make_cliques([[30, 10]], [100, 100])
    widths = [
        np.ptp(imbalance_table(one, confidence=c)[["log_odds_ratio_low", "log_odds_ratio_high"]])
        for c in (0.5, 0.95, 0.99)
    ]
    assert widths == sorted(widths)
    with pytest.raises(OptionError, match="confidence is 95"):
        imbalance_table(one, confidence=95)


@given(cliques())
def test_gap_and_classes_by_definition(table):
    frame = imbalance_table(table)
    assert len(frame) == len(table)
    for row, counts in zip(frame.itertuples(), table.counts.tolist(), strict=True):
        assert row.gap == max(abs(a - b) for a in counts for b in counts)
        if row.gap:
            assert row.under_represented == table.classes[counts.index(min(counts))]
            assert row.over_represented == table.classes[counts.index(max(counts))]
        else:
            assert pd.isna(row.under_represented)
            assert pd.isna(row.over_represented)
        assert 0 <= row.p_value <= row.q_value <= 1
        assert pd.notna(row.test)
        limits = [row.log_odds_ratio_low, row.log_odds_ratio, row.log_odds_ratio_high]
        assert np.isnan(limits).all() or limits == sorted(limits)


def test_no_cliques():
    assert len(imbalance_table(make_cliques([], [5, 5]))) == 0
