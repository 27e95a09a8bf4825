"""Properties that separate classes, against scipy's tests and all pairs of images."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cobalance.statistics.separation import auc_interval, separation_table


def all_pairs(inside, outside):
    higher = np.subtract.outer(inside, outside)
    return float((higher > 0).mean() + (higher == 0).mean() / 2)


def test_numbers_are_compared_by_rank():
    rng = np.random.default_rng(1)
    classes = pd.Series(["a"] * 40 + ["b"] * 30 + ["c"] * 20 + ["few"] * 4)
    shift = classes.map({"a": 0, "b": 0, "c": 3, "few": 90}).to_numpy()
    values = np.round(rng.normal(shift, 2))  # with ties
    values[:3] = np.nan
    table = separation_table(pd.DataFrame({"light": values, "same": 1.0}), classes)
    assert table["property"].tolist() == ["light"]
    row = table.iloc[0]
    groups = {name: values[(classes == name) & ~np.isnan(values)] for name in "abc"}
    assert row["p_value"] == pytest.approx(stats.kruskal(*groups.values()).pvalue)
    others = np.concatenate([groups["a"], groups["b"]])
    assert row["class"] == "c"
    assert row["auc"] == pytest.approx(all_pairs(groups["c"], others))
    assert row["effect"] == np.median(groups["c"]) - np.median(others)
    assert row["auc_low"] < row["auc"] < row["auc_high"]


def test_texts_are_compared_by_their_shares():
    classes = pd.Series(["a"] * 60 + ["b"] * 40)
    types = ["PNG"] * 30 + ["JPEG"] * 28 + ["GIF"] * 2 + ["JPEG"] * 39 + [None]
    frame = pd.DataFrame({"type": pd.Series(types, dtype=object), "camera": [None] * 100})
    table = separation_table(frame, classes)
    (row,) = table.to_dict("records")
    # JPEG is in 28 of 60 and 39 of 40: further apart than PNG with 30 and none.
    found = {
        kind: stats.chi2_contingency([[a, b], [60 - a, 40 - b]], correction=False).pvalue
        for kind, a, b in [("JPEG", 28, 39), ("PNG", 30, 0)]
    }
    kind = min(found, key=found.__getitem__)
    assert row["property"] == f"type {kind}"
    assert row["p_value"] == pytest.approx(3 * found[kind])
    shares = {"JPEG": (28 / 60, 39 / 40), "PNG": (30 / 60, 0)}[kind]
    assert (row["in_class"], row["in_others"]) == pytest.approx(shares)
    assert row["auc"] == pytest.approx(0.5 + (shares[0] - shares[1]) / 2)


def test_the_interval_solves_newcombes_equation():
    n, others, auc = 30, 50, 0.8
    for limit in auc_interval(auc, n, others):
        q1, q2, half = limit / (2 - limit), 2 * limit**2 / (1 + limit), (n + others) / 2 - 1
        variance = limit * (1 - limit) + half * (q1 - limit**2) + half * (q2 - limit**2)
        assert abs(auc - limit) == pytest.approx(1.959964 * np.sqrt(variance / (n * others)))
    low, high = auc_interval(1 - auc, n, others)
    assert (1 - high, 1 - low) == pytest.approx(auc_interval(auc, n, others))
    assert auc_interval(0.0, 9, 9)[0] == 0
    assert auc_interval(1.0, 9, 9)[1] == 1


def test_one_class_or_none_separates_nothing():
    frame = pd.DataFrame({"light": np.arange(10.0), "type": ["PNG"] * 9 + [None]})
    assert separation_table(frame, pd.Series(["a"] * 10)).empty
    assert separation_table(frame[:0], pd.Series([], dtype=object)).empty
