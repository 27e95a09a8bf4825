"""Count Parquet files in memory, out of core and on Spark: seconds, peak memory of this process.

``python -m benchmarks.spark --images 2000000 --concepts 600 --size 3 --support 200``
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cobalance as cb
from benchmarks.figures import report
from benchmarks.generate import Shape, generate
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import Incidence
from cobalance.workflows.in_files.spark import spark_session
from tests.support.memory import peak_mb

_ROWS = 250_000

RUNS: dict[str, Literal["out-of-core", "spark"]] = {
    "out-of-core": "out-of-core",
    "spark, which starts its workers": "spark",
    "spark again": "spark",
}


def write(incidence: Incidence, folder: Path) -> None:
    """Write a Parquet file for each few images."""
    names = pa.array(incidence.concepts)
    for number, start in enumerate(range(0, len(incidence.labels), _ROWS)):
        end = min(start + _ROWS, len(incidence.labels))
        offsets = incidence.indptr[start : end + 1]
        codes = incidence.indices[offsets[0] : offsets[-1]]
        lists = pa.ListArray.from_arrays((offsets - offsets[0]).astype(np.int32), names.take(codes))
        labels = pa.array(incidence.classes).take(incidence.labels[start:end])
        table = pa.table({"label": labels, "concepts": lists})
        pq.write_table(table, folder / f"{number:04}.parquet")


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--concepts", type=int, default=80)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--support", type=int, default=50)
    parser.add_argument("--master", default="local[2]")
    asked = parser.parse_args()
    incidence = generate(Shape(asked.images, asked.concepts))
    options = {"max_size": asked.size, "min_support": asked.support, "common": ()}
    with tempfile.TemporaryDirectory() as name:
        write(incidence, Path(name))
        started = time.perf_counter()
        wanted = mine_cliques(incidence, **options, max_cliques=10**7)
        print(f"in memory: {len(wanted):,} cliques in {time.perf_counter() - started:.1f} s")
        del incidence

        # A session that runs already is used, so that its start is not counted; its workers start
        # with the first count.
        seconds_by_engine = {}
        with spark_session(asked.master):
            for title, engine in RUNS.items():
                started = time.perf_counter()
                found = cb.imbalances_in_files(
                    name, engine=engine, **options, max_cliques=10**7
                ).cliques
                seconds = time.perf_counter() - started
                seconds_by_engine[title] = seconds
                equal = (found.counts == wanted.counts).all() and found.names() == wanted.names()
                print(f"{title}, q-values included: {seconds:.1f} s, equal: {bool(equal)}")

        case = f"{asked.images:,} images, {asked.concepts} concepts, up to size {asked.size}"
        out_of_core = seconds_by_engine.pop("out-of-core")
        for title, seconds in seconds_by_engine.items():
            report(f"{title} / out of core, {case}", seconds / out_of_core, at_most=2)
        print(f"peak of this process: {peak_mb():,.0f} MB")


if __name__ == "__main__":
    main()
