"""Exact nearest neighbours of embedded images, against doing it plainly and scikit-learn.

    python -m benchmarks.neighbours [--points 20000] [--dimensions 512] [--k 50] [--turns 3]
    python -m benchmarks.neighbours --k 5000

Vectors in single precision are drawn with a fixed seed, in 200 clusters, as those of images are.
Every point is a query, and left out of its own neighbours. The ways:

- ``sets``: `ingest.embeddings.neighbours.neighbourhoods`, what the filter `embedding` uses;
- ``plain``: products in double precision and a partial sort, 256 rows at a time;
- ``scikit-learn``: `NearestNeighbors` by brute force;
- ``faiss``: its exact index `IndexFlatIP`, where faiss is installed.

Each way runs in a process of its own: seconds of wall and of CPU time in all threads are the best
of some turns, memory is the process's peak with libraries and data. The last column says for how
many queries a way finds other points than ``sets``.
"""

import argparse
import importlib.util
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from math import inf

import numpy as np

from cobalance.ingest.embeddings.neighbourhoods import neighbourhoods
from tests.support.memory import peak_mb

SEED = 0
CLUSTERS = 200


def draw(n: int, d: int) -> np.ndarray:
    """Points about the centres of clusters, of shape (n, d)."""
    rng = np.random.default_rng(SEED)
    centres = rng.normal(size=(CLUSTERS, d))
    points = centres[rng.integers(CLUSTERS, size=n)] + rng.normal(size=(n, d))
    return points.astype(np.float32)


def sets(points: np.ndarray, k: int) -> np.ndarray:
    """Ours."""
    found = neighbourhoods(points, points, k, own=np.arange(len(points)))
    return np.concatenate([positions for _, positions in found])


def plain(points: np.ndarray, k: int) -> np.ndarray:
    """What one would write first."""
    rows = points.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = []
    for start in range(0, len(rows), 256):
        block = -(rows[start : start + 256] @ rows.T)
        block[np.arange(len(block)), start + np.arange(len(block))] = inf
        found.append(np.argpartition(block, k - 1, axis=1)[:, :k].copy())
    return np.concatenate(found)


def scikit_learn(points: np.ndarray, k: int) -> np.ndarray:
    """By brute force, which is exact up to single precision."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(points)
    return search.kneighbors(return_distance=False)


def faiss(points: np.ndarray, k: int) -> np.ndarray:
    """By its exact index, in single precision; k and one more, as it finds each point itself."""
    import faiss

    rows = points / np.linalg.norm(points, axis=1, keepdims=True)
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    _, found = index.search(rows, k + 1)
    others = found != np.arange(len(rows))[:, np.newaxis]
    others[others.all(axis=1), -1] = False
    return found[others].reshape(len(rows), k)


WAYS = {
    "sets": sets,
    "plain": plain,
    "scikit-learn": scikit_learn,
    "faiss": faiss,
}


def measure(way: str, n: int, d: int, k: int, turns: int) -> tuple[float, float, float, np.ndarray]:
    """Wall and CPU seconds, the process's peak memory in MB, and the neighbours, sorted."""
    points = draw(n, d)
    wall = cpu = inf
    for _ in range(turns):
        wall_from, cpu_from = time.perf_counter(), time.process_time()
        found = WAYS[way](points, k)
        wall = min(wall, time.perf_counter() - wall_from)
        cpu = min(cpu, time.process_time() - cpu_from)
    peak = peak_mb()
    return wall, cpu, peak, np.sort(found.astype(np.int32), axis=1)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    given = parser.parse_args()
    print(f"{given.points:,} points of {given.dimensions} dimensions, k = {given.k}, seed {SEED}")
    expected = None
    for way in given.ways:
        if way == "faiss" and importlib.util.find_spec("faiss") is None:
            print(f"  {way:14s} is not installed")
            continue
        # a new process for each, so that the peak is its own
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            wall, cpu, peak, found = pool.submit(
                measure, way, given.points, given.dimensions, given.k, given.turns
            ).result()
        expected = found if expected is None else expected
        differ = int((found != expected).any(axis=1).sum())
        print(
            f"  {way:14s} wall {wall:7.2f} s   CPU {cpu:7.2f} s   peak {peak:6,.0f} MB   "
            f"{differ:,} queries differ",
            flush=True,
        )


if __name__ == "__main__":
    main()
