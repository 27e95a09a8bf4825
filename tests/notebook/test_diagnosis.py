"""Imbalances and comparisons without a database."""

import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import DataError, OptionError, UnknownNameError
from cobalance.counting.cliques import mine_cliques
from cobalance.statistics.imbalance import imbalance_table
from tests.support.unequal import images, rows_of


def test_the_frame_is_the_imbalance_table_by_evidence(found):
    cliques = mine_cliques(cb.urbancars().incidence(), max_size=2)
    table = imbalance_table(cliques)
    difference = (table["rate_country"] - table["rate_urban"]).abs().round(9)
    order = pd.DataFrame({"proven": table["q_value"] <= 0.05, "difference": difference})
    expected = order.sort_values([*order], ascending=False, kind="stable").index
    pd.testing.assert_frame_equal(found.frame, table.loc[expected].reset_index(drop=True))
    by_gap = table.sort_values("gap", ascending=False, kind="stable").reset_index(drop=True)
    pd.testing.assert_frame_equal(found.sort("gap").frame, by_gap)
    assert found.to_pandas() is not found.frame
    assert found.title() == (
        "89 concept combinations, 56 lean to a class (q ≤ 0.05), 30 more have a gap without such "
        "evidence; images: country 4,000, urban 4,000"
    )


def test_rows_are_filtered_sorted_and_cut(found):
    cows = found.where(concepts="cow", min_size=2, under_represented="urban")
    assert all("cow" in concepts and len(concepts) == 2 for concepts in cows.frame["concepts"])
    assert set(cows.frame["under_represented"]) == {"urban"}
    typed = found.where(concepts=" cow\u200b", min_size=2, under_represented="urban ")
    assert typed.frame.equals(cows.frame)
    assert len(found.where(max_q_value=0.05, max_size=1)) == 17
    by_lift = found.sort("lift", ascending=True).top(5)
    assert by_lift.frame["lift"].is_monotonic_increasing
    assert len(by_lift) == 5
    # The statistics stay those over all cliques.
    assert cows.frame["q_value"].isin(found.frame["q_value"]).all()
    for wrong in ({"concepts": "caw"}, {"under_represented": "rural"}, {"min_gap": -1}):
        with pytest.raises(OptionError):
            found.where(**wrong)
    with pytest.raises(UnknownNameError, match="unknown column 'gab'"):
        found.sort("gab")


@pytest.mark.parametrize("n_classes", [6, 20])
def test_a_row_names_the_classes_that_it_compares(n_classes):
    records = images(n_classes)
    rows = [(one.class_name, [mention.concept for mention in one.mentions]) for one in records]
    data = cb.read(pd.DataFrame(rows, columns=["class", "concepts"]))
    found = cb.imbalances(data, max_size=2, common=())
    expected = [rows_of(records)[clique] for clique in found.frame["concepts"]]
    shown = found.shown()
    assert shown["rate difference"].tolist() == [row.rate_difference for row in expected]
    assert shown["log odds ratio"].tolist() == [row.log_odds_text for row in expected]
    assert shown["count gap (ConBias)"].tolist() == [row.gap for row in expected]
    assert shown["most"].tolist() == [row.most for row in expected]
    assert shown["too few"].tolist() == [row.fewest for row in expected]
    assert found.frame["lowest_rate"].tolist() == [row.lowest for row in expected]
    odds = found.sort("log_odds_ratio").frame["log_odds_ratio"].tolist()
    assert odds == pytest.approx(sorted((row.log_odds[0] for row in expected), reverse=True))


def test_options_of_mining_are_passed_on():
    frame = pd.DataFrame(
        {
            "label": ["x", "x", "y", "y"],
            "tags": ["cow|road", "cow|road", "road", "road"],
            "split": ["a", "b", "a", "b"],
        }
    )
    data = cb.read(frame)
    assert cb.imbalances(data).frame["concepts"].tolist() == [("road",)]
    assert len(cb.imbalances(data, common=())) == 3
    assert len(cb.imbalances(data, common=[" y"], split="a ")) == 1
    assert cb.imbalances(data, split="a").cliques.class_sizes.tolist() == [1, 1]
    assert len(cb.imbalances(data, min_support=3)) == 0
    with pytest.raises(OptionError, match="max_size"):
        cb.imbalances(data, max_size=0)


def test_two_diagnoses_are_compared(found):
    after = cb.plan(found, min_size=1).simulate().imbalances
    change = cb.compare(found, after, extends=True)
    assert change.title().startswith(
        "0 of 89 combinations lean to a class; 56 did. The largest rate difference is 35.4% → 0.0%."
    )
    assert set(change.frame["status"]) == {"lost its lean"}
    assert change.notes == ()
    assert "<table" in change._repr_html_()

    by_counts = cb.compare(found, after, by="counts")
    assert by_counts.title() == (
        "Imbalances by counts: 86 solved, 0 introduced, 0 reduced, 0 grown, 0 unchanged, 0 absent. "
        "Sum of gaps: 21,574 → 0"
    )
    assert cb.compare(found, after, min_gap=100).frame["gap_before"].min() >= 100
    other = cb.read(pd.DataFrame({"label": ["x", "y"], "tags": ["cow", "cow"]}))
    with pytest.raises(DataError, match="different classes"):
        cb.compare(found, cb.imbalances(other))


def test_what_stands_on_its_own(found):
    together = found.cooccurrences()
    assert (
        together["images"].max()
        == found.frame.query("size == 2").filter(like="count_").sum(axis=1).max()
    )
    summary = found.summary(5)
    assert len(summary) == 5
    assert (summary["own_q_value"] <= 0.05).all()
    assert summary["closed"].all()
    # cow: 1,492 and 78 of 4,000 images each
    assert ("cow",) in set(summary["concepts"])
    cow = summary[[names == ("cow",) for names in summary["concepts"]]].iloc[0]
    assert cow["own_effect"] == pytest.approx((1492 - 78) / 4000)
    assert cow["explained"] == 0
    effects = found.top(3).own_effects()
    assert effects["own_effect"].iloc[0] == pytest.approx((1492 - 78) / 4000)
    with pytest.raises(OptionError, match="limit"):
        found.summary(0)


def test_what_a_larger_clique_repeats_is_left_out():
    rows = [("day", ["lamp", "person"])] * 5 + [("night", ["lamp", "person"])] * 2
    rows += [("day", ["person"]), ("night", ["person"])]
    found = cb.imbalances(cb.read(pd.DataFrame(rows, columns=["class", "concepts"])))
    closed = found.where(closed=True).frame["concepts"].tolist()
    assert set(found.frame["concepts"]) - set(closed) == {("lamp",)}


def test_two_splits_are_compared():
    rows = [("day", "lamp", "train")] * 9 + [("night", "sky", "train")] * 9
    rows += [("night", "lamp", "val")] * 9 + [("day", "sky", "val")] * 9
    frame = pd.DataFrame(rows, columns=["class", "concepts", "split"])
    data = cb.read(frame.assign(id=range(len(frame))))
    found = cb.compare_splits(data, "train", "val", common=(), max_size=2)
    assert set(found.frame["concepts"]) == {("lamp",), ("sky",)}
    assert found.frame["holds"].tolist() == ["opposite", "opposite"]
    assert (found.frame["log_odds_difference_low"] > 0).all()
    assert "2 the other way round; 2 differ" in found.title()
    assert "holds in" in repr(found)
    for name in ("train", "test"):
        with pytest.raises(OptionError, match=name):
            cb.compare_splits(data, "train", name)
