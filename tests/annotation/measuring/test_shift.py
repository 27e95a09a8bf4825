import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
from hypothesis import given, strategies as st

from cobalance.annotation.measuring.shift import shift_chart
from cobalance.evaluation.metrics.attributes import attribute_shift, shift_table

COLUMNS = ["category", "attribute", "real", "generated", "n_real", "n_generated"]


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.text("xyz", min_size=1), st.integers(0, 9),
                  st.integers(0, 7)),
        unique_by=lambda row: row[:2], min_size=1, max_size=8,
    )
)  # fmt: skip
def test_rows_are_those_of_the_metric(rows):
    counts = pd.DataFrame([(*row, 9, 7) for row in rows], columns=COLUMNS)
    found, metric = shift_table(counts), attribute_shift(counts)
    names = [f"{row['category']}: {row['attribute']}" for row in found.to_dict("records")]
    assert names == metric["group"].tolist()
    np.testing.assert_allclose(
        found[["difference", "low", "high"]], metric[["value", "low", "high"]]
    )
    by_name = counts.set_index(["category", "attribute"])
    for row in found.to_dict("records"):
        of = by_name.loc[(row["category"], row["attribute"])]
        assert row["real"] == 100 * of["real"] / 9
        assert row["generated"] == 100 * of["generated"] / 7


def test_a_generator_that_amplifies_has_negative_differences_first():
    counts = pd.DataFrame(
        [("hair", "fair", 30, 15, 100, 100), ("hair", "dark", 70, 85, 100, 100)], columns=COLUMNS
    )
    found = shift_table(counts)
    assert found["attribute"].tolist() == ["dark", "fair"]
    assert found["difference"].round(6).tolist() == [-15, 15]
    assert found.loc[0, "low"] < -15 < found.loc[0, "high"] < 0


def test_no_images_and_hostile_names_make_a_chart():
    rows = [("<b>&\x1b", "</svg>\"'", 0, 0, 0, 5), ("<b>&\x1b", "b", 3, 1, 4, 5)]
    table = shift_table(pd.DataFrame(rows, columns=COLUMNS))
    assert table["difference"].isna().tolist() == [False, True]
    root = ET.fromstring(shift_chart(table, "a < b"))
    bars = [one for one in root.iter() if one.tag.endswith("rect") and one.get("class")]
    assert [bar.get("class") for bar in bars] == ["fewer"]
    long = table.assign(attribute="w" * 500)
    texts = [one for one in ET.fromstring(shift_chart(long, "")).iter() if len(one) and one.text]
    named = [one for one in texts if one.text.startswith("w")]
    assert [one[0].text for one in named] == ["w" * 500] * 2  # the whole name is a tooltip
    assert max(len(one.text) for one in named) < 45
    empty = shift_table(pd.DataFrame(columns=COLUMNS))
    assert len(empty) == 0
    ET.fromstring(shift_chart(empty, ""))
