"""Cliques counted the slow way, one kind of image at a time, to compare kernels with."""

import csv
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from cobalance.counting.cliques import Cliques

COUNTS = Path(__file__).parents[2] / "cobalance" / "workflows" / "demo" / "urbancars_counts.csv"

Images = Mapping[tuple[str, frozenset[str]], int]
"""How many images there are of each class with exactly each set of concepts."""


def count_cliques(images: Images, max_size: int, *, common: bool = True) -> Cliques:
    """Count every clique that some image contains, one image kind and clique at a time."""
    classes = tuple(sorted({name for name, _ in images}))
    concepts = tuple(sorted(set().union(*(held for _, held in images))))

    def count(clique: set[str]) -> list[int]:
        return [
            sum(n for (label, held), n in images.items() if label == name and clique <= held)
            for name in classes
        ]

    kept = [name for name in concepts if not common or min(count({name})) > 0]
    found = [
        (clique, counts)
        for size in range(1, max_size + 1)
        for clique in combinations(kept, size)
        if max(counts := count(set(clique))) > 0
    ]
    members = np.full((len(found), max_size), -1, dtype=np.int32)
    for row, (clique, _) in enumerate(found):
        members[row, : len(clique)] = [concepts.index(name) for name in clique]
    return Cliques(
        members,
        np.array([counts for _, counts in found], dtype=np.int64).reshape(-1, len(classes)),
        np.array([sum(n for (label, _), n in images.items() if label == name) for name in classes]),
        concepts,
        classes,
    )


def urbancars(*, street: bool) -> Images:
    """Count UrbanCars' images. Without `street`, its images stay and have the object alone."""
    images: Counter[tuple[str, frozenset[str]]] = Counter()
    with COUNTS.open(newline="") as file:
        for row in csv.DictReader(file):
            held = {row["background"], row["cooccurring_object"]}
            images[row["class"], frozenset(held - (set() if street else {"street"}))] += int(
                row["count"]
            )
    return {kind: n for kind, n in images.items() if n}
