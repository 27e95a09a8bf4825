"""Images that planners need: exactly, within tolerances, and what budgets leave.

    python -m benchmarks.planning [--images 10448] [--sizes 2] [--seconds 30] [--seed 1] [--rates]

An incidence as COCO's for two classes is drawn from a seed (`benchmarks.generate`), mined up
to the size, and planned for from single concepts on.
"""

import argparse
import time

from benchmarks.generate import Shape, generate
from cobalance.counting.cliques import mine_cliques
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.generation.planning.simulation import simulate

TOLERANCES = (0.05, 0.1, 0.2, 0.3)


def main() -> None:
    """Print a line for each plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10_448)
    parser.add_argument("--sizes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rates", action="store_true", help="Compare shares of the classes.")
    given = parser.parse_args()
    shape = Shape(given.images, 80, seed=given.seed)
    cliques = mine_cliques(generate(shape), max_size=given.sizes)
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
