"""Follow 1,000 new images in the cliques of 250,000, against counting all anew.

``python -m benchmarks.sums``
"""

import time
from typing import Any

import numpy as np

from benchmarks.generate import Shape, generate
from cobalance.counting.changes import update_mined
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import Incidence
from cobalance.counting.sums import update_cliques

OLD, NEW, SIZE, TURNS = 250_000, 1_000, 3, 3


def part(whole: Incidence, start: int, end: int) -> Incidence:
    """Some of the images."""
    offsets = whole.indptr[start : end + 1]
    indices = whole.indices[offsets[0] : offsets[-1]]
    labels = whole.labels[start:end]
    return Incidence(offsets - offsets[0], indices, labels, whole.concepts, whole.classes)


def main() -> None:
    """Print the seconds of both, of each turn."""
    whole = generate(Shape(OLD + NEW, 80))
    before = mine_cliques(part(whole, 0, OLD), max_size=SIZE, common=(), engine="numpy")
    for _ in range(TURNS):
        started = time.perf_counter()
        added = mine_cliques(part(whole, OLD, OLD + NEW), max_size=SIZE, common=(), engine="numpy")
        updated = update_cliques(before, added=added)
        between = time.perf_counter()
        anew = mine_cliques(whole, max_size=SIZE, common=(), engine="numpy")
        ended = time.perf_counter()
        equal = np.array_equal(updated.counts, anew.counts)
        print(
            f"{len(anew):,} cliques: updated in {between - started:.2f} s, "
            f"anew in {ended - between:.2f} s, equal: {equal}"
        )
    old = part(whole, 0, OLD)
    options: dict[str, Any] = {
        "max_size": SIZE,
        "min_support": 1,
        "common": None,
        "max_cliques": 10**6,
    }
    mined = mine_cliques(old, **options)
    for _ in range(TURNS):
        started = time.perf_counter()
        followed = update_mined(mined, old, whole, **options)
        between = time.perf_counter()
        anew = mine_cliques(whole, **options)
        ended = time.perf_counter()
        equal = followed is not None and np.array_equal(followed[0].counts, anew.counts)
        print(
            f"{len(anew):,} mined cliques: followed in {between - started:.2f} s, finding what "
            f"changed included; anew, compiled, in {ended - between:.2f} s, equal: {equal}"
        )


if __name__ == "__main__":
    main()
