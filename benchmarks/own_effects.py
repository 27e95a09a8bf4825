"""Time and memory of what stands on its own: `python -m benchmarks.own_effects`.

A million images of two classes with 80 concepts, drawn with a fixed seed, mined to size 3: some
65,000 cliques. Figures are CPU seconds of one process and one run.
"""

import resource
import time

import igraph  # noqa: F401 - summaries import it when they first need it
import numpy as np

from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.statistics.own_effect import own_effects
from cobalance.statistics.summary import summarize

IMAGES, CONCEPTS, MENTIONS = 1_000_000, 80, 8


def main() -> None:
    """Draw, mine, and measure."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 6):
        labels = rng.integers(0, n_classes, IMAGES)
        images = np.repeat(np.arange(IMAGES), MENTIONS)
        drawn = rng.exponential(12, len(images)).astype(int) + labels[images]
        names = tuple(f"concept {i:02}" for i in range(CONCEPTS))
        classes = tuple(f"class {i}" for i in range(n_classes))
        incidence = build_incidence(images, np.minimum(drawn, CONCEPTS - 1), labels, names, classes)
        cliques = mine_cliques(incidence, max_size=3)
        start = time.process_time()
        effects = own_effects(cliques)
        seconds = time.process_time() - start
        start = time.process_time()
        summarize(cliques)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{n_classes} classes, {len(cliques):,} cliques: effects {seconds:.1f} s, "
            f"summary {time.process_time() - start:.1f} s, process at most {peak:.1f} GB"
        )
        print(effects["own_test"].value_counts().to_dict())


if __name__ == "__main__":
    main()
