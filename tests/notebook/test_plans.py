"""Plans, simulations, planners side by side and sample weights, without a database."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import InputError, OptionError, UnknownNameError
from cobalance.base.options import Options
from cobalance.base.plugins import Plugin
from cobalance.base.registry import Plugins


def test_a_plan_closes_every_gap_and_says_what_it_changes(found):
    plan = cb.plan(found, min_size=1)
    assert (plan.images, len(plan)) == (7308, 76)
    assert plan.frame["n"].sum() == 7308
    assert plan.summary["total_gap_after"].tolist() == [0, 0]
    after = plan.simulate()
    assert after.frame["gap_after"].max() == 0
    assert after.imbalances.frame["gap"].max() == 0
    assert after.title() == "Sum of gaps: 21,574 → 0; 86 combinations change"
    assert cb.plan(cb.urbancars(), max_size=2, planner="published").images == 7238
    assert cb.plan(found, budget=100).images == 100
    with pytest.raises(OptionError, match="share"):
        cb.plan(found, share=0.5)


def test_a_planner_s_own_options_reach_it_and_are_kept(found, monkeypatch):
    class Own(Options):
        images: int = 1

    few = ModuleType("few")
    few.PLUGIN = Plugin("few", "As many images of every clique.", options=Own)
    few.open_planner = lambda own: lambda cliques, _: np.full_like(cliques.counts, own.images)
    monkeypatch.setitem(sys.modules, "few", few)
    monkeypatch.setattr(
        "cobalance.generation.planning.planners.PLANNERS", Plugins("planner", {"few": "few"})
    )
    plan = cb.plan(found, "few", images=2)
    assert set(plan.frame["n"]) == {2}
    assert plan.record.planner_options == {"images": 2}
    assert set(cb.plan(found, "few").frame["n"]) == {1}


def test_a_plan_for_some_asks_for_nothing_else(found):
    plan = cb.plan(found.where(concepts="cow"))
    assert all("cow" in concepts for concepts in plan.frame["concepts"])
    whole = cb.plan(found)
    assert plan.images < whole.images
    assert plan.cliques is whole.cliques


def test_a_plan_is_edited_in_pandas_saved_and_read(found, tmp_path):
    plan = cb.plan(found)
    frame = plan.to_pandas()
    frame.loc[0, "n"] = 0
    edited = plan.edited(frame)
    assert edited.images == plan.images - plan.frame.loc[0, "n"]
    assert len(edited) == len(plan) - 1
    edited.save(tmp_path / "plan.json")
    again = cb.read_plan(tmp_path / "plan.json", found)
    assert again.record == edited.record
    assert again.summary.equals(edited.summary)
    frame.loc[1, "class"] = "rural"
    with pytest.raises(UnknownNameError, match="rural"):
        plan.edited(frame)
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(InputError):
        cb.read_plan(tmp_path / "plan.json", found)


def test_planners_side_by_side(found):
    frame = cb.compare_planners(found, min_size=1)
    assert frame.loc["conbias", ["images", "gap_after"]].tolist() == [7308, 0]
    assert cb.compare_planners(found, ["published"]).index.tolist() == ["published"]
    with pytest.raises(UnknownNameError, match="unknown planner"):
        cb.compare_planners(found, ["conbais"])
    with pytest.raises(OptionError, match="planner conbias has no option 'order'"):
        cb.compare_planners(found, planner_options={"conbias": {"order": 1}})


def test_weights_balance_the_classes_of_each_group():
    frame = pd.DataFrame({"label": ["x", "x", "x", "y"], "tags": ["b|a", "a|b", "a", "a"]})
    data = cb.read(frame)
    found = cb.weights(data)
    assert found.index.tolist() == ["0", "1", "2", "3"]
    assert found["group"].tolist() == [("a", "b"), ("a", "b"), ("a",), ("a",)]
    assert found["weight"].tolist() == [1.0, 1.0, 1.0, 1.0]
    of_a = cb.weights(data, ["a"])
    assert of_a["weight"].tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])
    with pytest.raises(UnknownNameError, match="unknown concept 'c'"):
        cb.weights(data, ["c"])


def test_baselines_are_compared_where_there_are_images():
    data = cb.urbancars()
    frame = cb.compare_planners(data, ["conbias", "weights"], max_size=2)
    assert frame.index.tolist() == ["conbias", "weights"]
    times = cb.resample(data, "sub-sampling")
    assert set(times["times"]) <= {0.0, 1.0}
    kept = times[times["times"] > 0]
    assert len(kept) == cb.compare_planners(data, ["sub-sampling"], max_size=2)["dataset"].item()
