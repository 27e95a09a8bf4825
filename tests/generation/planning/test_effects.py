"""Before and after, clique by clique, and planners side by side."""

import numpy as np
import pytest

from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.generation.planning.effects import (
    effect_table,
    measure,
    measure_planner,
    measure_told,
    touched_rows,
    widened_rows,
)
from cobalance.generation.planning.plan import (
    PlannedImages,
    PlanOptions,
    queries_of,
    run_planner,
)
from cobalance.generation.planning.planners import PLANNERS
from cobalance.generation.planning.simulation import simulate, simulate_images
from cobalance.statistics.selection import find_rows
from cobalance.statistics.told_bits import concepts_alone

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


@pytest.fixture(scope="module")
def incidence_of_counts():
    """Images of classes with concepts, so many of each."""

    def build(images):
        rows = [(label, held) for (label, held), n in images.items() for _ in range(n)]
        classes = sorted({label for label, _ in rows})
        concepts = sorted({name for _, held in rows for name in held})
        entries = [(at, concepts.index(name)) for at, (_, held) in enumerate(rows) for name in held]
        return build_incidence(
            [at for at, _ in entries],
            [code for _, code in entries],
            [classes.index(label) for label, _ in rows],
            concepts,
            classes,
        )

    return build


@pytest.fixture(scope="module")
def incidence(incidence_of_counts):
    return incidence_of_counts(
        {(label, tuple(sorted(held))): n for (label, held), n in IMAGES.items()}
    )


def everything(cliques):
    return np.arange(len(cliques))


@pytest.mark.parametrize("planner", list(PLANNERS))
def test_images_and_queries_simulate_alike(cliques, incidence, planner):
    options = PlanOptions(1, 3)
    planned = run_planner(cliques, PLANNERS.open(planner), options, images=incidence)
    by_queries = simulate(cliques, queries_of(cliques, planned))
    after = simulate_images(cliques, planned)
    assert (after.counts == by_queries.counts).all()
    assert (after.class_sizes == by_queries.class_sizes).all()


def test_touched_cliques_include_those_that_nobody_chose(cliques):
    chosen = find_rows(cliques, [("a", "b", "c")])
    planned = run_planner(cliques, PLANNERS.open("conbias"), PlanOptions(1, 3), chosen)
    after = simulate_images(cliques, planned)
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
    after = simulate_images(cliques, PlannedImages(np.zeros_like(cliques.counts)))
    rows = touched_rows(cliques, after)
    assert rows.tolist() == []
    assert effect_table(cliques, after, rows).empty


def test_planners_side_by_side(cliques):
    found = {
        name: measure_planner(cliques, everything(cliques), PLANNERS.open(name), PlanOptions(1, 3))
        for name in ("conbias", "minimal", "published")
    }
    assert found["minimal"] == found["conbias"]
    assert found["conbias"] == {
        "images": 5,  # 3 of y with abc, 2 of x with ab
        "queries": 2,
        "leaning_before": 0,  # of nine and eight images nothing can be told
        "leaning": 0,
        "difference_before": 0,
        "difference": 0,
        "largest_before": 0,
        "largest": 0,
        "widened": 0,
        "imbalanced": 7,
        "solved": 7,
        "remaining": 0,
        "gap_before": 15,
        "gap_after": 0,
        "widest_gap": 0,
    }
    # Every gap on its own: 3 for each of abc, ac, bc, c; 1 for each of ab, a, b. All of y.
    published = found["published"]
    assert (published["images"], published["queries"]) == (15, 7)
    assert published["solved"] == 1  # abc itself


@pytest.fixture(scope="module")
def leaning(count):
    """Cows are in 80 of 100 images of x and 20 of 100 of y; dogs in 50 of both."""
    images = {
        ("x", frozenset({"cow"})): 30,
        ("x", frozenset({"cow", "dog"})): 50,
        ("x", frozenset()): 20,
        ("y", frozenset({"cow"})): 20,
        ("y", frozenset({"dog"})): 50,
        ("y", frozenset()): 30,
    }
    return count(images, 2, common=False)


