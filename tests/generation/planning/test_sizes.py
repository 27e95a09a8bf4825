"""Sizes of a plan: whole plans within eight budgets, and which of them is the usual one."""

import numpy as np
import pytest

from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.generation.planning.simulation import simulate
from cobalance.generation.planning.sizes import (
    A_START,
    AS_FAR,
    BUDGETS,
    HALVE_IT,
    NOTHING_LEANS,
    plan_usual,
)
from cobalance.statistics.imbalance import imbalance_table

SIZES = {"office": 150, "kitchen": 900, "street": 450}


def drawn_images(rates, seed=3):
    """Images of unequal classes: each concept is in so many of each class, by chance."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(SIZES)), list(SIZES.values()))
    shows = rng.random((len(labels), rates.shape[1])) < rates[labels]
    images, concepts = np.nonzero(shows)
    names = [f"concept {code}" for code in range(rates.shape[1])]
    return build_incidence(images, concepts, labels, names, list(SIZES))


@pytest.fixture(scope="module")
def leaning():
    """Ten concepts, of which four lean."""
    rates = np.full((3, 10), 0.3)
    rates[0, :2], rates[1, 2], rates[2, 3] = 0.75, 0.55, 0.05
    return drawn_images(rates)


@pytest.fixture(scope="module")
def sizes(leaning):
    cliques = mine_cliques(leaning, max_size=2)
    chosen = np.arange(len(cliques))
    usual, sizes = plan_usual(
        cliques, "whole-images", PlanOptions(), {}, chosen=chosen, images=leaning, ids=()
    )
    assert sizes.usual.plan == usual
    return sizes


def table_after(sizes, a_plan):
    """The imbalance table of the counts after a plan."""
    return imbalance_table(simulate(sizes.cliques, a_plan.queries))


def rate_differences(table):
    """Largest rate less the smallest, of each clique."""
    rates = table[[f"rate_{name}" for name in SIZES]]
    return rates.max(axis=1) - rates.min(axis=1)


def test_each_size_is_a_whole_plan_of_its_budget(sizes, leaning):
    before = imbalance_table(sizes.cliques)
    leaned = before["q_value"] <= 0.05
    for budget in sizes.budgets:
        sized = sizes.within(budget)
        alone = plan(sizes.cliques, "whole-images", PlanOptions(budget=budget), images=leaning)
        assert alone.queries == sized.plan.queries
        assert sized.plan.options.budget == budget

        after = table_after(sizes, sized.plan)
        leans = after["q_value"] <= 0.05
        assert sized.measures["leaning_before"] == leaned.sum()
        assert sized.measures["leaning"] == leans.sum()
        largest = rate_differences(after)[leaned | leans].max()
        assert sized.measures["largest"] == pytest.approx(largest, abs=1e-6)


def test_budgets_go_from_a_tenth_to_where_nothing_leans(sizes):
    assert len(sizes.budgets) == BUDGETS
    assert sizes.budgets[0] == 150  # of 1,500 images
    assert sizes.budgets[-1] == 1500
    assert sizes.end.measures["leaning"] == 0
    images = [sizes.within(budget).images for budget in sizes.budgets]
    assert images == sorted(set(images))
    steps = np.diff(images[:-1])
    assert steps.max() - steps.min() <= 1


def test_cards_are_a_start_a_half_and_the_end(sizes):
    cards = sizes.cards()
    assert list(cards) == [A_START, HALVE_IT, NOTHING_LEANS]
    halving = cards[HALVE_IT]
    half = halving.measures["largest_before"] / 2
    assert halving.measures["largest"] <= half
    smaller = sizes.budgets[sizes.budgets.index(halving.plan.options.budget) - 1]
    assert sizes.within(smaller).measures["largest"] > half


def test_the_usual_size_is_the_first_that_does_something(sizes):
    for sized in sizes.cards().values():
        before, after = sized.measures["leaning_before"], sized.measures["leaning"]
        does = sized.measures["largest"] <= sized.measures["largest_before"] / 2
        if does or before - after >= before / 10:
            assert sizes.usual is sized
            break


def test_the_curve_has_the_plans_of_all_budgets(sizes):
    curve = sizes.curve()
    assert curve["images"].tolist() == [0, *(sizes.within(n).images for n in sizes.budgets)]
    first = curve.iloc[0]
    measures = sizes.start.measures
    assert first["largest"] == measures["largest_before"]
    assert first["difference"] == measures["difference_before"]
    assert curve["difference"].tolist()[-1] == sizes.end.measures["difference"]


def test_a_weak_lean_ends_within_the_start():
    rates = np.full((3, 6), 0.3)
    rates[0, 0] = 0.46
    images = drawn_images(rates)
    cliques = mine_cliques(images, max_size=1)
    _, sizes = plan_usual(
        cliques,
        "whole-images",
        PlanOptions(),
        {},
        chosen=np.arange(len(cliques)),
        images=images,
        ids=(),
    )
    assert list(sizes.cards()) == [NOTHING_LEANS]
    assert sizes.usual is sizes.start
    assert len(sizes.budgets) == BUDGETS
    assert sizes.budgets[-1] == 150
    assert sizes.curve()["images"].max() == sizes.start.images < 150


def test_a_budget_or_another_planner_leaves_no_choice(leaning):
    cliques = mine_cliques(leaning, max_size=1)
    chosen = np.arange(len(cliques))
    for planner, options in (("conbias", PlanOptions(1)), ("whole-images", PlanOptions(budget=9))):
        a_plan, sizes = plan_usual(
            cliques, planner, options, {}, chosen=chosen, images=leaning, ids=()
        )
        assert sizes is None
        assert a_plan == plan(cliques, planner, options, images=leaning)


def test_what_no_budget_ends_says_how_far_it_goes():
    """Of twenty images of a class none shows what all of the other do: edits do not bring it."""
    rates = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.1]])
    images = drawn_images(rates)
    cliques = mine_cliques(images, max_size=1)
    _, sizes = plan_usual(
        cliques,
        "whole-images",
        PlanOptions(max_per_query=1),
        {"edits": 0},
        chosen=np.arange(len(cliques)),
        images=images,
        ids=(),
    )
    assert sizes.end.measures["leaning"] > 0
    assert list(sizes.cards())[-1] == AS_FAR
