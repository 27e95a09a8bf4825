"""What choosing the best of many candidates costs: in time, in the graph, and in files.

    python -m benchmarks.best_of [--sources 1000] [--groups 2] [--best-of 30] [--round 16384]

Each source is edited into each group, `best-of` candidates each, once with the losers kept and
once without. The backend is a stub that gives noise of 64 by 64 pixels and sleeps `ms` for each
image, as a process does that waits for a GPU; the filter is the real `same_colours`. A bare loop
that calls the stub alone, chunk after chunk, is what the worker's time is compared with. The
store's size is that of its files once the server has stopped, without the transaction logs, which
Neo4j cuts by itself.

Everything is in folders and servers of its own, which are gone afterwards.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from cobalance.base.plugins import Plugin
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.generation.backends.backend import ImageOptions
from cobalance.generation.image_request import GeneratedImage, ImageRequest, seed_of
from cobalance.generation.jobs import rounds
from cobalance.generation.jobs.chunks import candidate_id
from cobalance.generation.jobs.settlement import Settler
from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from cobalance.workflows.work.run import worker_resources

DATASET = "benchmark"
CHUNK = 16
SIDE_PX = 64


class StubOptions(ImageOptions):
    """Options of the stub: none of its own."""


PLUGIN = Plugin("procedural", "Gives noise.", "worker", StubOptions)
"""The stub takes the place of the backend `procedural` in this process."""

SLEEP_S = [0.0]


class StubBackend:
    """Gives noise, and sleeps for each image."""

    needs_source = True

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Noise of each request's seed."""
        time.sleep(SLEEP_S[0] * len(requests))
        return [
            GeneratedImage(
                np.random.default_rng(request.seed).integers(
                    0, 255, (SIDE_PX, SIDE_PX, 3), dtype=np.uint8
                )
            )
            for request in requests
        ]

    def describe(self) -> Mapping[str, Any]:
        """What it is."""
        return {"backend": "stub", "digital_source_type": "test"}


def open_backend(_options: StubOptions) -> StubBackend:
    """Open the stub."""
    return StubBackend()


