"""A million dense images from a table to cliques: time, memory, and what the pages read then.

    python -m benchmarks.scale [--images 1000000] [--concepts 600] [--mentions 7.6] [--support 120]
    python -m benchmarks.scale --images 2000000 --support 200 --sample 12

The table is read and loaded in a process of its own, whose peak of memory is printed. CPU seconds
of both sides are printed beside the time, since other work on the machine lengthens the time alone.
"""

import argparse
import gc
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import report
from benchmarks.generate import Shape, generate
from benchmarks.ingest import drop_if_there
from benchmarks.loading import Stopwatch
from cobalance.app.cli.shared.collector import collector_paused
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.cliques import clique_totals, load_cliques
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.sampled import write_sampled
from cobalance.graph.dataset.state import Sample
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.clique_images import read_clique_images
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.support.memory import peak_mb

DATA = Path(__file__).parent / "data"
DATASET = "scale"
IMAGES = 1_000_000
REPEATS = 40
ROWS = 100_000  # written at once
LIMITS = ReadOptions(max_rows=10**8, max_mentions=10**9, max_table_mb=10**5)


def write_table(path: Path, shape: Shape) -> None:
    """Write a Parquet file of a row an image; every 97th image shows no concept."""
    incidence = generate(shape)
    bounds, labels = incidence.indptr.tolist(), incidence.labels.tolist()
    names = np.array(incidence.concepts, dtype=object)[incidence.indices]
    columns = ("image_id", "label", "split", "uri", "concepts")
    schema = pa.schema([(name, pa.string()) for name in columns])
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, len(labels), ROWS):
            rows = range(start, min(start + ROWS, len(labels)))
            table = {
                "image_id": [f"{row:012d}" for row in rows],
                "label": [incidence.classes[labels[row]] for row in rows],
                "split": ["train"] * len(rows),
                "uri": [f"images/{row:012d}.jpg" for row in rows],
                "concepts": [
                    "|".join(names[bounds[row] : bounds[row + 1]]) if row % 97 else ""
                    for row in rows
                ],
            }
            file.write_table(pa.table(table, schema))


def ingest(path: Path, sample: int | None) -> tuple[float, float]:
    """Read and load as the command does; gives this process's CPU seconds and peak in MB."""
    with collector_paused():
        annotations = read_annotations(path, LIMITS)
    gc.freeze()
    with open_store(Settings.from_environment()) as store:
        if sample is None:
            write_annotations(store, DATASET, annotations, source="benchmark")
        else:
            write_sampled(store, DATASET, annotations, Sample(sample), source="benchmark")
    times = psutil.Process().cpu_times()
    return times.user + times.system, peak_mb()


def mine(store: GraphStore, support: int) -> None:
    """Mine up to size 3, and print when each stage began."""
    begun: dict[str, float] = {}

    def stage_begins(stage: str, *_: object) -> None:
        begun.setdefault(stage, time.perf_counter())

    report = mine_dataset(
        store,
        DATASET,
        MiningOptions(3, min_support=support),
        max_cliques=10**6,
        progress=stage_begins,
    )
    ends = [*list(begun.values())[1:], time.perf_counter()]
    for (stage, start), end in zip(begun.items(), ends, strict=True):
        print(f"    {stage}: {end - start:.2f} s")
    print(f"    {sum(report.by_size.values()):,} cliques")


def print_p95(what: str, reads: Sequence[Callable[[], object]]) -> None:
    """Run each read once, after as many to warm up."""
    taken = []
    for read in [*reads, *reads]:
        start = time.perf_counter()
        read()
        taken.append(1000 * (time.perf_counter() - start))
    later = taken[len(reads) :]
    print(f"  {what:44} p50 {np.median(later):6.1f}, p95 {np.percentile(later, 95):6.1f} ms")


def read(store: GraphStore, *, sampled: bool) -> None:
    """Time what the pages read: totals, the list of datasets, images behind counts."""
    cliques = load_cliques(store, DATASET)
    frequent = [
        row["concept"]
        for row in store.read(CATALOGUE["concepts"].text, dataset=DATASET, limit=REPEATS)
    ]
    some = np.random.default_rng(3).integers(0, len(cliques), REPEATS)
    without = CATALOGUE["images-without-concepts"].text
    print_p95("totals", [lambda: clique_totals(store, DATASET)] * REPEATS)
    print_p95("list of datasets", [lambda: store.read(statements.DATASETS)] * REPEATS)
    print_p95("images without concepts", [lambda: store.read(without, dataset=DATASET)] * REPEATS)
    for what, asked in (
        ("images of a frequent concept", [(name,) for name in frequent]),
        ("images of two frequent concepts", list(pairwise(frequent))),
        ("images of any clique", cliques.take(some).names()),
    ):
        for query in (read_clique_images,) if sampled else (read_clique_images, by_query):
            print_p95(
                what + ("" if query is read_clique_images else ", by Cypher"),
                [
                    partial(query, store, DATASET, names, cliques.classes[at % 2])
                    for at, names in enumerate(asked)
                ],
            )


def by_query(store: GraphStore, dataset: str, concepts: Sequence[str], class_name: str) -> object:
    """Ask the catalogue's query, which serves datasets without packed lists."""
    query = CATALOGUE["images-of-clique"]
    given = {"dataset": dataset, "concepts": list(concepts), "class": class_name}
    return store.read(query.text, **query.bind(given))


def main() -> None:
    """Write the table, load, mine, read, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=IMAGES)
    parser.add_argument("--concepts", type=int, default=600)
    parser.add_argument("--mentions", type=float, default=7.6)
    parser.add_argument("--support", type=int, default=120)
    parser.add_argument("--sample", type=int, help="images of each clique and class to keep")
    parser.add_argument("--keep", action="store_true", help="leave the dataset in the store")
    options = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    path = DATA / f"scale-{options.images}-{options.concepts}-{options.mentions:g}.parquet"
    if not path.exists():
        write_table(
            path,
            Shape(options.images, options.concepts, mean=1.1 * options.mentions, dispersion=20),
        )
    settings = Settings.from_environment()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {path.name}", flush=True)
    with open_store(settings) as store:
        status = None if settings.neo4j_uri else local_server.status(settings.local_server())
        watch = Stopwatch(psutil.Process(status.pid) if status else None)
        drop_if_there(store, DATASET)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            child: list[tuple[float, float]] = []
            seconds, cpu = watch.run(
                lambda: child.append(pool.apply(ingest, (path, options.sample)))
            )
        print(
            f"  ingest {seconds:.1f} s, CPU {child[0][0]:.1f} + {sum(cpu[1:]):.1f} s, "
            f"peak memory {child[0][1]:,.0f} MB",
            flush=True,
        )
        if options.images == IMAGES and options.sample is None:
            what = f"to read and load {IMAGES:,} images"
            report(f"scale: seconds {what}", seconds, "s", at_most=80)
            report(f"scale: memory {what}", child[0][1], "MB", at_most=1000)
        taken, cpu = watch.run(lambda: mine(store, options.support))
        print(
            f"  mine {taken:.1f} s, CPU {' + '.join(f'{part:.1f}' for part in cpu)} s", flush=True
        )
        read(store, sampled=options.sample is not None)
        print(f"load at the end {os.getloadavg()[0]:.1f}")
        if not options.keep:
            drop_if_there(store, DATASET)


if __name__ == "__main__":
    main()
