"""A small read on the console, beside the same read by the driver alone.

    python -m benchmarks.console [--images 20000] [--reads 300]

Images drawn from a seed (`benchmarks.generate`) are loaded into a local server of the benchmark's
own, which is gone afterwards. One image is read by its key again and again, in turns by the store's
driver and by the console with all of its guards. Figures are wall time of a read, in ms.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.figures import report
from benchmarks.generate import Shape, generate
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.incidence import Incidence
from cobalance.graph.console import run_console_query
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store

DATASET = "benchmark"
QUERY = "MATCH (i:Image {dataset: $dataset, id: $id}) RETURN i.id AS id, i.split AS split"


def annotations_of(incidence: Incidence) -> Annotations:
    """Images, classes and concepts of an incidence as records."""
    records = []
    for image, (start, end) in enumerate(
        zip(incidence.indptr[:-1], incidence.indptr[1:], strict=True)
    ):
        mentions = tuple(Mention(incidence.concepts[code]) for code in incidence.indices[start:end])
        records.append(
            ImageRecord(f"{image}", incidence.classes[incidence.labels[image]], mentions)
        )
    return Annotations.from_records(records)


def time_ms(read: Callable[[], object]) -> float:
    """Milliseconds that a read takes."""
    started = time.perf_counter()
    read()
    return 1000 * (time.perf_counter() - started)


def compare(own: Settings, n_images: int, n_reads: int) -> None:
    """Load the images, read one in turns, and print what a read takes."""
    parameters = {"dataset": DATASET, "id": "0"}
    with open_store(own) as store:
        images = annotations_of(generate(Shape(n_images, 80)))
        write_annotations(store, DATASET, images, source="benchmark")

        def by_driver() -> object:
            return store.read(QUERY, **parameters)

        def by_console() -> object:
            return run_console_query(store.console_drivers, store.database, QUERY, parameters)

        # The first reads are planned by the server.
        times = np.array([[time_ms(by_driver), time_ms(by_console)] for _ in range(n_reads)])[20:]

    for name, of_reads in zip(("driver", "console"), times.T, strict=True):
        quartile, median = np.quantile(of_reads, [0.25, 0.5])
        print(f"{name:8s} best quarter {quartile:6.2f} ms, median {median:6.2f} ms")
    driver_ms, console_ms = np.quantile(times, 0.25, axis=0)
    ratio = console_ms / driver_ms
    print(f"console / driver: {ratio:.2f}")
    report("console: a read by the console / by the driver", ratio, at_most=1.5)


def main() -> None:
    """Read the options, and compare on a server of its own."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--reads", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cobalance-console-") as place:
        update = {"cobalance_home": Path(place), "neo4j_uri": None}
        own = Settings.from_environment().model_copy(update=update)
        try:
            compare(own, options.images, options.reads)
        finally:
            local_server.stop(own.local_server())


if __name__ == "__main__":
    main()
