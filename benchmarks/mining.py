"""Our clique miner against the quickest way to the same answer with PyFIM's C miners.

    python -m benchmarks.mining [--shapes small large] [--sizes 3 4] [--supports 3 32 200 1000]
    python -m benchmarks.mining --engines
    python -m benchmarks.mining --compared

Everything runs in one process, on data drawn with a fixed seed (once, into benchmarks/data). The
answer is the joint count in every class of every clique whose largest per-class count is the
support or more; ours and PyFIM's are compared. Figures are the best of a few runs: seconds of wall
time, and of CPU time in all threads of the process, which a busy machine distorts less.

PyFIM (https://borgelt.net/pyfim.html) counts sets in one list of transactions, so the classes take
some care. Each of these ways is tried with three of its miners, and the quickest in CPU time taken:

- ``items``: one run over all images with the class as one more item, which finds each clique alone
  and with each class that reaches the support;
- ``runs``: one run a class and one over all images;
- ``recount``: one run a class; what is below the support is counted with NumPy bitmaps.

The first two know a count below the support as what is left of the total, which needs two classes.
PyFIM's transactions are lists prepared beforehand, and its answer is a dict in no order: neither
the preparation nor a conversion to arrays is counted. Ours starts from the incidence, and gives
arrays in order. ``--engines`` measures what `cobalance.counting.engines.choice.choose_engine`
goes by.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import comb, inf
from pathlib import Path
from typing import Any

import fim
import numpy as np

from benchmarks.figures import report
from benchmarks.generate import Shape, load
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import Incidence
from cobalance.counting.one_against_rest import mine_one_against_rest

DATA = Path(__file__).parent / "data"
SHAPES = {
    "demo": Shape(8_000, 18),
    "small": Shape(32_582, 80),
    "medium": Shape(250_000, 80),
    "large": Shape(2_000_000, 600, mean=9.2, dispersion=3.0, topics=40, seed=3),
}
SUPPORTS = {"demo": [1], "small": [1, 3, 32], "medium": [25], "large": [200, 2000]}

Clique = tuple[int, ...]
Answer = dict[Clique, list[int]]  # joint count in either class; -1 while unknown
Miner = Callable[..., Iterable[tuple[Clique, int]]]

MINERS: dict[str, Miner] = {
    "eclat": partial(fim.eclat, algo="o"),
    "fpgrowth": partial(fim.fpgrowth, algo="d"),
    "apriori": fim.apriori,
}


@dataclass(frozen=True)
class Transactions:
    """An incidence of two classes as PyFIM reads it."""

    incidence: Incidence
    images: list[Clique]
    with_class: list[Clique]  # the class is an item behind the concepts
    by_class: list[list[Clique]]

    @classmethod
    def of(cls, incidence: Incidence) -> "Transactions":
        """Prepare the lists."""
        codes, labels = incidence.indices.tolist(), incidence.labels.tolist()
        images = [tuple(codes[a:b]) for a, b in pairwise(incidence.indptr.tolist())]
        n_concepts = len(incidence.concepts)
        labelled = list(zip(images, labels, strict=True))
        return cls(
            incidence,
            images,
            [(*image, n_concepts + label) for image, label in labelled],
            [[image for image, its in labelled if its == label] for label in (0, 1)],
        )


def items(data: Transactions, miner: Miner, support: int, size: int) -> Answer:
    """Mine once, with the class as an item."""
    first_class = len(data.incidence.concepts)
    totals: dict[Clique, int] = {}
    answer: Answer = {}
    for clique, count in miner(data.with_class, supp=-support, zmin=1, zmax=size + 1):
        label = max(clique) - first_class
        concepts = tuple(sorted(clique))
        if label >= 0 and len(clique) > 1:
            answer.setdefault(concepts[:-1], [-1, -1])[label] = count
        elif label < 0 and len(clique) <= size:
            totals[concepts] = count
    for clique, counts in answer.items():
        complete(counts, totals[clique])
    return answer


def runs(data: Transactions, miner: Miner, support: int, size: int) -> Answer:
    """Mine each class, then all images."""
    answer = class_by_class(data, miner, support, size)
    for clique, count in miner(data.images, supp=-support, zmin=1, zmax=size):
        counts = answer.get(tuple(sorted(clique)))
        if counts is not None:
            complete(counts, count)
    return answer


def recount(data: Transactions, miner: Miner, support: int, size: int) -> Answer:
    """Mine each class; count with bitmaps what is below the support in the other."""
    answer = class_by_class(data, miner, support, size)
    for label in (0, 1):
        bitmaps = bitmaps_of(data.incidence, label)
        shared = bitmaps[0]
        behind: Clique = ()
        for clique in sorted(clique for clique, counts in answer.items() if counts[label] < 0):
            if clique[:-1] != behind:
                behind = clique[:-1]
                shared = np.bitwise_and.reduce(bitmaps[list(behind)], axis=0)
            both = shared & bitmaps[clique[-1]] if behind else bitmaps[clique[-1]]
            answer[clique][label] = int(np.bitwise_count(both).sum())
    return answer


def class_by_class(data: Transactions, miner: Miner, support: int, size: int) -> Answer:
    """Mine each class alone."""
    answer: Answer = {}
    for label, images in enumerate(data.by_class):
        for clique, count in miner(images, supp=-support, zmin=1, zmax=size):
            answer.setdefault(tuple(sorted(clique)), [-1, -1])[label] = count
    return answer


def complete(counts: list[int], total: int) -> None:
    """Fill in the count that is not known yet."""
    if counts[0] < 0:
        counts[0] = total - counts[1]
    elif counts[1] < 0:
        counts[1] = total - counts[0]


def bitmaps_of(incidence: Incidence, label: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Give one bit an image of the class for each concept."""
    place = np.cumsum(incidence.labels == label) - 1
    image = np.repeat(np.arange(len(place)), np.diff(incidence.indptr))
    here = incidence.labels[image] == label
    width = -(-int(place[-1] + 1) // 64) * 64
    dense = np.zeros((len(incidence.concepts), width), dtype=np.bool_)
    dense[incidence.indices[here], place[image[here]]] = True
    return np.packbits(dense, axis=1, bitorder="little").view(np.uint64)


WAYS = {"items": items, "runs": runs, "recount": recount}


@dataclass(frozen=True)
class Timing:
    """The best of some runs, in seconds, and what the last one returned."""

    wall_s: float
    cpu_s: float
    result: Any

    @classmethod
    def of(cls, function: Callable[[], Any], repeats: int) -> "Timing":
        """Call a function several times."""
        wall = cpu = inf
        result = None
        for _ in range(repeats):
            result = None  # not two results in memory
            wall_from, cpu_from = time.perf_counter(), time.process_time()
            result = function()
            wall = min(wall, time.perf_counter() - wall_from)
            cpu = min(cpu, time.process_time() - cpu_from)
        return cls(wall, cpu, result)


def same(cliques: Cliques, answer: Answer) -> bool:
    """Compare our answer with PyFIM's, clique by clique."""
    return len(cliques) == len(answer) and all(
        answer.get(tuple(row[:size])) == counts
        for row, size, counts in zip(
            cliques.members.tolist(), cliques.sizes().tolist(), cliques.counts.tolist(), strict=True
        )
    )


def compare(shapes: list[str], sizes: list[int], supports: list[int] | None) -> bool:
    """Print one block of lines for each question; say whether all answers were equal."""
    equal = True
    for name in shapes:
        incidence = load(SHAPES[name], DATA)
        data = Transactions.of(incidence)
        images, concepts = len(incidence.labels), len(incidence.concepts)
        print(f"\n{images:,} images x {concepts} concepts, {len(incidence.indices):,} entries")
        repeats = 1 if images > 1_000_000 else 5
        for size, support in ((k, s) for k in sizes for s in supports or SUPPORTS[name]):
            mine = partial(mine_cliques, incidence, max_size=size, min_support=support, common=())
            start = Timing.of(partial(mine, engine="numba"), 1)
            ours = {
                threads: Timing.of(partial(mine, engine="numba", threads=threads), repeats + 2)
                for threads in (1, 2)
            }
            chosen = Timing.of(mine, repeats)
            theirs = {
                f"{miner} {way}": Timing.of(
                    partial(WAYS[way], data, MINERS[miner], support, size), repeats
                )
                for way in WAYS
                for miner in MINERS
            }
            quickest = min(theirs, key=lambda way: theirs[way].cpu_s)
            agree = all(same(chosen.result, timing.result) for timing in theirs.values())
            equal &= agree
            print(
                f"size <= {size}, support >= {support}: {len(chosen.result):,} cliques; "
                f"answers {'equal' if agree else 'DIFFER'}"
            )
            line("ours, as chosen", chosen, theirs[quickest])
            case = f"{images:,} images, {concepts} concepts, size <= {size}, support >= {support}"
            ratio = theirs[quickest].wall_s / chosen.wall_s
            report(f"mining: times as fast as PyFIM, {case}", ratio, at_least=10)
            for threads, timing in ours.items():
                line(f"ours, numba, {threads} thread(s)", timing, theirs[quickest])
            line("ours, numba, first call of the process", start, None)
            for way, timing in sorted(theirs.items(), key=lambda entry: entry[1].cpu_s):
                line(f"PyFIM {way}{' (quickest)' if way == quickest else ''}", timing, None)
    return equal


def line(what: str, timing: Timing, other: Timing | None) -> None:
    """Print one measurement, and how many times as long the other one took."""
    print(f"  {what:42s} wall {timing.wall_s:8.4f} s   CPU {timing.cpu_s:8.4f} s", end="")
    if other is not None:
        wall, cpu = other.wall_s / timing.wall_s, other.cpu_s / timing.cpu_s
        print(f"   PyFIM takes {wall:.1f}x wall, {cpu:.1f}x CPU", end="")
    print(flush=True)


def compare_engines() -> None:
    """Print what each path takes in a new process and once it is ready."""
    print("shape    size  support  occurrences    NumPy s  numba in a new process s  numba ready s")
    for name in ("demo", "small", "medium", "large"):
        lengths = np.bincount(np.diff(load(SHAPES[name], DATA).indptr)).tolist()
        for size in (3, 4):
            occurrences = sum(
                images * comb(length, k)
                for length, images in enumerate(lengths)
                for k in range(2, size + 1)
            )
            support = SUPPORTS[name][0]
            taken = {path: in_new_process(name, size, support, path) for path in ("numpy", "numba")}
            print(
                f"{name:8s} {size:4d} {support:8d} {occurrences:12,d} {taken['numpy'][0]:10.3f} "
                f"{taken['numba'][0]:25.3f} {taken['numba'][1]:14.3f}",
                flush=True,
            )


def in_new_process(name: str, size: int, support: int, path: str) -> tuple[float, float]:
    """Give the seconds that the first and the second call take."""
    script = (
        "import json, time\n"
        "from benchmarks.generate import load\n"
        "from benchmarks.mining import DATA, SHAPES\n"
        "from cobalance.counting.cliques import mine_cliques\n"
        f"incidence = load(SHAPES[{name!r}], DATA)\n"
        "taken = []\n"
        "for _ in range(2):\n"
        "    start = time.perf_counter()\n"
        f"    mine_cliques(incidence, max_size={size}, min_support={support}, path={path!r})\n"
        "    taken.append(time.perf_counter() - start)\n"
        "print(json.dumps(taken))\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second = json.loads(done.stdout)
    return first, second


def compare_by_all_concepts() -> None:
    """Print what counting all concepts as classes takes, beside two of them."""
    incidence = load(SHAPES["small"], DATA)
    for size in (3, 4):
        for engine in ("numpy", "numba"):
            taken = []
            for names in (incidence.concepts[:2], incidence.concepts):
                counted = partial(
                    mine_one_against_rest, incidence, names, max_size=size, engine=engine
                )
                counted()
                starts = [(time.process_time(), counted())[0] for _ in range(5)]
                ends = [*starts[1:], time.process_time()]
                taken.append(min(end - start for start, end in zip(starts, ends, strict=True)))
            print(
                f"{engine}, size {size}: two concepts {taken[0]:.3f} s of CPU, all "
                f"{len(incidence.concepts)} {taken[1]:.3f} s, {taken[1] / taken[0]:.1f} times",
                flush=True,
            )


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["small", "large"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[3, 4])
    parser.add_argument("--supports", nargs="+", type=int, help="instead of those of each shape")
    parser.add_argument("--engines", action="store_true", help="compare NumPy with numba instead")
    parser.add_argument("--compared", action="store_true", help="concepts as classes instead")
    options = parser.parse_args()
    if options.compared:
        compare_by_all_concepts()
        return 0
    if options.engines:
        compare_engines()
        return 0
    return 0 if compare(options.shapes, options.sizes, options.supports) else 1


if __name__ == "__main__":
    sys.exit(main())
