"""Counting done the slow way, and the real UrbanCars training set, for every test of plans."""

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.counting.cliques import Cliques
from tests.counted import Images, count_cliques

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def count() -> Callable[..., Cliques]:
    return count_cliques


def urbancars(*, street: bool) -> Images:
    """Read the counts. Without `street`, its images stay and have the object alone."""
    images: Counter[tuple[str, frozenset[str]]] = Counter()
    with (ROOT / "app" / "demo" / "urbancars_counts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            held = {row["background"], row["cooccurring_object"]}
            images[row["class"], frozenset(held - (set() if street else {"street"}))] += int(
                row["count"]
            )
    return {kind: n for kind, n in images.items() if n}


@pytest.fixture(scope="session")
def urbancars_images() -> Images:
    return urbancars(street=False)


@pytest.fixture(scope="session")
def urbancars_images_with_street() -> Images:
    return urbancars(street=True)
