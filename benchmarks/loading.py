"""Load dense synthetic images into the graph, in turn with plain MERGE.

    python -m benchmarks.loading [--images 40000] [--concepts 80 600] [--mentions 4 8]

Each case is loaded both ways `--turns` times, on a server that both have warmed up; what comes
first in a turn comes last in the next, since the server still compiles. CPU seconds of client and
server together are printed beside the time, since other work on the machine lengthens the time
alone. Our side also writes the co-occurrence edges and checks the result; plain MERGE is
`benchmarks.ingest.load_plainly`.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from benchmarks.figures import report
from benchmarks.generate import Shape, generate
from benchmarks.ingest import drop_if_there, load_plainly
from cobalance.app.cli.shared.collector import collector_paused
from cobalance.base.records import ANNOTATION, Annotations, image_frame
from cobalance.counting.incidence import Incidence
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store

DATA = Path(__file__).parent / "data"
LOADED, PLAIN = "loading", "loading plain"


def dense_annotations(images: int, concepts: int, mentions: float, seed: int = 1) -> Annotations:
    """Draw images with about so many concepts each; the same arguments give the same images."""
    drawn = mentions * (1.1 if concepts >= 200 else 1.25)  # some are drawn twice
    shape = Shape(images, concepts, mean=drawn, dispersion=20.0, seed=seed)
    return annotations_of(generate(shape))


def annotations_of(incidence: Incidence) -> Annotations:
    """Name an incidence's images, as a reader would return them."""
    n_images, n_mentions = len(incidence.labels), len(incidence.indices)
    ids = [f"{row:012d}" for row in range(n_images)]
    columns = {
        "id": ids,
        "class_name": [incidence.classes[code] for code in incidence.labels.tolist()],
        "split": ["train"] * n_images,
        "uri": [f"images/{name}.jpg" for name in ids],
        "width_px": [640] * n_images,
        "height_px": [480] * n_images,
        "synthetic": [False] * n_images,
    }
    concept = pd.CategoricalDtype(pd.Index(incidence.concepts, dtype="str"))
    numbers = ("score", "area_px2", "x_px", "y_px", "w_px", "h_px")
    mentions = pd.DataFrame(
        {
            "image": np.repeat(np.arange(n_images), np.diff(incidence.indptr)),
            "concept": pd.Categorical.from_codes(incidence.indices, dtype=concept),
            "source": pd.Categorical.from_codes(
                np.zeros(n_mentions, dtype=np.int8), pd.Index([ANNOTATION], dtype="str")
            ),
            **{name: np.full(n_mentions, np.nan) for name in numbers},
            "segmentation": np.full(n_mentions, None, dtype=object),
        }
    )
    return Annotations(image_frame(columns), mentions)


class Stopwatch:
    """Seconds, and CPU seconds of this process and the server's."""

    def __init__(self, server: psutil.Process | None) -> None:
        self._processes = [psutil.Process(), *([server] if server else [])]

    def run(self, work: Callable[[], object]) -> tuple[float, list[float]]:
        """Time `work`: seconds, then CPU seconds of each process."""
        before, start = self._cpu(), time.perf_counter()
        work()
        elapsed = time.perf_counter() - start
        return elapsed, [now - then for now, then in zip(self._cpu(), before, strict=True)]

    def _cpu(self) -> list[float]:
        times = [process.cpu_times() for process in self._processes]
        return [each.user + each.system for each in times]


def compare_case(
    store: GraphStore, watch: Stopwatch, annotations: Annotations, turns: int
) -> float:
    """Load both ways, in turn; prints and returns how many times as fast as MERGE it is."""

    def ours() -> None:
        with collector_paused():
            write_annotations(store, LOADED, annotations, source="benchmark")

    def plain() -> None:
        with collector_paused():
            load_plainly(store, PLAIN, annotations)

    times_by_way: dict[str, list[tuple[float, list[float]]]] = {"ours": [], "plain": []}
    ways = [("ours", ours), ("plain", plain)]
    for _ in range(turns):
        for name, work in ways:
            times_by_way[name].append(watch.run(work))
            store.write("MERGE (:Dataset {name: $name})", name=PLAIN)
            drop_if_there(store, LOADED, PLAIN)
        ways.reverse()  # what comes first pays for what the server compiles

    seconds, cpu_seconds = dict.fromkeys(times_by_way, 0.0), dict.fromkeys(times_by_way, 0.0)
    for name, times in times_by_way.items():
        for elapsed, cpu in times:
            parts = " + ".join(f"{part:.2f}" for part in cpu)
            print(f"  {name:6} {elapsed:7.2f} s, CPU {sum(cpu):7.2f} s ({parts})", flush=True)
            seconds[name] += elapsed
            cpu_seconds[name] += sum(cpu)

    ratio = seconds["plain"] / seconds["ours"]
    cpu_ratio = cpu_seconds["plain"] / cpu_seconds["ours"]
    print(f"  {ratio:.2f} times as fast as plain MERGE; {cpu_ratio:.2f} by CPU seconds", flush=True)
    return ratio


def main() -> None:
    """Run all cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=40_000)
    parser.add_argument("--concepts", type=int, nargs="+", default=[80, 600])
    parser.add_argument("--mentions", type=float, nargs="+", default=[4.0, 8.0])
    parser.add_argument("--turns", type=int, default=2)
    options = parser.parse_args()
    settings = Settings.from_environment()
    with open_store(settings) as store:
        status = None if settings.neo4j_uri else local_server.status(settings.local_server())
        watch = Stopwatch(psutil.Process(status.pid) if status else None)
        drop_if_there(store, LOADED, PLAIN)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; warming up", flush=True)
        for _ in range(2):
            few = dense_annotations(5_000, 80, 4.0)
            write_annotations(store, LOADED, few, source="benchmark")
            load_plainly(store, PLAIN, few)
            store.write("MERGE (:Dataset {name: $name})", name=PLAIN)
            drop_if_there(store, LOADED, PLAIN)
        for concepts in options.concepts:
            for mentions in options.mentions:
                annotations = dense_annotations(options.images, concepts, mentions)
                each = len(annotations.mentions) / options.images
                case = f"{options.images:,} images, {concepts} concepts, {each:.1f} an image"
                print(case)
                ratio = compare_case(store, watch, annotations, options.turns)
                report(f"loading: times as fast as plain MERGE, {case}", ratio, at_least=2)


if __name__ == "__main__":
    main()
