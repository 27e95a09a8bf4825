"""Budgets and caps: exact totals, what has evidence first, and shares of a cap in proportion."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from cobalance.base.errors import OptionError
from cobalance.generation.planning.lean import find_leaning
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.generation.planning.programmes.rounding import share_budget
from cobalance.generation.planning.simulation import simulate

OF_COUNTS = ["conbias", "minimal", "published"]

amounts = arrays(
    np.int64, st.tuples(st.integers(0, 6), st.integers(1, 3)), elements=st.integers(0, 9)
)


@given(amounts, st.integers(0, 120))
def test_the_total_is_the_budget(images, budget):
    shared = share_budget(images, budget)
    assert shared.sum() == min(budget, images.sum())
    assert ((shared >= 0) & (shared <= images)).all()


@given(amounts, st.integers(0, 120))
def test_every_query_gets_its_share_to_within_one_image(images, budget):
    shared = share_budget(images, budget)
    total = int(images.sum())
    part = Fraction(min(budget, total), total) if total else Fraction(0)
    for wanted, given_ in zip(images.ravel().tolist(), shared.ravel().tolist(), strict=True):
        assert abs(given_ - wanted * part) < 1


@given(amounts, st.integers(0, 60))
def test_who_asks_for_more_gets_no_less(images, budget):
    shared = share_budget(images, budget).ravel()
    order = np.argsort(images.ravel(), kind="stable")
    assert (np.diff(shared[order])[np.diff(images.ravel()[order]) > 0] >= 0).all()


def test_numbers_whose_product_is_no_64_bit_integer():
    wanted = np.array([2**40, 2**40, 2**41])
    assert share_budget(wanted, 2**40).tolist() == [2**38, 2**38, 2**39]


def test_the_input_stays_as_it_is():
    wanted = np.array([4, 4])
    share_budget(wanted, 100)[:] = 0
    share_budget(wanted, 3)
    assert wanted.tolist() == [4, 4]


@pytest.mark.parametrize("option", ["budget", "max_per_query"])
def test_a_limit_is_at_least_one_image(option):
    with pytest.raises(OptionError, match=f"{option} is 0; give 1 image or more"):
        PlanOptions(**{option: 0})


@pytest.mark.parametrize("planner", OF_COUNTS)
@pytest.mark.parametrize("budget", [1, 100, 3654, 7200])
def test_a_budget_is_spent_and_evens_out_rates(
    count, urbancars_images_with_street, planner, budget
):
    cliques = count(urbancars_images_with_street, 2)
    assert plan(cliques, planner, PlanOptions(1, 2)).images > 7238
    limited = plan(cliques, planner, PlanOptions(1, 2, budget=budget))
    assert limited.images == budget
    assert limited.options == PlanOptions(1, 2, budget=budget)
    after = simulate(cliques, limited.queries)
    assert spread(after) < spread(cliques)
    assert find_leaning(after).sum() <= find_leaning(cliques).sum()


def spread(cliques):
    """The sum of all rate differences, counted plainly."""
    return float(np.ptp(cliques.counts / cliques.class_sizes, axis=1).sum())


def test_evidence_comes_first_the_largest_lean_before_others(count):
    """Of three rows with a gap of 8, one has evidence; a budget for it alone goes there."""
    images = {
        ("x", frozenset({"cow"})): 58,
        ("y", frozenset({"cow"})): 50,
        ("x", frozenset({"gate"})): 8,
        ("x", frozenset({"road"})): 70,
        ("y", frozenset({"road"})): 78,
        ("y", frozenset()): 8,
    }
    cliques = count(images, 1, common=False)
    made = plan(cliques, options=PlanOptions(1, 1, budget=6))
    assert {(query.class_name, query.concepts) for query in made.queries} == {("y", ("gate",))}


def test_queries_are_taken_whole_but_the_last(count, urbancars_images_with_street):
    cliques = count(urbancars_images_with_street, 2)
    whole = {q[:2]: q.n for q in plan(cliques, options=PlanOptions(1, 2)).queries}
    some = plan(cliques, options=PlanOptions(1, 2, budget=1000)).queries
    cut = [query for query in some if query.n < whole[query[:2]]]
    assert len(cut) <= 1
    assert all(query.n <= whole[query[:2]] for query in some)


def test_a_budget_that_is_not_reached_changes_nothing(count, urbancars_images_with_street):
    cliques = count(urbancars_images_with_street, 2)
    free = plan(cliques, options=PlanOptions(1, 2))
    assert plan(cliques, options=PlanOptions(1, 2, budget=7308)).queries == free.queries
    assert plan(cliques, options=PlanOptions(1, 2, max_per_query=529)).queries == free.queries


@pytest.mark.parametrize("planner", OF_COUNTS)
@pytest.mark.parametrize("cap", [1, 7, 50])
def test_no_query_asks_for_more_than_the_cap(count, urbancars_images_with_street, planner, cap):
    cliques = count(urbancars_images_with_street, 2)
    if planner == "minimal":  # which breaks no tolerance for a cap, unless it has a budget
        with pytest.raises(OptionError, match="Raise max_per_query"):
            plan(cliques, planner, PlanOptions(1, 2, max_per_query=cap))
    else:
        capped = plan(cliques, planner, PlanOptions(1, 2, max_per_query=cap))
        assert max(query.n for query in capped.queries) == cap
    assert plan(cliques, planner, PlanOptions(1, 2, cap, cap * 10)).images == cap * 10


def test_images_that_a_cap_cuts_are_not_counted_in(count):
    """abc wants 3 images of y, gets 1; so ab is 4 to 4, where all 3 would make it 4 to 6."""
    images = {
        ("x", frozenset("abc")): 4,
        ("y", frozenset("abc")): 1,
        ("y", frozenset("ab")): 2,
    }
    cliques = count(images, 3)
    by_clique = {q.concepts: (q.class_name, q.n) for q in plan(cliques).queries}
    assert by_clique == {("a", "b", "c"): ("y", 3), ("a", "b"): ("x", 2)}
    capped = plan(cliques, options=PlanOptions(max_per_query=1)).queries
    assert {q.concepts: (q.class_name, q.n) for q in capped} == {
        ("a", "b", "c"): ("y", 1),
        ("a", "c"): ("y", 1),
        ("b", "c"): ("y", 1),
    }
