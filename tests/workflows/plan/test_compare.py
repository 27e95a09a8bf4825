"""Planners and baselines side by side, and curves of images against what remains."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.data import urbancars
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import PLANNERS, plan
from cobalance.generation.planning.resampling import BASELINES
from cobalance.graph.counting.cliques import mine_cliques
from cobalance.graph.errors import OptionError, UnknownNameError
from cobalance.workflows.plan.compare import budget_curve, compare_all, tolerance_curve
from tests.counted import count_cliques

MEASURED = ("images", "dataset", "remaining", "gap_after", "widest_gap", "widened")


@pytest.fixture(scope="module")
def incidence():
    return urbancars().incidence()


@pytest.fixture(scope="module")
def cliques(incidence):
    return mine_cliques(incidence, max_size=2)


def test_planners_and_baselines_have_the_same_columns(cliques, incidence):
    every = np.arange(len(cliques))
    own = {"minimal": {"tolerance": 0.2, "seconds": 0.2}}
    frame = compare_all(cliques, every, PlanOptions(1), own, incidence)
    assert frame.index.tolist() == [*PLANNERS, *BASELINES]
    assert not frame.isna().any(axis=None)
    images = int(cliques.class_sizes.sum())
    assert (frame["dataset"] - frame["images"])[list(PLANNERS)].tolist() == [images] * 3
    assert frame.loc["minimal", "images"] < frame.loc["conbias", "images"] == 7308
    assert frame.loc["conbias", ["remaining", "gap_after", "widest_gap"]].tolist() == [0, 0, 0]
    assert (frame.loc[list(BASELINES), "images"] == 0).all()
    sizes = frame["dataset"]
    assert sizes["sub-sampling"] < sizes["weights"] == images < sizes["over-sampling"]
    only = compare_all(cliques, every, PlanOptions(1), None, incidence, ["weights", "published"])
    assert set(only.index) == {"weights", "published"}
    with pytest.raises(UnknownNameError, match="weights"):
        compare_all(cliques, every, PlanOptions(1), None, None, ["weights"])


def test_a_planner_that_caps_leave_no_plan_is_left_out(cliques, incidence):
    frame = compare_all(cliques, np.arange(len(cliques)), PlanOptions(1, max_per_query=5))
    assert frame.index.tolist() == ["conbias", "published"]
    why = frame.attrs["left_out"]
    assert list(why) == ["minimal"]
    assert "Raise max_per_query" in why["minimal"]


def test_more_images_leave_less(cliques):
    every = np.arange(len(cliques))
    quick = {"seconds": 0.1}
    curve = budget_curve(cliques, every, PlanOptions(1), {"minimal": quick})
    for name, points in curve.groupby("planner"):
        assert (np.diff(points["gap_after"]) <= 0).all(), name
        assert points["images"].tolist() == points["budget"].tolist()
        assert points["gap_after"].iloc[0] == cliques.gaps().sum()
        assert points["gap_after"].iloc[-1] == 0
    by_budget = curve.pivot_table("gap_after", "budget", "planner")
    assert (by_budget["minimal"] <= by_budget["conbias"]).all()
    wide = tolerance_curve(cliques, every, PlanOptions(1), quick)
    assert wide["images"].iloc[0] == 7308
    assert (np.diff(wide["images"]) <= 0).all()


def test_both_ways_to_spend_a_budget(cliques):
    every = np.arange(len(cliques))
    options = PlanOptions(1, budget=5, largest_first=True)
    curve = budget_curve(cliques, every, options, planners=["conbias"])
    ways = ["conbias", "conbias, largest gaps first"]
    assert list(dict.fromkeys(curve["planner"])) == ways
    left = curve.pivot_table("remaining", "budget", "planner")
    assert (left[ways[1]] <= left["conbias"]).all()
    assert left[ways[1]].is_monotonic_decreasing
    assert left[ways[1]].iloc[[0, -1]].tolist() == [86, 0]


def test_nothing_to_plan(cliques):
    none = cliques.take(np.zeros(0, dtype=np.int64))
    assert budget_curve(none, np.zeros(0, dtype=np.int64), PlanOptions(1))["images"].tolist() == [
        0,
        0,
    ]


KINDS = st.tuples(st.sampled_from("xyz"), st.frozensets(st.sampled_from("abc"), min_size=1))
LIMITS = st.builds(
    PlanOptions,
    min_size=st.sampled_from([1, 2]),
    max_per_query=st.sampled_from([None, 1, 3]),
    budget=st.sampled_from([None, 1, 6]),
)
OWN = st.one_of(
    st.fixed_dictionaries(
        {"tolerance": st.sampled_from([0.0, 0.3])},
        optional={
            "gap": st.just(1),
            "weights": st.sampled_from([["a + b=0"], ["a + b=3"]]),
            "max_per_class": st.sampled_from([1, 5]),
            "overshoot": st.sampled_from([0, 2]),
        },
    ),
    st.just({"significance": 0.05}),
    st.just({"tolerance": 0.2, "rates": True}),
)


@settings(max_examples=30)
@given(
    kinds=st.dictionaries(KINDS, st.integers(1, 9), min_size=2, max_size=12),
    options=LIMITS,
    own=OWN,
)
def test_planners_side_by_side_are_their_own_plans(kinds, options, own):
    held = {("x", frozenset("ab")): 3, ("y", frozenset("c")): 1} | kinds  # unequal classes
    cliques = count_cliques(held, 3, common=False)
    frame = compare_all(cliques, np.arange(len(cliques)), options, {"minimal": own})
    wanted = [row for row, names in enumerate(cliques.names()) if len(names) >= options.min_size]
    for name in PLANNERS:
        try:
            made = plan(cliques, name, options, own if name == "minimal" else None)
        except OptionError:
            assert name in frame.attrs["left_out"]
            continue
        after = cliques.counts.copy()
        for query in made.queries:
            code = cliques.classes.index(query.class_name)
            for row, names in enumerate(cliques.names()):
                after[row, code] += query.n if set(names) <= set(query.concepts) else 0
        was, left = (counts.max(axis=1) - counts.min(axis=1) for counts in (cliques.counts, after))
        assert frame.loc[name, list(MEASURED)].to_dict() == {
            "images": made.images,
            "dataset": sum(held.values()) + made.images,
            "remaining": (left[wanted] > 0).sum(),
            "gap_after": left[wanted].sum(),
            "widest_gap": left[wanted].max(initial=0),
            "widened": (left > was).sum(),
        }
        assert options.budget is None or made.images <= options.budget
