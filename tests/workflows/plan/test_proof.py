"""What plans and comparisons say of a dataset is what its own table says."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.incidence import Incidence
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.lean import find_leaning
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import read_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.statistics.told_bits import concepts_alone
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.plan.proof import measure_bits

CONCEPTS, CLASSES = ("barn", "cow", "road"), ("farm", "town")


def drawn(n: int, seed: int, *, lean: float) -> list[tuple[str, tuple[str, ...]]]:
    """Classes and concepts of images; cows lean to farms."""
    rng = np.random.default_rng(seed)
    images = []
    for _ in range(n):
        label = CLASSES[rng.integers(2)]
        cow = rng.random() < (lean if label == "farm" else 1 - lean)
        others = [name for name in ("barn", "road") if rng.random() < 0.4]
        images.append((label, tuple(sorted(others + ["cow"] * cow))))
    return images


def records(
    images: list[tuple[str, tuple[str, ...]]], prefix: str, *, synthetic: bool
) -> list[ImageRecord]:
    return [
        ImageRecord(f"{prefix} {at}", label, tuple(map(Mention, concepts)), synthetic=synthetic)
        for at, (label, concepts) in enumerate(images)
    ]


def incidence(images: list[tuple[str, tuple[str, ...]]]) -> Incidence:
    rows = [[CONCEPTS.index(name) for name in concepts] for _, concepts in images]
    return Incidence(
        np.cumsum([0, *map(len, rows)]),
        np.concatenate(rows).astype(np.int32),
        np.array([CLASSES.index(label) for label, _ in images], dtype=np.int32),
        CONCEPTS,
        CLASSES,
    )


@pytest.fixture
def write(store: GraphStore, dataset: str) -> Iterator[Callable[[str, list[ImageRecord]], str]]:
    written = []

    def load(name: str, images: list[ImageRecord]) -> str:
        full_name = f"{dataset} {name}"
        written.append(full_name)
        write_annotations(store, full_name, Annotations.from_records(images), source="a test")
        mine_dataset(store, full_name, MiningOptions(max_size=3), max_cliques=10_000)
        return full_name

    yield load
    for name in written:
        drop_dataset(store, name)


@pytest.mark.parametrize("left_out", [0, 1])
def test_bits_of_a_dataset_are_the_same_whatever_it_is_compared_with(store, write, left_out):
    """Of real images alone, generated ones being learned from, also where one image is gone."""
    real, made = drawn(150, 1, lean=0.9), drawn(120, 2, lean=0.1)
    before = write("before", records(real, "real", synthetic=False))
    after = write(
        "after",
        records(real, "real", synthetic=False)[left_out:] + records(made, "made", synthetic=True),
    )

    told = concepts_alone(incidence(real)).bits
    rebalanced = concepts_alone(incidence(real[left_out:]), incidence(made)).bits
    assert told - rebalanced > 0.1

    forwards, backwards = measure_bits(store, before, after), measure_bits(store, after, before)
    assert forwards["bits_before"] == backwards["bits"] == pytest.approx(told)
    assert forwards["bits"] == backwards["bits_before"] == pytest.approx(rebalanced)


def test_a_plan_of_small_cliques_counts_leans_as_the_table_does(store, write):
    """Its q-values are of all cliques that were mined, so that fewer sizes change none."""
    rng = np.random.default_rng(3)
    images = []
    for at in range(400):
        label = CLASSES[at % 2]
        shown = [f"c{c:02d}" for c in range(8) if rng.random() < 0.35 + 0.05 * (c % 4) * (at % 2)]
        images.append((label, tuple(shown)))
    name = write("many", records(images, "real", synthetic=False))

    table = read_imbalances(store, name, Ranking(limit=10_000))
    n_leaning = int(table.loc[table["size"] <= 2, "leans"].sum())
    planned = plan_dataset(store, name, None, PlanOptions(budget=20, min_size=1, max_size=2))
    # By a test of the small ones alone more would lean.
    small = read_cliques(store, dataset_state(store, name), max_size=2)
    assert 0 < n_leaning < find_leaning(small).sum()
    assert planned.measures["leaning_before"] == n_leaning
    assert planned.plan.options.max_size == 2
