import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.proportion import proportion_confint

from cobalance.annotation.auditing.correction import corrected_counts, rates

COLUMNS = ["concept", "class_name", "labelled", "shows"]
ROWS = st.lists(
    st.tuples(st.sampled_from("xy"), st.sampled_from("ab"), st.booleans(), st.booleans()),
    max_size=40,
)


def audited(rows):
    return pd.DataFrame(rows, columns=COLUMNS).astype({"labelled": bool, "shows": bool})


@given(ROWS)
def test_rates_equal_counting_by_hand(rows):
    found = rates(audited(rows))
    assert list(zip(found["concept"], found["class_name"], strict=True)) == sorted(
        {row[:2] for row in rows}
    )
    for row in found.to_dict("records"):
        for name, labelled in (("precision", True), ("false_omission", False)):
            of = [
                r[3]
                for r in rows
                if r[:2] == (row["concept"], row["class_name"]) and r[2] == labelled
            ]
            assert row[f"{name}_n"] == len(of)
            if not of:
                assert np.isnan([row[name], row[f"{name}_low"], row[f"{name}_high"]]).all()
                continue
            low, high = proportion_confint(sum(of), len(of), method="wilson")
            assert row[name] == sum(of) / len(of)
            assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx((low, high))


def test_a_hundred_at_nine_tenths_and_nine_hundred_at_two_hundredths_are_108():
    rows = [("sky", "bird", True, i < 45) for i in range(50)]
    rows += [("sky", "bird", False, i < 1) for i in range(50)]
    counts = pd.DataFrame(
        {
            "concept": ["sky", "sea"],
            "class_name": "bird",
            "labelled": [100, 0],
            "unlabelled": [900, 5],
        }
    )
    found = corrected_counts(counts, rates(audited(rows)))
    assert found.loc[0, "corrected"] == pytest.approx(108)
    precision = proportion_confint(45, 50, method="wilson")
    omission = proportion_confint(1, 50, method="wilson")
    down = np.hypot(100 * (0.9 - precision[0]), 900 * (0.02 - omission[0]))
    up = np.hypot(100 * (precision[1] - 0.9), 900 * (omission[1] - 0.02))
    assert found.loc[0, ["low", "high"]].tolist() == pytest.approx([108 - down, 108 + up])
    assert found.loc[1, ["corrected", "low", "high"]].isna().all()


def test_a_part_without_images_needs_no_audit():
    counts = pd.DataFrame(
        {"concept": ["x"], "class_name": ["a"], "labelled": [10], "unlabelled": [0]}
    )
    found = corrected_counts(counts, rates(audited([("x", "a", True, True)] * 4)))
    assert found[["corrected", "high"]].to_numpy().tolist() == [[10, 10]]
