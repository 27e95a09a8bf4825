"""A budget for the largest gaps first: what is closed, what is left, and for which planners."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.generation.planning.budget import close_largest_gaps
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.plan_file import plan_from_json, plan_to_json
from cobalance.generation.planning.planners import PLANNERS, plan
from cobalance.generation.planning.simulation import simulate, simulate_images
from cobalance.graph.counting.cliques import Cliques
from tests.counted import count_cliques

KINDS = st.tuples(st.sampled_from("xyz"), st.frozensets(st.sampled_from("abcd"), min_size=1))
IMAGES = st.dictionaries(KINDS, st.integers(1, 9), min_size=1, max_size=12)


def kept_by_twin(cliques, images, budget):
    """The brute-force twin: for each clique, largest gap first, all queries that contain it."""
    names = [set(clique) for clique in cliques.names()]
    gaps = np.ptp(cliques.counts, axis=1)
    kept = np.zeros_like(images)
    for row in sorted(range(len(names)), key=lambda row: (-gaps[row], row)):
        containing = [at for at, name in enumerate(names) if name >= names[row]]
        more = int((images - kept)[containing].sum())
        if kept.sum() + more > budget:
            return kept, row
        kept[containing] = images[containing]
    return kept, None


@given(IMAGES, st.integers(0, 60))
def test_the_largest_gaps_are_closed_and_the_next_by_a_part(images, budget):
    cliques = count_cliques(images, 3)
    wanted = PLANNERS.open("conbias")(cliques, PlanOptions(1))
    kept = close_largest_gaps(cliques, wanted, budget, np.arange(len(cliques)))
    whole, partly = kept_by_twin(cliques, wanted, budget)
    assert kept.sum() == min(budget, wanted.sum())
    assert ((whole <= kept) & (kept <= wanted)).all()
    if partly is None:
        assert (kept == wanted).all()
        return
    left = simulate_images(cliques, kept).gaps()
    before = np.ptp(cliques.counts, axis=1)
    earlier = sorted(range(len(before)), key=lambda row: (-before[row], row))
    assert not left[earlier[: earlier.index(partly)]].any()
    names = [set(clique) for clique in cliques.names()]
    outside = [at for at, name in enumerate(names) if not name >= names[partly]]
    assert (kept[outside] == whole[outside]).all()


@pytest.mark.parametrize("planner", list(PLANNERS))
@pytest.mark.parametrize("budget", [1, 100, 3654, 7307])
def test_a_plan_asks_for_its_budget_exactly(count, urbancars_images_with_street, planner, budget):
    cliques = count(urbancars_images_with_street, 2)
    options = PlanOptions(1, 2, budget=budget, largest_first=True)
    made = plan(cliques, planner, options)
    assert (made.images, made.options, made.proven) == (budget, options, None)
    left = simulate(cliques, made.queries).gaps()
    evenly = PlanOptions(1, 2, budget=budget)
    of_evenly = simulate(cliques, plan(cliques, planner, evenly).queries).gaps()
    if planner == "conbias":
        assert (left == 0).sum() >= (of_evenly == 0).sum()


def test_only_gaps_that_are_to_be_closed_count(count):
    """The smallest size is 2: that the cow alone has the largest gap is no reason."""
    images = {
        ("x", frozenset({"cow"})): 50,
        ("x", frozenset({"cow", "road"})): 6,
        ("x", frozenset({"gate", "road"})): 9,
        ("y", frozenset({"cow", "gate", "road"})): 1,
    }
    cliques = count(images, 2)
    gaps = dict(zip(cliques.names(), cliques.gaps().tolist(), strict=True))
    assert gaps[("gate", "road")] > gaps[("cow", "road")]
    made = plan(cliques, options=PlanOptions(2, 2, budget=8, largest_first=True))
    assert {query.concepts: query.n for query in made.queries} == {("gate", "road"): 8}
    alone = plan(cliques, options=PlanOptions(1, 2, budget=8, largest_first=True))
    assert all("cow" in query.concepts for query in alone.queries)


def test_what_is_capped_stays_so():
    cliques = Cliques(
        np.array([[0], [1]]), np.array([[9, 0], [5, 0]]), np.array([9, 9]), ("a", "b"), ("x", "y")
    )
    options = PlanOptions(1, max_per_query=4, budget=6, largest_first=True)
    assert [query.n for query in plan(cliques, options=options).queries] == [4, 2]


def test_nothing_to_close():
    cliques = Cliques(np.array([[0]]), np.array([[3, 3]]), np.array([9, 9]), ("a",), ("x", "y"))
    none = np.zeros((1, 2), dtype=np.int64)
    assert close_largest_gaps(cliques, none, 5, np.arange(1)).tolist() == [[0, 0]]
    assert close_largest_gaps(cliques, none, 5, np.arange(0)).tolist() == [[0, 0]]


def test_a_plan_file_keeps_it(count, urbancars_images_with_street):
    cliques = count(urbancars_images_with_street, 2)
    assert plan(cliques, options=PlanOptions(1, largest_first=True)).images == 7308
    made = plan(cliques, options=PlanOptions(1, budget=5, largest_first=True))
    written = plan_to_json(made)
    assert b'"budget": 5, "largest_first": true' in written
    assert plan_from_json(written) == made
    assert b"largest_first" not in plan_to_json(plan(cliques, options=PlanOptions(1, budget=5)))
