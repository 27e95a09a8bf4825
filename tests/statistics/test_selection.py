"""Planning for some of the cliques: filters, names, and what the planner then sees."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.generation.planning.plan import PlanOptions, queries_of, run_planner
from cobalance.generation.planning.planners import PLANNERS, plan
from cobalance.statistics.imbalance import imbalance_table
from cobalance.statistics.selection import CliqueFilter, find_rows, fold_repeats
from tests.support.counted import count_cliques

IMAGES = {
    ("x", frozenset("abc")): 40,
    ("y", frozenset("abc")): 10,
    ("y", frozenset("ab")): 20,
    ("z", frozenset("bd")): 9,
    ("x", frozenset("ad")): 1,
    ("y", frozenset("d")): 12,
}


@pytest.fixture(scope="module")
def cliques():
    return count_cliques(IMAGES, 3, common=False)


@pytest.mark.parametrize(
    ("wanted", "condition"),
    [
        (CliqueFilter(), "gap >= 0"),
        (CliqueFilter(min_gap=1), "gap >= 1"),
        (CliqueFilter(min_gap=10), "gap >= 10"),
        (CliqueFilter("y"), "under_represented == 'y'"),
        (CliqueFilter("z", min_gap=12), "under_represented == 'z' and gap >= 12"),
        (CliqueFilter(max_q_value=0.001), "q_value <= 0.001"),
    ],
)
def test_a_filter_passes_what_the_imbalance_table_says(cliques, wanted, condition):
    table = imbalance_table(cliques)
    assert wanted.rows(cliques).tolist() == table.query(condition).index.tolist()


def test_a_filter_by_concepts(cliques):
    names = [cliques.names()[row] for row in CliqueFilter(concepts=("b", "a")).rows(cliques)]
    assert names == [("a", "b"), ("a", "b", "c")]


def test_a_filter_that_nothing_passes(cliques):
    assert CliqueFilter(min_gap=10**9).rows(cliques).tolist() == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (CliqueFilter("w"), "unknown class 'w'"),
        (CliqueFilter(concepts=("a", "q")), "unknown concept 'q'"),
    ],
)
def test_a_filter_by_names_that_are_not_there(cliques, wanted, message):
    with pytest.raises(UnknownNameError, match=message):
        wanted.rows(cliques)


@pytest.mark.parametrize("options", [{"min_gap": -1}, {"max_q_value": 1.5}])
def test_a_filter_with_impossible_numbers(options):
    with pytest.raises(OptionError, match="give"):
        CliqueFilter(**options)


@given(st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=5), max_size=8))
def test_cliques_are_found_by_name(sets):
    cliques = count_cliques(IMAGES, 3, common=False)
    names = [tuple(sorted(names)) for names in sets]
    everything = cliques.names()
    expected = [everything.index(n) if n in everything else -1 for n in names]
    assert find_rows(cliques, names).tolist() == expected


@pytest.mark.parametrize("planner", ["conbias", "minimal", "published"])
def test_a_plan_for_all_cliques_is_the_plan(cliques, planner):
    options = PlanOptions(1, 3)
    planned = run_planner(cliques, PLANNERS.open(planner), options, np.arange(len(cliques)))
    assert queries_of(cliques, planned) == plan(cliques, planner, options).queries


@pytest.mark.parametrize("planner", ["conbias", "minimal", "published"])
def test_a_plan_for_some_asks_for_nothing_else(cliques, planner):
    chosen = find_rows(cliques, [("a", "b"), ("d",)])
    planned = run_planner(cliques, PLANNERS.open(planner), PlanOptions(1, 3), np.sort(chosen))
    queries = queries_of(cliques, planned)
    assert {query.concepts for query in queries} == {("a", "b"), ("d",)}
    assert queries[0].concepts == ("a", "b")


@pytest.mark.parametrize("planner", ["conbias", "minimal", "published"])
def test_a_plan_for_no_clique(cliques, planner):
    nothing = np.zeros(0, dtype=np.int64)
    planned = run_planner(cliques, PLANNERS.open(planner), PlanOptions(1, 3), nothing)
    assert queries_of(cliques, planned) == ()


def test_rows_taken_are_a_table_of_their_own(cliques):
    part = cliques.take(np.array([3, 1]))
    assert part.names() == [cliques.names()[3], cliques.names()[1]]
    assert part.class_sizes is cliques.class_sizes
    assert pd.DataFrame(part.counts).equals(pd.DataFrame(cliques.counts[[3, 1]]))


@given(
    st.lists(st.tuples(st.sampled_from("xy"), st.frozensets(st.sampled_from("abcd"))), max_size=12),
    st.randoms(use_true_random=False),
)
def test_folded_rows_have_the_same_images(images, random):
    shown = {
        names: frozenset(i for i, (_, concepts) in enumerate(images) if {*names} <= concepts)
        for size in range(1, 4)
        for names in combinations("abcd", size)
    }
    rows = [names for names, found in shown.items() if found]
    random.shuffle(rows)
    counts = np.array(
        [[sum(images[i][0] == name for i in shown[names]) for name in "xy"] for names in rows]
    ).reshape(-1, 2)
    groups = fold_repeats(rows, counts)
    assert sorted(row for group in groups for row in group) == list(range(len(rows)))
    assert [min(group) for group in groups] == sorted(min(group) for group in groups)
    for group in groups:
        assert len({shown[rows[row]] for row in group}) == 1
        assert len(rows[group[0]]) == max(len(rows[row]) for row in group)
        assert group[1:] == sorted(group[1:])
    of = {row: number for number, group in enumerate(groups) for row in group}
    for one, small in enumerate(rows):
        for other, large in enumerate(rows):
            if {*small} < {*large} and shown[small] == shown[large]:
                assert of[one] == of[other]
