"""Near duplicates among embedded images: every pair, exactly.

    python -m benchmarks.embeddings [--points 100000] [--dimensions 512] [--similarity 0.95]

Vectors are drawn with a fixed seed, their axes of falling spread as those of images are, and 500
of them are copies of others with some noise. Seconds are of wall time; memory is the process's
peak with libraries and data.
"""

import argparse
import time

import numpy as np

from cobalance.ingest.embeddings.similarity import near_pairs, nearest, principal_axes, unit_vectors
from tests.support.memory import peak_mb

SEED = 0
COPIES = 500


def draw(n: int, d: int) -> np.ndarray:
    """Points of which the last are copies of the first."""
    rng = np.random.default_rng(SEED)
    points = rng.normal(size=(n, d)).astype(np.float32) * np.geomspace(3, 0.3, d, dtype="float32")
    points[-COPIES:] = points[:COPIES] + 0.05 * rng.normal(size=(COPIES, d))
    return points


def main() -> None:
    """Print seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--similarity", type=float, default=0.95)
    given = parser.parse_args()
    points = draw(given.points, given.dimensions)
    started = time.perf_counter()
    unit = unit_vectors(points)
    del points
    times = [("unit vectors", time.perf_counter())]
    nearest(unit, 5, 24)
    times.append(("24 images most like one", time.perf_counter()))
    principal_axes(unit, 2)
    times.append(("two principal axes", time.perf_counter()))
    left, _, _ = near_pairs(unit, given.similarity)
    times.append((f"near duplicates: {len(left):,} pairs", time.perf_counter()))
    for name, ended in times:
        print(f"{name}: {ended - started:.2f} s")
        started = ended
    print(f"peak memory: {peak_mb():,.0f} MB")


if __name__ == "__main__":
    main()
