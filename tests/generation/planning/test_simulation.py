import numpy as np
import pytest

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.base.records import PlannedQuery
from cobalance.generation.planning.plan import Plan, PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.generation.planning.simulation import simulate, summarize_plan

IMAGES = {
    ("x", frozenset("abc")): 4,
    ("y", frozenset("abc")): 1,
    ("y", frozenset("ab")): 2,
    ("x", frozenset()): 3,
}


def test_simulation_counts_only_mined_subsets(count):
    cliques = count(IMAGES, 2)
    after = simulate(cliques, [PlannedQuery("x", ("a", "b", "c"), 10)])  # larger than mined
    assert after.names() == cliques.names()
    assert (after.counts - cliques.counts).tolist() == [[10, 0]] * 6
    assert after.class_sizes.tolist() == [17, 3]


def test_simulation_of_several_queries_for_one_clique(count):
    cliques = count(IMAGES, 3)
    queries = [PlannedQuery(name, ("a", "b"), n) for name, n in [("x", 1), ("y", 2), ("x", 3)]]
    added = simulate(cliques, queries).counts - cliques.counts
    expected = {("a",): [4, 2], ("b",): [4, 2], ("a", "b"): [4, 2]}
    for names, row in zip(cliques.names(), added.tolist(), strict=True):
        assert row == expected.get(names, [0, 0])


def test_simulation_of_nothing(count):
    cliques = count(IMAGES, 3)
    after = simulate(cliques, [])
    assert (after.counts == cliques.counts).all()
    assert after.class_sizes.tolist() == [7, 3]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (PlannedQuery("w", ("a",), 1), "unknown class 'w'. Known: x, y."),
        (PlannedQuery("x", ("a", "d"), 1), "unknown concept 'd'. Known: a, b, c."),
    ],
)
def test_simulation_of_unknown_names(count, query, message):
    with pytest.raises(UnknownNameError, match=message):
        simulate(count(IMAGES, 3), [query])


@pytest.mark.parametrize("concepts", [(), ("b", "a"), ("a", "a")])
def test_simulation_of_concepts_out_of_order(count, concepts):
    with pytest.raises(OptionError, match="in ascending order, none twice"):
        simulate(count(IMAGES, 3), [PlannedQuery("x", concepts, 1)])


def test_summary(count):
    cliques = count(IMAGES, 3)
    summary = summarize_plan(cliques, plan(cliques))
    assert summary.index.tolist() == [1, 2, 3]
    assert summary.index.name == "size"
    assert (summary.dtypes == np.int64).all()
    assert summary.to_dict("index") == {
        # abc: 4, 1; ab: 4, 3; a and b the same; c, ac and bc: 4, 1. Three images of y with abc
        # make ab 4, 6, so x gets two with ab; a, b: 6, 6.
        1: row(3, 3, 0, 5, 0, 0, 0),
        2: row(3, 3, 0, 7, 0, 2, 0),
        3: row(1, 1, 0, 3, 0, 0, 3),
    }


def row(*values: int) -> dict[str, int]:
    columns = "cliques imbalanced_before imbalanced_after total_gap_before total_gap_after"
    return dict(zip([*columns.split(), "images_x", "images_y"], values, strict=True))


def test_summary_of_a_plan_for_larger_cliques(count):
    """A plan read from a file may be older than the cliques."""
    queries = (PlannedQuery("y", ("a", "b", "c"), 2),)
    summary = summarize_plan(count(IMAGES, 1), Plan("conbias", PlanOptions(3, 3), queries))
    assert summary.index.tolist() == [1, 2, 3]
    assert summary["images_y"].tolist() == [0, 0, 2]
    assert summary["cliques"].tolist() == [3, 0, 0]


def test_summary_without_cliques(count):
    cliques = count({("x", frozenset()): 1}, 2)
    summary = summarize_plan(cliques, plan(cliques))
    assert summary.index.tolist() == [1, 2]
    assert (summary == 0).all(axis=None)
    assert (summary.dtypes == np.int64).all()
