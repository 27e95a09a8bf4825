"""Cliques counted the slow way, one kind of image at a time, to compare kernels with."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from graph.counting.cliques import Cliques

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
