"""Seconds that compiling adds to the first count on a machine: without and with numba's cache.

    python -m benchmarks.first_compile [--images 1000000] [--concepts 600] [--support 1000]

Images are drawn with a fixed seed, once, into benchmarks/data. For pairs and for cliques up to
size 3, a new process counts them with an empty cache of compiled code in a temporary folder, then
another one with what the first has left there; the difference is what compiling took.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import report
from benchmarks.generate import Shape, load

DATA = Path(__file__).parent / "data"
SIZES = (2, 3)
MOST_S = 3.0
_COUNT = """
import sys, time
from benchmarks.first_compile import DATA
from benchmarks.generate import Shape, load
from cobalance.counting.cliques import mine_cliques

images, concepts, size, support = map(int, sys.argv[1:])
incidence = load(Shape(images, concepts), DATA)
start = time.perf_counter()
mine_cliques(incidence, max_size=size, min_support=support, common=())
print(time.perf_counter() - start)
"""


def count_in_new_process(shape: Shape, size: int, support: int, cache: str) -> float:
    """Seconds that counting takes in a new process, with numba's cache in a folder."""
    numbers = map(str, (shape.images, shape.concepts, size, support))
    done = subprocess.run(
        [sys.executable, "-c", _COUNT, *numbers],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


def main() -> None:
    """Draw the images, count them, and print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--concepts", type=int, default=600)
    parser.add_argument("--support", type=int, default=1000)
    options = parser.parse_args()
    shape = Shape(options.images, options.concepts)
    load(shape, DATA)

    for size in SIZES:
        with tempfile.TemporaryDirectory() as cache:
            first = count_in_new_process(shape, size, options.support, cache)
            n_files = sum(1 for _ in Path(cache).rglob("*.nbi"))
            second = count_in_new_process(shape, size, options.support, cache)
        print(
            f"up to size {size}: {first:.2f} s with an empty cache, {second:.2f} s with the "
            f"{n_files} functions that it has then",
            flush=True,
        )
        report(f"first compile: cliques up to size {size}", first - second, "s", at_most=MOST_S)


if __name__ == "__main__":
    main()
