"""The real UrbanCars training set, against what the ConBias authors published for it."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.generation.planning.simulation import simulate, summarize_plan
from cobalance.statistics.imbalance import imbalance_table
from tests.support.counted import Images, count_cliques, urbancars

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "data" / "conbias_concepts_generation_urbancars.json"
PUBLISHED = ROOT.parent / "shared" / "data" / GOLDEN.name


def published_queries() -> set[tuple[str, tuple[str, ...], int]]:
    queries = json.loads(GOLDEN.read_text())
    return {(name, tuple(sorted(concepts)), n) for name, concepts, n in queries}


def nodes_and_edges(images) -> tuple[int, int]:
    edges = {pair for label, held in images for pair in combinations(sorted({label, *held}), 2)}
    return len({name for pair in edges for name in pair}), len(edges)


@pytest.fixture(scope="module")
def images() -> Images:
    return urbancars(street=False)


@pytest.fixture(scope="module")
def cliques(images) -> Cliques:
    return count_cliques(images, 2)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published files are not beside the tests")
def test_golden_file_is_the_published_one():
    assert GOLDEN.read_bytes() == PUBLISHED.read_bytes()


def test_graph_and_cliques_have_the_published_size(images, cliques):
    assert nodes_and_edges(images) == (19, 106)
    assert np.bincount(cliques.sizes()).tolist() == [0, 17, 72]


def test_published_plan_is_the_published_one(cliques):
    made = plan(cliques, "published", PlanOptions(max_size=2))
    assert {(q.class_name, q.concepts, q.n) for q in made.queries} == published_queries()
    assert (len(made.queries), made.images) == (69, 7238)
    assert made.images_by_class() == {"country": 3587, "urban": 3651}


def test_conbias_plan_of_one_size_is_the_published_one(cliques):
    assert plan(cliques, "conbias").queries == plan(cliques, "published").queries


def test_with_street():
    images = urbancars(street=True)
    assert nodes_and_edges(images) == (20, 116)
    made = plan(count_cliques(images, 2))
    assert (len(made.queries), made.images) == (76, 7308)


def test_imbalances_are_the_published_ones(cliques):
    frame = imbalance_table(cliques).query("size >= 2")
    unbalanced = frame[frame["gap"] > 0]
    found = zip(
        unbalanced["under_represented"], unbalanced["concepts"], unbalanced["gap"], strict=True
    )
    assert set(found) == published_queries()


def test_pairs_then_singles(cliques):
    """Balanced pairs balance single concepts too, but for the images whose street is left out."""
    summary = summarize_plan(cliques, plan(cliques))
    assert summary.loc[2, ["imbalanced_before", "imbalanced_after"]].tolist() == [69, 0]
    assert summary.loc[1, ["imbalanced_before", "imbalanced_after"]].tolist() == [17, 7]
    assert summary["total_gap_before"].tolist() == [14336, 7238]
    assert summary["total_gap_after"].tolist() == [70, 0]
    both = plan(cliques, options=PlanOptions(min_size=1))
    assert both.images == 7238 + 70
    assert (np.ptp(simulate(cliques, both.queries).counts, axis=1) == 0).all()


def test_mined_cliques_give_the_same_plan(images, cliques):
    kinds = [kind for kind, n in images.items() for _ in range(n)]
    entries = [(i, cliques.concepts.index(c)) for i, (_, held) in enumerate(kinds) for c in held]
    positions, codes = np.array(entries).T
    labels = [cliques.classes.index(name) for name, _ in kinds]
    incidence = build_incidence(positions, codes, labels, cliques.concepts, cliques.classes)
    assert plan(mine_cliques(incidence, max_size=2)) == plan(cliques)
