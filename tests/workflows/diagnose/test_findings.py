"""Results that are empty or misleading say why."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import cobalance as cb
from cobalance.app.cli.shared.remedies import in_shell
from cobalance.app.web.widgets.wording import in_app
from cobalance.base.errors import render
from cobalance.counting.cliques import Cliques
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.statistics.imbalance import imbalance_table as imbalance_of
from cobalance.workflows.diagnose.findings import describe_disagreements, headline, no_clique
from cobalance.workflows.diagnose.tables import imbalance_table
from cobalance.workflows.plan.summaries import (
    count_contradicted,
    describe_balance,
    no_images,
    plan_warnings,
)

TWO = {"a": 3, "b": 3}


@pytest.mark.parametrize(
    ("counts", "sizes", "said"),
    [
        ((380, 20), (1000, 1000), "1 of 3 combinations leans. <x> is 19 times likelier in <a>."),
        ((20, 380), (1000, 1000), "1 of 3 combinations leans. <x> is 19 times likelier in <b>."),
        ((190, 20), (500, 1000), "1 of 3 combinations leans. <x> is 19 times likelier in <a>."),
        ((90, 0), (1000, 900), "<x> is in 9.0% of <a>, and in no image of <b>."),
        ((900, 800), (1000, 1000), "<x> is in 90.0% of <a>, and in 80.0% of <b>."),
        ((150, 100), (1000, 1000), "<x> is 1.5 times likelier in <a>."),
        ((300, 100, 60), (1000, 1000, 500), "<x> is 3 times likelier in <a> than in <b>."),
        ((0, 0, 60), (1000, 0, 500), "<x> is in 12.0% of <c>, and in no image of <a>."),
        ((5, 5), (1000, 1000), "None of 3 combinations leans to a class."),
        ((6, 5), (1000, 1000), "None of 3 combinations leans to a class."),
    ],
)
def test_the_finding_in_words(counts: list[int], sizes: list[int], said: str) -> None:
    """Beside two concepts that are balanced to an image, which the q-value counts, too."""
    alike = [[size // 2 for size in sizes]] * 2
    classes = tuple("abc"[: len(sizes)])
    cliques = Cliques(
        np.array([[0], [1], [2]]),
        np.array([counts, *alike]),
        np.array(sizes),
        ("x", "y", "z"),
        classes,
    )
    frame = imbalance_of(cliques)
    row = frame.sort_values(["leans", "effect"], ascending=False).iloc[0].to_dict()
    leaning = int((frame["q_value"] <= 0.05).sum())
    found = headline(
        leaning, len(frame), row, dict(zip(classes, sizes, strict=True)), "<{}>".format
    )
    assert found.endswith(said)


def test_the_finding_without_any_combination() -> None:
    assert headline(0, 0, None, TWO) == "None of 0 combinations leans to a class."


@pytest.mark.parametrize(
    ("options", "sizes", "said"),
    [
        (MiningOptions(), {"a": 3}, "Nothing can be compared: only class 'a' has images."),
        (MiningOptions(split="val"), {"a": 3}, "in split 'val' only class 'a' has images."),
        (MiningOptions(3), TWO, "`cobalance mine zoo --any-class`."),
        (MiningOptions(split="val"), TWO, "`cobalance mine zoo --any-class`."),
        (MiningOptions(common=("a",)), TWO, "No concept is shown by a, so"),
        (MiningOptions(min_support=9, common=()), TWO, "mine zoo --min-support 1`."),
        (MiningOptions(common=()), TWO, "The images show no concepts."),
    ],
)
def test_why_there_is_no_clique(options, sizes, said):
    assert said in render(no_clique("zoo", options, sizes), in_shell)
    assert render(no_clique("zoo", options, sizes), in_app)


def data(**shown):
    rows = [(name, concepts) for name, images in shown.items() for concepts in images]
    frame = pd.DataFrame(rows, columns=["class", "concepts"])
    return cb.read(frame, class_column="class", concepts_column="concepts")


def test_one_class_alone():
    found = cb.imbalances(data(a=["x|y", "x", ""]))
    assert "Nothing can be compared: only class 'a' has images." in found.title()
    assert "x" in repr(found)
    assert "<td" in found._repr_html_()
    assert cb.plan(found).images == 0


def test_no_common_concept():
    found = cb.imbalances(data(a=["x", "x"], b=["y", "y"]))
    assert len(found) == 0
    assert "No concept is shown by every class" in found.title()
    assert len(cb.imbalances(data(a=["x", "x"], b=["y", "y"]), common=())) == 2


def test_rates_beside_counts_of_unequal_classes():
    found = cb.imbalances(data(a=["x"] * 4, b=["x", ""]))
    assert found.shown()[["a", "% of a", "b", "% of b"]].to_numpy().tolist() == [
        [4, "100.0%", 1, "50.0%"]
    ]
    equal = cb.imbalances(data(a=["x", ""], b=["x", "x"]))
    columns = ["concepts", "a", "b", "rate difference", "q-value", "count gap (ConBias)"]
    assert list(equal.shown().columns[:6]) == columns
    assert list(imbalance_table(equal.frame, {"a": 2, "b": 2}).columns[:6]) == columns


def test_where_counts_and_rates_disagree_a_row_says_so():
    found = cb.imbalances(data(a=["x"] * 30 + [""] * 70, b=["x"] * 20 + ["y"] * 30), common=())
    shown = found.shown().set_index("concepts")
    words = shown["counts and rates"]
    assert words.to_dict() == {("x",): "fewer images, higher rate", ("y",): ""}
    assert shown.loc[[("x",)], ["too few", "rate difference"]].to_numpy().tolist() == [
        ["b", "+10.0% b"]
    ]
    assert "counts and rates" not in found.where(concepts="y").shown()
    assert describe_disagreements(found.frame) == "In 1 of 2 rows counts and rates disagree."
    planned = cb.plan(found, min_size=1)
    assert {tuple(row[:2]) for row in planned.frame.to_numpy().tolist()} == {
        ("b", ("x",)), ("a", ("y",))
    }  # fmt: skip
    assert "the rates contradict 1 of its 2 cliques" in planned.title()
    rates = cb.plan(found, "minimal", min_size=1, rates=True, tolerance=0.1)
    assert "contradict" not in rates.title()
    assert "balances rates" in describe_balance(rates.record, found.cliques)


@given(
    st.lists(
        st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=12, unique_by=lambda row: row
    ),
    st.lists(st.sampled_from([40, 41, 90, 5000]), min_size=3, max_size=3),
)
def test_planned_cliques_that_rates_contradict_are_those_of_the_table(counts, sizes):
    names = tuple(f"c{i:02}" for i in range(len(counts)))
    cliques = Cliques(
        np.arange(len(counts), dtype=np.int32)[:, None],
        np.array(counts),
        np.array(sizes),
        names,
        ("a", "b", "c"),
    )
    made = plan(cliques, "conbias", PlanOptions(1, 1))
    planned = {query.concepts for query in made.queries}
    assert planned == {(name,) for name, row in zip(names, counts, strict=True) if len({*row}) > 1}
    expected = 0
    for row in counts:
        rates = [Fraction(n, size) for n, size in zip(row, sizes, strict=True)]
        few, most = rates[row.index(min(row))], rates[row.index(max(row))]
        expected += len({*row}) > 1 and (few > min(rates) or few == most)
    assert count_contradicted(made, cliques) == (expected, len(planned))


def test_the_most_significant_come_first():
    found = cb.imbalances(data(a=["x|y"] * 30 + [""] * 30, b=["x"] * 29 + ["y"] * 2))
    q_values = found.sort("q_value").frame["q_value"].tolist()
    assert q_values == sorted(q_values)
    assert len(set(q_values)) > 1
    assert found.sort("q_value", ascending=False).frame["q_value"].tolist() == q_values[::-1]
    gaps = found.sort("gap").frame["gap"].tolist()
    assert gaps == sorted(gaps, reverse=True)


def test_a_plan_larger_than_its_dataset():
    names = "abcdefgh"
    found = cb.imbalances(data(p=["|".join(names)] * 3, q=[*names]), max_size=3)
    planned = cb.plan(found)
    assert planned.images > 11
    assert f"more images than the dataset has: {planned.images:,} for 11. A budget" in (
        planned.title()
    )
    small = cb.plan(found, budget=11)
    assert "more images" not in small.title()


def test_gaps_of_smaller_sizes_that_grow():
    # b lacks x+y, and has more of x and of y alone: making x+y for b widens the gap of each
    found = cb.imbalances(data(a=["x|y"] * 4, b=["x"] * 6 + ["y"] * 6))
    planned = cb.plan(found)
    assert planned.images == 4
    singles = planned.summary.loc[1]
    assert (singles["total_gap_before"], singles["total_gap_after"]) == (4, 12)
    said = "The gaps of single concepts, which the plan leaves alone, grow from 4 to 12."
    after = planned.simulate().after
    assert any(said in text for text in plan_warnings(found.cliques, after, planned.record))
    assert said in planned.title()
    assert "grow" not in cb.plan(found, min_size=1).title()


def test_a_planner_that_leaves_its_gaps_is_not_said_to_have_none():
    found = Cliques(
        np.array([[0], [1]]),
        np.array([[200, 160], [50, 50]]),
        np.array([400, 400]),
        ("cow", "road"),
        ("country", "urban"),
    )
    options = PlanOptions(1, 1)
    planned = plan(found, "minimal", options, {"tolerance": 0.2})
    assert not planned.images
    said = render(no_images("cars", found, options.rows(found), 1, MiningOptions()))
    assert said.startswith("Its gaps (1) stay: they are within the planner's tolerance")
    few = replace(found, counts=found.counts // 20, class_sizes=found.class_sizes // 20)
    said = render(no_images("cars", few, options.rows(few), 1, MiningOptions()))
    assert said.startswith("Its gaps (1) may be chance: none of the cliques leans to a class")
