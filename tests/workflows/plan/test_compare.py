"""Planners and baselines side by side, and curves of images against what remains."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.counting.cliques import mine_cliques
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import PLANNERS, plan
from cobalance.generation.planning.resampling import BASELINES
from cobalance.notebook.data import urbancars
from cobalance.workflows.plan.compare import budget_curve, compare_all, tolerance_curve
from tests.support.counted import count_cliques

MEASURED = ("images", "dataset", "remaining", "gap_after", "widest_gap")
OF_COUNTS = ("conbias", "minimal", "published")


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
    assert (frame["dataset"] - frame["images"])[list(PLANNERS)].tolist() == [images] * 4
    assert frame["leaning_before"].nunique() == 1
    assert frame.loc["conbias", ["leaning", "difference"]].tolist() == [0, 0]
    assert 0 < frame.loc["whole-images", "images"] <= 800
    assert frame.loc["whole-images", "difference"] < frame.loc["whole-images", "difference_before"]
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
    assert list(why) == ["minimal", "whole-images"]
    assert "Raise max_per_query" in why["minimal"]
    assert "Only counts are at hand" in why["whole-images"]


def test_more_images_leave_less(cliques, incidence):
    every = np.arange(len(cliques))
    quick = {"seconds": 0.1}
    curve = budget_curve(cliques, every, PlanOptions(1), {"minimal": quick}, (), incidence)
    for name, points in curve.groupby("planner"):
        assert (np.diff(points["difference"]) <= 1e-6).all(), name
        assert (points["images"] <= points["budget"]).all()
        assert points["gap_after"].iloc[0] == cliques.gaps().sum()
        assert points["leaning"].iloc[-1] == 0
    # The last budget is more than whole images need until nothing leans.
    by_budget = curve.pivot_table("difference", "budget", "planner").iloc[:-1]
    assert (by_budget["whole-images"] <= by_budget["conbias"] + 0.1).all()
    needed = curve.groupby("planner")["images"].max()
    assert needed["whole-images"] < needed["conbias"]
    wide = tolerance_curve(cliques, every, PlanOptions(1), quick)
    assert wide["images"].iloc[0] == 7308
    assert (np.diff(wide["images"]) <= 0).all()


def test_nothing_to_plan(cliques):
    none = cliques.take(np.zeros(0, dtype=np.int64))
    curve = budget_curve(none, np.zeros(0, dtype=np.int64), PlanOptions(1))
    assert set(curve["planner"]) == {"conbias", "minimal"}
    assert (curve["images"] == 0).all()


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
    for name in OF_COUNTS:
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
        left = after.max(axis=1) - after.min(axis=1)
        assert frame.loc[name, list(MEASURED)].to_dict() == {
            "images": made.images,
            "dataset": sum(held.values()) + made.images,
            "remaining": (left[wanted] > 0).sum(),
            "gap_after": left[wanted].sum(),
            "widest_gap": left[wanted].max(initial=0),
        }
        assert options.budget is None or made.images <= options.budget
