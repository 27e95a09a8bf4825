"""Plans in the graph: their coverage, and how they are made again."""

import re

import pandas as pd
import pytest

from app.services.plans import plan_dataset
from generation.planning.plan import PlanOptions
from graph.dataset.cliques import load_cliques
from graph.dataset.mining import mine_dataset
from graph.dataset.mining_options import MiningOptions
from graph.dataset.plans import read_plan, write_plan
from graph.errors import OptionError, StaleError, UnknownNameError


def test_coverage_of_a_plan_is_what_simulation_says(store, load, ask, random_annotations):
    dataset = load(random_annotations(150), MiningOptions(max_size=3))
    planned = plan_dataset(store, dataset, "conbias", PlanOptions(1, 3))
    coverage = ask("plan-coverage", plan="conbias", limit=10_000)
    assert len(coverage) == len(load_cliques(store, dataset))
    assert all(row["gap_after"] == 0 for row in coverage)
    overshot = plan_dataset(store, dataset, "published", PlanOptions(1, 3))
    coverage = ask("plan-coverage", plan="published", limit=10_000)
    by_size = pd.DataFrame(coverage).groupby("size")["gap_after"].sum()
    expected = overshot.summary["total_gap_after"]
    assert by_size.to_dict() == expected.to_dict()
    plans = {row["plan"]: row["images"] for row in ask("plans")}
    assert plans == {"conbias": planned.plan.images, "published": overshot.plan.images}
    listed = ask("plan-queries", plan="conbias", limit=10_000)
    assert sum(row["n"] for row in listed) == planned.plan.images


def test_a_plan_for_other_cliques_is_refused(store, load, ask, random_annotations):
    dataset = load(random_annotations(100), MiningOptions(max_size=2))
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    assert ask("plans")[0]["current"] is True
    mine_dataset(store, dataset, MiningOptions(max_size=2, min_support=3), max_cliques=10**6)
    assert ask("plans")[0]["current"] is False
    again = f"Run `plan({dataset!r}, name='conbias', min_size=1)`."
    for name in ("plan-coverage", "plan-queries"):
        with pytest.raises(StaleError, match=re.escape(again)):
            ask(name, plan="conbias")
    with pytest.raises(StaleError, match=re.escape(again)):
        read_plan(store, dataset, "conbias")
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    assert ask("plan-queries", plan="conbias")


def test_a_plan_is_made_again_with_its_options(store, load, ask, random_annotations):
    dataset = load(random_annotations(100), MiningOptions(max_size=3))
    options = PlanOptions(1, 2, max_per_query=4, budget=40)
    plan_dataset(store, dataset, "published", options, "a small one")

    def asked_for():
        with pytest.raises(StaleError) as caught:
            read_plan(store, dataset, "a small one")
        return str(caught.value).partition("than the dataset has now. ")[2]

    mine_dataset(store, dataset, MiningOptions(max_size=3, min_support=2), max_cliques=10**6)
    made = f"{dataset!r}, name='a small one', planner='published', min_size=1"
    assert asked_for() == f"Run `plan({made}, max_size=2, max_per_query=4, budget=40)`."
    # As an earlier version of the program wrote it.
    store.write(
        "MATCH (p:Plan {dataset: $dataset}) REMOVE p.max_per_query, p.budget", dataset=dataset
    )
    assert asked_for() == f"Run `plan({made}, max_size=2)`."
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=10**6)
    assert asked_for() == f"Run `plan({made})`."  # of a larger size there is nothing now
    write_plan(
        store,
        dataset,
        "a small one",
        [],
        planner="mine",
        min_size=2,
        max_size=2,
        planner_options={"share": 0.5},
    )
    assert ask("plans")[0]["planner_options"] == '{"share": 0.5}'
    mine_dataset(store, dataset, MiningOptions(max_size=2, min_support=2), max_cliques=10**6)
    made = f"{dataset!r}, name='a small one', planner='mine'"
    assert asked_for() == f"Run `plan({made}, planner_options={{'share': 0.5}})`."
    plan_dataset(store, dataset, "conbias", PlanOptions(), "a small one")
    mine_dataset(store, dataset, MiningOptions(max_size=3), max_cliques=10**6)
    assert asked_for() == f"Run `plan({dataset!r}, name='a small one', max_size=2)`."


def test_a_dataset_without_a_plan_says_how_to_make_one(store, load, random_annotations):
    dataset = load(random_annotations(60), MiningOptions(max_size=2))
    for name, option in (("conbias", ""), ("my own", ", name='my own'")):
        with pytest.raises(OptionError) as caught:
            read_plan(store, dataset, name)
        assert str(caught.value) == (
            f"{dataset!r} has no plan yet. Run `plan({dataset!r}{option})`."
        )
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    with pytest.raises(UnknownNameError, match=r"unknown plan 'my own'. Known: conbias.$"):
        read_plan(store, dataset, "my own")


def test_a_plan_follows_its_cliques_through_mining_anew(store, load, random_annotations, dump):
    dataset = load(random_annotations(100), MiningOptions(max_size=2))
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    before = dump(dataset)
    mine_dataset(store, dataset, MiningOptions(max_size=1), max_cliques=10**6)
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=10**6)
    assert dump(dataset) != before  # the queries have lost the cliques that were deleted
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    assert dump(dataset) == before
