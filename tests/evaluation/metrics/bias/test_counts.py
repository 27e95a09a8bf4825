"""Counts and shares of papers give what the images that they stand for give."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.bias.directional import directional_amplification
from cobalance.evaluation.metrics.bias.rankings import max_skew, ndkl
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.graph.errors import InputError

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


def test_shares_give_what_rankings_give() -> None:
    ranked = [list("mmwm"), list("wmmm")]
    rows = [
        {"query": name, "k": k, "group": group, "share": query[:k].count(group), "parity": fair}
        for name, query in zip("ab", ranked, strict=True)
        for k in range(1, 5)
        for group, fair in (("m", 3), ("w", 1))
    ]
    table = pd.DataFrame(rows)
    assert score("ndkl", table)["ndkl", ""] == pytest.approx(ndkl(ranked)["value"].item())
    skews = score("max_skew", table)
    for k in range(1, 5):
        expected = max_skew(ranked, k)["value"].item()
        assert skews[f"max_skew@{k}", ""] == pytest.approx(expected)
    plain = pd.DataFrame({"Group": ["m", "w"], "Share": [0.75, 0.25]}).rename(columns=str.lower)
    assert score("max_skew", plain)["max_skew", ""] == pytest.approx(0.4055, abs=1e-4)
    for wrong, said in (
        (plain.assign(parity=[0, 1]), "has no parity"),
        (plain.assign(share=0), "add up to nothing"),
        (pd.concat([plain, plain]), "row 3: the group 'm' has a second share"),
    ):
        with pytest.raises(InputError, match=said):
            score("max_skew", wrong)
    with pytest.raises(InputError, match=r"no shares among the best 1, 2, \.\.\. images of 'b'"):
        score("ndkl", table[(table["query"] == "a") | (table["k"] > 1)])
