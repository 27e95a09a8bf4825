"""Every planner by hand and on random data, against plain recounts and a linear programme."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.optimize import linprog

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.base.records import PlannedQuery
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import PLANNERS, plan
from cobalance.generation.planning.simulation import simulate

CONCEPTS = "abcde"


@st.composite
def image_sets(draw, min_classes=2, max_classes=3):
    """How many images there are of each class with exactly each set of concepts."""
    classes = ["x", "y", "z"][: draw(st.integers(min_classes, max_classes))]
    held = st.frozensets(st.sampled_from(CONCEPTS), max_size=4)
    images = draw(
        st.dictionaries(st.tuples(st.sampled_from(classes), held), st.integers(1, 9), max_size=12)
    )
    return {**{(name, frozenset()): 1 for name in classes}, **images}


sizes = st.tuples(st.integers(1, 3), st.integers(1, 3)).filter(lambda pair: pair[0] <= pair[1])


def by_definition(images, cliques: Cliques, min_size: int, max_size: int, *, update: bool):
    """Algorithm 1 line by line, on the images themselves; without line 15 on request."""
    images, queries = Counter(images), []
    for k in range(max_size, min_size - 1, -1):
        made: Counter = Counter()
        for clique in (names for names in cliques.names() if len(names) == k):
            n = {
                name: sum(
                    count
                    for (label, held), count in images.items()
                    if label == name and held >= set(clique)
                )
                for name in cliques.classes
            }
            for name, count in n.items():
                if count < max(n.values()):
                    queries.append(PlannedQuery(name, clique, max(n.values()) - count))
                    made[name, frozenset(clique)] += max(n.values()) - count
        if update:
            images += made
    return tuple(queries)


def fewest_images(cliques: Cliques, min_size: int, max_size: int) -> float:
    """The optimum of the linear programme: all gaps of these sizes zero, fewest images in all."""
    kept = [i for i, k in enumerate(cliques.sizes()) if min_size <= k <= max_size]
    names = [set(cliques.names()[i]) for i in kept]
    counts, n_classes = cliques.counts[kept], len(cliques.classes)
    if not kept:
        return 0
    rows, right = [], []
    for i, part in enumerate(names):
        for code in range(1, n_classes):
            row = np.zeros((len(kept), n_classes))
            holding = [j for j, whole in enumerate(names) if part <= whole]
            row[holding, code], row[holding, 0] = 1, -1
            rows.append(row.ravel())
            right.append(counts[i, 0] - counts[i, code])
    result = linprog(np.ones(len(rows[0])), A_eq=np.array(rows), b_eq=right, method="highs")
    assert result.success
    return float(result.fun)


OF_COUNTS = ["conbias", "minimal", "published"]


@pytest.fixture(scope="module", params=OF_COUNTS)
def planner(request) -> str:
    return request.param


def test_registry():
    assert list(PLANNERS) == [*OF_COUNTS, "whole-images"]
    with pytest.raises(
        UnknownNameError, match=r"unknown planner 'best'\. Known: conbias, minimal, pub"
    ):
        PLANNERS.open("best")


@given(images=image_sets(), span=sizes, common=st.booleans())
def test_planner_is_its_definition(planner, count, images, span, common):
    cliques = count(images, 3, common=common)
    made = plan(cliques, planner, PlanOptions(*span))
    assert made.queries == by_definition(images, cliques, *span, update=planner != "published")
    assert (made.planner, made.options) == (planner, PlanOptions(*span))


@given(images=image_sets(), span=sizes, common=st.booleans())
def test_conbias_closes_every_gap_of_its_sizes(count, images, span, common):
    cliques = count(images, 3, common=common)
    after = simulate(cliques, plan(cliques, "conbias", PlanOptions(*span)).queries)
    treated = (cliques.sizes() >= span[0]) & (cliques.sizes() <= span[1])
    assert (np.ptp(after.counts[treated], axis=1) == 0).all()
    assert plan(after, "conbias", PlanOptions(*span)).queries == ()


@given(images=image_sets(), span=sizes)
def test_conbias_needs_the_fewest_images(count, images, span):
    cliques = count(images, 3)
    made = plan(cliques, "conbias", PlanOptions(*span))
    assert made.images == pytest.approx(fewest_images(cliques, *span))


@given(images=image_sets(), size=st.integers(1, 3))
def test_planners_agree_on_one_size(count, images, size):
    cliques, options = count(images, 3), PlanOptions(size, size)
    assert plan(cliques, "conbias", options).queries == plan(cliques, "published", options).queries


@given(images=image_sets(), span=sizes)
def test_simulation_is_a_recount(planner, count, images, span):
    cliques = count(images, 3)
    queries = plan(cliques, planner, PlanOptions(*span)).queries
    made = Counter({(query.class_name, frozenset(query.concepts)): query.n for query in queries})
    found, expected = simulate(cliques, queries), count(Counter(images) + made, 3)
    assert found.names() == expected.names()
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.class_sizes.tolist() == expected.class_sizes.tolist()


@given(images=image_sets())
def test_queries_are_in_order(planner, count, images):
    queries = plan(count(images, 3), planner, PlanOptions(1)).queries
    keys = [(-len(query.concepts), query.concepts, query.class_name) for query in queries]
    assert keys == sorted(set(keys))


@given(images=image_sets())
def test_one_class_always_asks_for_nothing(planner, count, images):
    """The class with most images of a clique; another class gets up to the difference."""
    cliques = count(images, 3)
    asked: dict = {}
    for query in plan(cliques, planner, PlanOptions(1)).queries:
        asked.setdefault(query.concepts, set()).add(query.class_name)
    assert all(len(names) < len(cliques.classes) for names in asked.values())


def test_planner_leaves_the_counts_alone(planner, count):
    cliques = count({("x", frozenset("abc")): 4, ("y", frozenset("abc")): 1}, 3)
    before = cliques.counts.copy()
    simulate(cliques, plan(cliques, planner).queries)
    assert (cliques.counts == before).all()


def test_update_saves_images(count):
    """Three images with all of a, b, c settle its three pairs as well."""
    cliques = count({("x", frozenset("abc")): 4, ("y", frozenset("abc")): 1}, 3)
    assert plan(cliques, "conbias").queries == (PlannedQuery("y", ("a", "b", "c"), 3),)
    published = plan(cliques, "published")
    assert published.images == 12
    assert simulate(cliques, published.queries).counts[3:6].tolist() == [[4, 7]] * 3


def test_closing_every_gap_can_take_more_images_than_published(count):
    """The triple leans to x, its pairs to y: images of y for the triple widen the pairs."""
    images = {("x", frozenset("abc")): 5, ("y", frozenset("abc")): 1}
    images |= {("y", frozenset(pair)): 10 for pair in ("ab", "ac", "bc")}
    cliques = count(images, 3)
    made, published = plan(cliques, "conbias"), plan(cliques, "published")
    assert (made.images, published.images) == (4 + 3 * 10, 4 + 3 * 6)
    assert np.ptp(simulate(cliques, made.queries).counts[3:], axis=1).tolist() == [0] * 4
    assert np.ptp(simulate(cliques, published.queries).counts[3:], axis=1).tolist() == [4, 4, 4, 0]


def test_every_class_below_the_largest_count_gets_a_query(planner, count):
    images = {("x", frozenset("ab")): 5, ("y", frozenset("ab")): 3, ("z", frozenset("a")): 1}
    queries = plan(count(images, 2, common=False), planner, PlanOptions(2, 2)).queries
    assert [(query.class_name, query.n) for query in queries] == [("y", 2), ("z", 5)]


def test_sizes_that_are_not_treated_get_no_queries(planner, count):
    images = {("x", frozenset("abc")): 5, ("y", frozenset("a")): 1}
    cliques = count(images, 3, common=False)
    for span in [(1, 1), (2, 2), (3, 3), (1, 2)]:
        queries = plan(cliques, planner, PlanOptions(*span)).queries
        assert {len(query.concepts) for query in queries} == set(range(span[0], span[1] + 1))


def test_one_class_and_no_cliques(planner, count):
    one = count({("x", frozenset("ab")): 3}, 2)
    assert plan(one, planner).queries == ()
    none = count({("x", frozenset()): 3, ("y", frozenset()): 2}, 2)
    assert len(none) == 0
    assert plan(none, planner).queries == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (PlanOptions(1, 4), "max_size is 4, but the cliques were mined up to size 3. Mine"),
        (PlanOptions(4), "min_size is 4, but the cliques were mined up to size 3"),
    ],
)
def test_sizes_that_were_not_mined(planner, count, options, message):
    with pytest.raises(OptionError, match=message):
        plan(count({("x", frozenset("abc")): 1}, 3), planner, options)


@pytest.mark.parametrize(
    ("span", "message"), [((0, 2), "min_size is 0"), ((3, 2), "max_size is 2, below min_size")]
)
def test_options_that_contradict(span, message):
    with pytest.raises(OptionError, match=message):
        PlanOptions(*span)


@given(images=image_sets(min_classes=2, max_classes=2), span=sizes)
def test_renaming_classes_changes_nothing_else(planner, count, images, span):
    """A planner that favoured the first class by name would fail here."""
    assume(any(held for _, held in images))
    other = {"x": "y", "y": "x"}
    turned = {(other[name], held): n for (name, held), n in images.items()}
    queries = plan(count(images, 3), planner, PlanOptions(*span)).queries
    found = plan(count(turned, 3), planner, PlanOptions(*span)).queries
    assert {(other[q.class_name], q.concepts, q.n) for q in found} == {
        (q.class_name, q.concepts, q.n) for q in queries
    }


def test_a_planner_without_options_of_its_own_refuses_one():
    cliques = Cliques(np.array([[0]]), np.array([[1, 2]]), np.array([2, 2]), ("a",), ("x", "y"))
    with pytest.raises(OptionError, match=r"The planner conbias has no option 'share'\. .* none"):
        plan(cliques, planner_options={"share": 0.5})


@pytest.mark.parametrize("planner", [*PLANNERS])
def test_properties_of_image_files_are_in_no_plan(planner):
    rng = np.random.default_rng(0)
    dark, light = "image: brightness below 62", "image: brightness 62 and above"
    images, codes = np.nonzero(rng.random((300, 4)) < np.repeat([[0.3], [0.6]], 150, axis=0))
    incidence = build_incidence(
        images, codes, np.repeat([0, 1], 150), ["cow", dark, light, "road"], ["a", "b"]
    )
    made = plan(
        mine_cliques(incidence, max_size=2),
        planner,
        PlanOptions(min_size=1),
        images=incidence,
    )
    assert made.queries
    assert {name for query in made.queries for name in query.concepts} <= {"cow", "road"}
