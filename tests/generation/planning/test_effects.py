"""Before and after, clique by clique, and planners side by side."""

import numpy as np
import pytest

from cobalance.generation.planning.effects import (
    effect_table,
    measure,
    measure_planner,
    plan_for,
    touched_rows,
)
from cobalance.generation.planning.plan import PlanOptions, queries_of
from cobalance.generation.planning.planners import PLANNERS
from cobalance.generation.planning.simulation import simulate, simulate_images
from cobalance.graph.diagnosis.selection import find_rows

IMAGES = {
    ("x", frozenset("abc")): 4,
    ("y", frozenset("abc")): 1,
    ("y", frozenset("ab")): 2,
    ("y", frozenset("d")): 5,
    ("x", frozenset("d")): 5,
}


@pytest.fixture(scope="module")
def cliques(count):
    return count(IMAGES, 3)


def everything(cliques):
    return np.arange(len(cliques))


@pytest.mark.parametrize("planner", list(PLANNERS))
def test_images_and_queries_simulate_alike(cliques, planner):
    options = PlanOptions(1, 3)
    images = plan_for(cliques, everything(cliques), PLANNERS.open(planner), options).images
    by_queries = simulate(cliques, queries_of(cliques, images))
    after = simulate_images(cliques, images)
    assert (after.counts == by_queries.counts).all()
    assert (after.class_sizes == by_queries.class_sizes).all()


def test_touched_cliques_include_those_that_nobody_chose(cliques):
    chosen = find_rows(cliques, [("a", "b", "c")])
    images = plan_for(cliques, chosen, PLANNERS.open("conbias"), PlanOptions(1, 3)).images
    after = simulate_images(cliques, images)
    rows = touched_rows(cliques, after)
    names = [cliques.names()[row] for row in rows]
    assert set(names) == {(*n,) for n in ("a", "b", "c", "ab", "ac", "bc", "abc")}
    assert cliques.gaps()[rows].tolist() == [3, 3, 3, 3, 1, 1, 1]
    table = effect_table(cliques, after, rows).set_index("concepts")
    assert table.loc[[("a", "b")]].to_dict("records") == [
        {
            "size": 2,
            "gap_before": 1,
            "gap_after": 2,
            "too_few_before": "y",
            "too_few_after": "x",
            "before_x": 4,
            "before_y": 3,
            "after_x": 4,
            "after_y": 6,
        }
    ]
    assert table.loc[[("a", "b", "c")], "too_few_after"].isna().all()


def test_no_images_touch_nothing(cliques):
    after = simulate_images(cliques, np.zeros_like(cliques.counts))
    rows = touched_rows(cliques, after)
    assert rows.tolist() == []
    assert effect_table(cliques, after, rows).empty


def test_planners_side_by_side(cliques):
    found = {
        name: measure_planner(cliques, everything(cliques), PLANNERS.open(name), PlanOptions(1, 3))
        for name in PLANNERS
    }
    assert [*found] == ["conbias", "minimal", "published"]
    assert found["minimal"] == found["conbias"]
    assert found["conbias"] == {
        "images": 5,  # 3 of y with abc, 2 of x with ab
        "queries": 2,
        "imbalanced": 7,
        "solved": 7,
        "remaining": 0,
        "gap_before": 15,
        "gap_after": 0,
        "widest_gap": 0,
        "widened": 0,
    }
    # Every gap on its own: 3 for each of abc, ac, bc, c; 1 for each of ab, a, b. All of y.
    published = found["published"]
    assert (published["images"], published["queries"]) == (15, 7)
    assert published["solved"] == 1  # abc itself
    assert published["widened"] == 4  # a, b, c and ab


def test_measures_of_a_part_say_what_happens_elsewhere(cliques):
    chosen = find_rows(cliques, [("a", "b", "c"), ("d",)])
    images = plan_for(cliques, np.sort(chosen), PLANNERS.open("conbias"), PlanOptions(1, 3)).images
    measured = measure(cliques, simulate_images(cliques, images), images, np.sort(chosen))
    assert measured["imbalanced"] == measured["solved"] == 1
    assert (measured["gap_before"], measured["gap_after"]) == (3, 0)
    assert measured["widened"] == 3  # a, b and ab lean the other way now
