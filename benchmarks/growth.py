"""Load millions of images from Parquet: time and memory of this process, then of real loads.

    python -m benchmarks.growth [--images 10000000] [--small 100000] [--written 100000 500000]

Each size is read and prepared in a process of its own, whose peak of memory is printed: everything
that `cobalance ingest` does is done but for the database, which takes the rows and drops them. The
sizes in ``--written`` are loaded into a database as well, each into an empty dataset. Files are
drawn anew in a temporary folder: six concepts an image out of 600, two classes, an id, a split, an
address and a size.
"""

import argparse
import gc
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.ingest import drop_if_there
from benchmarks.reading import read_any_size
from cobalance.app.cli.shared.allocator import avoid_huge_pages
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.statements import FINISH
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset import statements
from cobalance.workflows.load.dataset import load_dataset
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.support.memory import peak_mb

DATASET = "growth"
CONCEPTS, MENTIONS, STEP = 600, 6, 500_000


def write_parquet(path: Path, images: int, seed: int = 0) -> None:
    """Draw images step by step; frequent concepts are some hundred times as frequent as rare."""
    rng = np.random.default_rng(seed)
    names = pa.array([f"concept {code:03d}" for code in range(CONCEPTS)])
    share = 1 / np.arange(5, CONCEPTS + 5)
    cumulative = np.cumsum(share / share.sum())
    writer = None
    for first in range(0, images, STEP):
        n = min(STEP, images - first)
        codes = np.searchsorted(cumulative[:-1], rng.random(n * MENTIONS)).astype(np.int32)
        ids = pc.utf8_lpad(pc.cast(pa.array(np.arange(first, first + n)), pa.string()), 12, "0")
        labels = pa.array(rng.integers(0, 2, n, dtype=np.int8))
        rows = pa.table(
            {
                "image_id": ids,
                "label": pa.DictionaryArray.from_arrays(labels, pa.array(["indoors", "outdoors"])),
                "split": pa.repeat("train", n),
                "uri": pc.binary_join_element_wise("images/", ids, ".jpg", ""),
                "width": pa.repeat(640, n),
                "height": pa.repeat(480, n),
                "concepts": pa.ListArray.from_arrays(
                    np.arange(0, n * MENTIONS + 1, MENTIONS, dtype=np.int32),
                    pa.DictionaryArray.from_arrays(codes, names),
                ),
            }
        )
        writer = writer or pq.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    if writer:
        writer.close()


class NoDatabase:
    """Takes what is written to an empty dataset, and keeps only the number of images."""

    def __init__(self) -> None:
        self.images = 0
        self.read_as: dict[str, dict[str, Any]] = {}

    def read(self, text: Any, **parameters: Any) -> list[dict[str, Any]]:
        """Answer what loading asks."""
        if text is statements.DATASET:
            return [{"dataset": {"name": parameters["dataset"]}}]
        if text is statements.COUNT_IMAGES:
            return [{"images": self.images}]
        return []

    def stream(self, *_: Any, **__: Any) -> Iterator[dict[str, Any]]:
        """Nothing is stored."""
        return iter(())

    def write(self, text: Any, **parameters: Any) -> list[dict[str, Any]]:
        """Drop it."""
        return [{"name": parameters["dataset"]}] if text is FINISH else []

    write_in_batches = write

    def write_all(self, text: Any, expected: int, **_: Any) -> None:
        """Drop rows, and count those of images."""
        if "CREATE (n:Image " in str(text):
            self.images += expected


def load(path: Path, with_database: bool) -> tuple[float, float, float, float]:
    """Read and load: seconds of reading and of loading, CPU seconds, peak MB of this process."""
    start = time.perf_counter()
    annotations = read_any_size(path)
    read = time.perf_counter()
    settings = Settings.from_environment()
    opened = open_store(settings) if with_database else nullcontext(cast(GraphStore, NoDatabase()))
    gc.freeze()
    with opened as store:
        # regions and captions, of which there are none, would be beside the file
        beside = settings.model_copy(update={"cobalance_home": path.parent})
        load_dataset(store, beside.folders(), DATASET, annotations, source="benchmark")
    times = psutil.Process().cpu_times()
    return read - start, time.perf_counter() - read, times.user + times.system, peak_mb()


def measure(folder: Path, images: int, with_database: bool) -> None:
    """Load one size in a process of its own, and print it."""
    path = folder / f"{images}.parquet"
    if not path.exists():
        write_parquet(path, images)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        read, loaded, cpu, peak = pool.apply(load, (path, with_database))
    print(
        f"{images:>11,} images {'into Neo4j' if with_database else 'prepared  '} "
        f"read {read:7.1f} s, load {loaded:7.1f} s, CPU {cpu:7.1f} s, "
        f"{images / (read + loaded):8,.0f} images/s, peak {peak:6,.0f} MB",
        flush=True,
    )


def main() -> None:
    """Draw the files, load them, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10_000_000)
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--written", type=int, nargs="*", default=[100_000, 500_000])
    options = parser.parse_args()
    avoid_huge_pages()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for images in (options.small, options.images):
            measure(folder, images, with_database=False)
        if not options.written:
            return
        settings = Settings.from_environment()
        with open_store(settings) as store:
            for images in options.written:
                drop_if_there(store, DATASET)
                measure(folder, images, with_database=True)
            drop_if_there(store, DATASET)
        if settings.neo4j_uri is None and local_server.status(settings.local_server()):
            print("the local server goes on running: cobalance server stop")


if __name__ == "__main__":
    main()