def test_leaning_cliques_and_their_rates_by_hand(leaning):
    assert leaning.names() == [("cow",), ("dog",), ("cow", "dog")]
    planned = PlannedImages(np.array([[0, 200], [0, 0], [0, 100]]))  # of y: 320 of 400 with a cow
    after = simulate_images(leaning, planned)
    assert after.counts.tolist() == [[80, 320], [50, 150], [50, 100]]
    found = measure(leaning, after, planned, everything(leaning))
    # Cows: 80 % and 20 %; cow and dog: 50 % and 0 %. Then 80 % and 80 %; 50 % and 25 %; and
    # dogs, alone, 50 % and 37.5 %, which leans in 100 and 400 images (p = 0.02).
    assert (found["leaning_before"], found["leaning"]) == (2, 2)
    assert (found["difference_before"], found["largest_before"]) == (1.1, 0.6)
    # The sum is of those that lean before.
    assert (found["difference"], found["largest"]) == (0.25, 0.25)
    assert found["widened"] == 1
    assert widened_rows(leaning, after).tolist() == [1]


def test_what_concepts_alone_tell(incidence_of_counts):
    """A cow tells the class of 40 of 50 images of each class; then of none."""
    images = {("x", ("cow",)): 40, ("x", ()): 10, ("y", ("cow",)): 10, ("y", ()): 40}
    real = incidence_of_counts(images)
    cliques = mine_cliques(real, max_size=1)
    planned = PlannedImages(np.array([[0, 150]]))  # 40 of 50, and 160 of 200
    found = measure_told(cliques, planned, real)
    assert 0.2 < found["bits_before"] < 0.29  # 1 + 0.8 log2 0.8 + 0.2 log2 0.2 = 0.278
    assert found["bits_most"] == 1
    assert abs(found["bits"]) < 0.02
    # From +0.68 bits in 40 and -1.32 in 10 images of each class to none.
    assert found["bits_error"] == pytest.approx(np.sqrt(2 * 0.16 * 2**2 / 50) / 2, abs=0.015)

    nothing = measure_told(cliques, PlannedImages(np.array([[0, 0]])), real)
    assert nothing["bits"] == nothing["bits_before"] == found["bits_before"]
    assert nothing["bits_error"] == 0


def test_bits_follow_from_images_and_not_from_their_order(incidence_of_counts):
    images = incidence_of_counts(
        {("x", ("cow",)): 31, ("x", ()): 9, ("y", ("cow", "dog")): 20, ("y", ("dog",)): 37}
    )
    further = incidence_of_counts({("y", ("cow",)): 6})
    told = concepts_alone(images, further)
    assert told.bits > 0.05
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(images.labels))
        assert concepts_alone(images.take(order), further).bits == told.bits


def test_bits_of_further_images_do_not_depend_on_how_they_are_grouped(incidence_of_counts):
    """Planned images of a set count as so many images that show it, whatever names' codes are."""
    real = incidence_of_counts(
        {("x", ("cow",)): 30, ("x", ("dog",)): 20, ("y", ("cow", "dog")): 15, ("y", ()): 35}
    )
    made = {("y", ("cow",)): 60, ("x", ("cow", "dog")): 7, ("y", ("dog",)): 9}
    further = incidence_of_counts({("w", ("ant",)): 3, **made})
    one_each = incidence_of_counts(dict.fromkeys(made, 1))
    times = np.array(list(made.values()))

    alone = concepts_alone(real)
    told = concepts_alone(real, further)
    assert told.bits == pytest.approx(concepts_alone(real, one_each, times).bits)
    assert abs(told.bits - alone.bits) > 0.01

    # The error of the mean difference over classes, by hand.
    change = told.by_image - alone.by_image
    variances = [change[told.labels == code].var() / 50 for code in (0, 1)]
    assert told.change_error(alone) == pytest.approx(np.sqrt(sum(variances)) / 2)
