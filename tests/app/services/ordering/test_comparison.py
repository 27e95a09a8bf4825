"""Planners and baselines side by side, and curves of images against what remains."""

import numpy as np
import pytest

from app.services.ordering.comparison import budget_curve, compare_all, tolerance_curve
from cobalance.data.reading import urbancars
from generation.planners import PLANNERS
from generation.planning.plan import PlanOptions
from generation.planning.resampling import BASELINES
from graph.counting.cliques import mine_cliques
from graph.errors import UnknownNameError


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


def test_nothing_to_plan(cliques):
    none = cliques.take(np.zeros(0, dtype=np.int64))
    assert budget_curve(none, np.zeros(0, dtype=np.int64), PlanOptions(1))["images"].tolist() == [
        0,
        0,
    ]