def write_sources(folder: Path, number: int) -> Annotations:
    """Write noise as sources, each of the first group, with a mask each in the folder masks."""
    (folder / "masks").mkdir(parents=True)
    mask = Image.new("1", (SIDE_PX, SIDE_PX))
    mask.paste(1, (16, 16, 48, 48))
    records = []
    for i in range(number):
        pixels = np.random.default_rng([7, i]).integers(0, 255, (SIDE_PX, SIDE_PX, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.png")
        mask.save(folder / "masks" / f"{i}.png")
        records.append(ImageRecord(f"{i}", "group 0", (Mention("bench"),), uri=f"{i}.png"))
    return Annotations.from_records(records)


def run_bare(job: str, queries: int, best_of: int) -> float:
    """Make all candidates and nothing else; gives the seconds."""
    items = [(query, index) for query in range(queries) for index in range(best_of)]
    backend = StubBackend()
    started = time.perf_counter()
    for at in range(0, len(items), CHUNK):
        backend.generate(
            [
                ImageRequest(candidate_id(job, *item), "group 0", (), "", seed_of(job, *item))
                for item in items[at : at + CHUNK]
            ]
        )
    return time.perf_counter() - started


def timed(work: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """A function that notes how long each call takes."""

    def run(*values: Any, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return work(*values, **options)
        finally:
            seconds.append(time.perf_counter() - started)

    return run


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def store_size(own: Settings) -> int:
    """Bytes of the database's files, of which the server writes all as it stops."""
    local_server.stop(own.local_server())
    (folder,) = (found for found in own.cobalance_home.rglob("databases/neo4j") if found.is_dir())
    return size_of(folder)


def order(own: Settings, annotations: Annotations, queries: list[PlannedQuery], job: Any) -> str:
    """Load the sources and order the job."""
    with open_store(own) as store:
        write_annotations(store, DATASET, annotations, source="benchmark")
        return create_job(store, DATASET, "plan", queries, settings=job)


def nodes_of(store: GraphStore) -> int:
    """All nodes."""
    count: int = store.read("MATCH (n) RETURN count(n) AS n")[0]["n"]
    return count


def measure(
    own: Settings, annotations: Annotations, groups: int, best_of: int, keep: bool, bare: float
) -> None:
    """Make a job and print what it took, beside the seconds of the bare loop."""
    output = Path(own.folders().output)
    queries = [
        PlannedQuery(f"group {group}", ("bench",), 1, Edit(f"{source}"))
        for source in range(len(annotations.images))
        for group in range(groups)
    ]
    settings = {
        "filters": {"same_colours": {}},
        "masks": {
            "masks": "files",
            "mask_folder": str(Path(own.folders().image_roots()[0]) / "masks"),
        },
        "rank_by": {"same_colours": 1.0},
        "best_of": best_of,
        "keep_losers": keep,
        "chunk_size": CHUNK,
    }
    job = order(own, annotations, queries, settings)
    before = store_size(own)
    with open_store(own) as store:
        n_before = nodes_of(store)
        seconds: list[float] = []
        settle = Settler.settle
        Settler.settle = timed(settle, seconds)  # type: ignore[method-assign]
        started = time.perf_counter()
        try:
            options = WorkerOptions(f"sqlite:///{output}.sqlite", until_idle=True)
            Worker(worker_resources(own), options).run()
        finally:
            Settler.settle = settle  # type: ignore[method-assign]
        elapsed = time.perf_counter() - started
        found = read_job(store, job)
        nodes = nodes_of(store) - n_before
    made = len(queries) * best_of
    reasons = {row["reason"] for row in read_records(OutputFolder(str(output)), job)}
    assert (found.state, found.accepted, found.made) == ("done", len(queries), made), reasons
    growth = store_size(own) - before
    folder = OutputFolder(own.folders().output)
    files = {part: size_of(output / job / part) for part in ("images", "chunks", "settled")}
    files["manifest"] = (output / job / "manifest.parquet").stat().st_size
    print(
        f"  {'losers kept' if keep else 'losers dropped'}: {made:,} candidates of "
        f"{len(queries):,} queries in {elapsed:.0f} s, {made / elapsed:.0f}/s, "
        f"{1000 * elapsed / made:.1f} ms each; the bare loop {bare:.1f} s, ratio "
        f"{bare / elapsed:.3f}\n"
        f"    settling: {sum(seconds):.1f} s, {1000 * sum(seconds) / len(queries):.1f} ms a query, "
        f"{sum(seconds) / elapsed:.1%} of the time\n"
        f"    graph: {growth / 1e6:+.1f} MB, {growth / made:.0f} bytes a candidate, "
        f"{growth / len(queries):,.0f} a query; {nodes:+,} nodes\n"
        "    files: "
        + ", ".join(f"{name} {size / made:,.0f} bytes a candidate" for name, size in files.items())
        + f"; {len(folder.names(f'{job}/images')):,} images",
        flush=True,
    )


def main() -> None:
    """Run both measurements and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--best-of", type=int, default=30)
    parser.add_argument("--round", type=int, default=rounds.MAX_ROUND, help="candidates at most")
    parser.add_argument("--ms", type=float, default=0, help="that the stub sleeps for an image")
    arguments = parser.parse_args()
    rounds.MAX_ROUND = arguments.round
    SLEEP_S[0] = arguments.ms / 1000
    sys.modules["cobalance.generation.backends.procedural"] = sys.modules[__name__]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {arguments.ms:g} ms an image")
    print(f"  rounds of {arguments.round:,} candidates at most")
    with tempfile.TemporaryDirectory(prefix="cobalance-best-of-") as place:
        annotations = write_sources(Path(place) / "sources", arguments.sources)
        queries = arguments.sources * arguments.groups
        bare = run_bare("bare", queries, arguments.best_of)
        print(f"  the bare loop: {bare:.1f} s; each job takes longer", flush=True)
        for keep in (True, False):
            folder = Path(place) / str(keep)
            own = Settings.from_environment().model_copy(
                update={
                    "cobalance_output": str(folder / "generated"),
                    "cobalance_images": (str(Path(place) / "sources"),),
                    "cobalance_home": folder / "home",
                    "neo4j_uri": None,
                }
            )
            try:
                measure(own, annotations, arguments.groups, arguments.best_of, keep, bare)
            finally:
                local_server.stop(own.local_server())


if __name__ == "__main__":
    main()
