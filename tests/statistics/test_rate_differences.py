"""Differences of rates, and where rates contradict counts, against exact fractions."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.statistics.association import DISAGREEMENTS, disagreements, rate_differences
from cobalance.statistics.imbalance import imbalance_table
from cobalance.statistics.order import by_evidence
from tests.statistics.test_imbalance import make_cliques


@st.composite
def tables(draw, smallest=0):
    """Class sizes, empty ones among them, and the counts of some cliques."""
    size = st.sampled_from([0, 1, 3, 30, 90, 3335, 4665, 10**6]).filter(lambda n: n >= smallest)
    sizes = draw(st.lists(size, min_size=1, max_size=4))
    few = [st.integers(0, n) | st.integers(0, min(n, 4)) for n in sizes]
    return draw(st.lists(st.tuples(*few), max_size=8)), sizes


def as_arrays(counts, sizes):
    return np.array(counts, dtype=np.int64).reshape(-1, len(sizes)), np.array(sizes)


def rates_of(row, sizes):
    return [Fraction(n, total) if total else None for n, total in zip(row, sizes, strict=True)]


@given(tables())
def test_the_difference_is_that_of_the_exact_rates(table):
    counts, sizes = table
    found, highest, lowest = rate_differences(*as_arrays(counts, sizes))
    for row, value, high, low in zip(counts, found, highest, lowest, strict=True):
        rates = rates_of(row, sizes)
        known = [rate for rate in rates if rate is not None] or [Fraction(0)]
        assert value == float(max(known) - min(known))  # to the last bit
        if value:
            assert (rates[high], rates[low]) == (max(known), min(known))
            assert (high, low) == (rates.index(max(known)), rates.index(min(known)))


@given(tables(smallest=1))
def test_counts_and_rates_disagree_as_their_signs_do(table):
    counts, sizes = table
    found = [DISAGREEMENTS[code] for code in disagreements(*as_arrays(counts, sizes))]
    for row, said in zip(counts, found, strict=True):
        rates = rates_of(row, sizes)
        over, under = row.index(max(row)), row.index(min(row))
        if min(row) == max(row):
            assert bool(said) == (len(set(rates)) > 1)
        elif len(row) == 2:
            agree = (row[0] - row[1]) * (rates[0] - rates[1]) > 0
            assert bool(said) == (not agree)
        else:
            assert bool(said) == (rates[under] > min(rates) or rates[under] == rates[over])
        if said == "fewer images, higher rate":
            assert min(row) < max(row)
            assert rates[under] > rates[over]
        if said == "lowest rate elsewhere":
            assert min(rates) < rates[under] < rates[over]
        if len(set(sizes)) == 1:
            assert said == ""


@given(tables(smallest=1))
def test_the_odds_ratio_has_the_direction_of_the_rates(table):
    counts, sizes = table
    counts, sizes = counts[:6], sizes[:3]
    frame = imbalance_table(make_cliques([row[:3] for row in counts], sizes))
    # Half an image in each cell of a table with an empty one may turn a ratio near 1.
    full = [
        min(min(row), min(np.subtract(sizes, row))) > 0
        for row in frame.filter(like="count_").to_numpy()
    ]
    assert ((frame["log_odds_ratio"] > 0) == (frame["effect"] > 0))[full].all()


def test_words_by_hand():
    counts = [[5, 10, 20], [10, 5, 5], [30, 20, 40], [1, 1, 1], [8, 2, 20]]
    frame = imbalance_table(make_cliques(counts, [50, 100, 400]))
    assert frame["disagreement"].astype(object).where(
        frame["disagreement"].notna(), ""
    ).tolist() == [
        "fewer images, higher rate",  # 10% against 5% of the class with most images
        "lowest rate elsewhere",  # "too few" names the first of two with 5 images
        "fewer images, higher rate",
        "as many images, different rates",
        "",
    ]
    frame = imbalance_table(make_cliques([[6, 5, 8]], [100, 50, 400]))
    assert frame["disagreement"].tolist() == ["fewer images, higher rate"]
    frame = imbalance_table(make_cliques([[40, 6, 7]], [100, 50, 400]))
    assert frame["disagreement"].tolist() == ["lowest rate elsewhere"]
    assert (frame["highest_rate"].tolist(), frame["lowest_rate"].tolist()) == (
        ["country"],
        ["urban"],
    )


def test_a_class_without_images_has_no_rate():
    frame = imbalance_table(make_cliques([[0, 10, 20], [0, 5, 5]], [0, 50, 100]))
    assert frame["under_represented"].tolist() == ["country", "country"]
    assert frame["disagreement"].tolist() == ["the class has no images"] * 2
    assert frame["effect"].tolist() == [0, 0.05]
    assert frame["highest_rate"].astype(object).tolist()[1] == "town"
    assert frame["highest_rate"].isna().tolist() == [True, False]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6))
def test_classes_of_one_size_are_ranked_as_by_their_gaps(counts):
    frame = by_evidence(imbalance_table(make_cliques(counts, [40, 40])))
    by_gap = frame.sort_index().sort_values(["leans", "gap"], ascending=False, kind="stable")
    assert frame.index.tolist() == by_gap.index.tolist()
    assert frame["disagreement"].isna().all()


@pytest.mark.parametrize("sizes", [[9], [0, 9], [0, 0]], ids=str)
def test_nothing_to_compare_leans_nowhere(sizes):
    frame = imbalance_table(make_cliques([[min(3, n) for n in sizes]], sizes))
    assert not frame["leans"].any()
    assert frame["effect"].tolist() == [0]
    assert pd.isna(frame["highest_rate"].iloc[0])
