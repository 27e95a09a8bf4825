"""Images that planners need: exactly, within tolerances, and what budgets leave.

    python -m benchmarks.planning [--images 10448] [--sizes 2] [--seconds 30] [--seed 1] [--rates]
    python -m benchmarks.planning --pace [--images 9500] [--sizes 4]

An incidence as COCO's for two classes is drawn from a seed (`benchmarks.generate`), mined up
to the size, and planned for from single concepts on. ``--pace`` is the CPU time, in all threads, of
the usual plan of whole images with its tests and measures, for each size up to the largest, beside
that of 20,000,000 additions in a loop of Python: the best of three.
"""

import argparse
import time

import numpy as np

from benchmarks.figures import report
from benchmarks.generate import Shape, generate
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import Incidence
from cobalance.generation.planning.effects import measure_all
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import WHOLE_IMAGES, plan
from cobalance.generation.planning.simulation import sets_of, simulate
from cobalance.generation.planning.sizes import plan_usual

TOLERANCES = (0.05, 0.1, 0.2, 0.3)
MOST_CPU_S = {2: 1.5, 3: 2.5, 4: 4.0}
"""Aims of ``--pace``, by the size of the largest cliques."""


def plan_and_measure(incidence: Incidence, max_size: int) -> tuple[float, str]:
    """Plan the usual number of whole images, as the page Plan does: CPU seconds, and the result."""
    # A new table and new images: what is computed of one is kept with it.
    cliques = mine_cliques(incidence, max_size=max_size)
    images = incidence.take(np.arange(len(incidence.labels)))
    every = np.arange(len(cliques))
    ids = [str(image) for image in range(len(images.labels))]

    started = time.process_time()
    made, _ = plan_usual(
        cliques, WHOLE_IMAGES, PlanOptions(), {}, chosen=every, images=images, ids=ids
    )
    after = simulate(cliques, made.queries)
    measures = measure_all(cliques, after, sets_of(cliques, made.queries), every, images)
    seconds = time.process_time() - started
    result = (
        f"{len(cliques):,} cliques up to size {max_size}, {made.images:,} images, "
        f"{measures['leaning_before']:,} -> {measures['leaning']:,} lean"
    )
    return seconds, result


def add_in_a_loop() -> str:
    """Add 20,000,000 numbers one by one, for comparison between machines."""
    started, total = time.process_time(), 0
    for number in range(20_000_000):
        total += number
    return f"{time.process_time() - started:6.2f} s of CPU: {number + 1:,} additions"


def show_pace(incidence: Incidence, sizes: int) -> None:
    """Print a line for each largest size of cliques, and one for the loop."""
    print(min(add_in_a_loop() for _ in range(3)))
    for size in range(2, sizes + 1):
        seconds, result = min(plan_and_measure(incidence, size) for _ in range(3))
        print(f"{seconds:6.2f} s of CPU: {result}", flush=True)
        name = f"planning: CPU, {len(incidence.labels):,} images, cliques up to size {size}"
        report(name, seconds, "s", at_most=MOST_CPU_S.get(size))


def main() -> None:
    """Print a line for each plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pace", action="store_true", help="CPU time of whole images instead.")
    parser.add_argument("--images", type=int)
    parser.add_argument("--sizes", type=int)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rates", action="store_true", help="Compare shares of the classes.")
    given = parser.parse_args()
    n_images = given.images or (9_500 if given.pace else 10_448)
    incidence = generate(Shape(n_images, 80, seed=given.seed))
    if given.pace:
        show_pace(incidence, given.sizes or 4)
        return

    cliques = mine_cliques(incidence, max_size=given.sizes or 2)
    exact = plan(cliques, "conbias", PlanOptions(1)).images
    print(f"{len(cliques):,} cliques; exactly: {exact:,} images")
    for tolerance in TOLERANCES:
        started = time.perf_counter()
        own = {"tolerance": tolerance, "seconds": given.seconds, "rates": given.rates}
        made = plan(cliques, "minimal", PlanOptions(1), own)
        left = simulate(cliques, made.queries).gaps().max()
        print(
            f"tolerance {tolerance:.0%}: {made.images:,} images, {1 - made.images / exact:.1%} "
            f"fewer; at least {made.bound or 0:,.0f}; widest gap {left:,}; "
            f"{time.perf_counter() - started:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
