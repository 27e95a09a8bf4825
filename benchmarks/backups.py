"""Back up and restore a large dataset: seconds, megabytes, and three dumps that must be equal.

    python -m benchmarks.backups [--images 200000] [--concepts 80]

It starts two local servers of its own in a temporary folder. Images are drawn with a fixed seed and
have five concepts each, half of them with a box. Seconds are of wall time. The dumps are read by
Cypher of its own: original, restored elsewhere, and restored from a backup of that.
"""

import argparse
import hashlib
import json
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.local import server_control
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.workflows.backup.store_backup import back_up, restore
from cobalance.workflows.load.dataset import drop_dataset, load_dataset
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.support.memory import peak_mb

NAME = "large"

Given = ParamSpec("Given")
Result = TypeVar("Result")


def annotations(images: int, concepts: int) -> Annotations:
    """Images of two classes with some concepts and boxes."""
    rng = np.random.default_rng(0)
    shown = rng.integers(0, concepts, (images, 5))
    records = []
    for at in range(images):
        mentions = [
            Mention(f"concept {code}", box=(1.0, 2.0, 30.0, 40.0) if at % 2 else None)
            for code in dict.fromkeys(shown[at].tolist())
        ]
        uri = f"folder/{at:08d}.jpg"
        records.append(ImageRecord(f"{at:08d}", "ab"[at % 2], tuple(mentions), "train", uri))
    return Annotations.from_records(records)


def dump(store: GraphStore) -> str:
    """SHA-256 of all nodes and edges, whatever their order."""
    total = 0
    for text in (
        "MATCH (n) WHERE NOT n:Worker AND NOT n:Migration "
        "RETURN labels(n) AS l, properties(n) AS p",
        "MATCH (a)-[e]->(b) "
        "RETURN labels(a) AS la, coalesce(a.id, a.name, a.key, a.concepts) AS a, "
        "type(e) AS t, properties(e) AS e, labels(b) AS lb, "
        "coalesce(b.id, b.name, b.key, b.concepts) AS b",
    ):
        for row in store.stream(text):
            line = json.dumps(row, sort_keys=True, default=str).encode()
            total += int.from_bytes(hashlib.sha256(line).digest()[:16], "big")
    return f"{total % 2**128:032x}"


def longest_wait(store: GraphStore, stop: threading.Event, waits: list[float]) -> None:
    """How long a write to the dataset waits at most, which other writes do, too."""
    while not stop.wait(0.05):
        began = time.perf_counter()
        store.write(UPDATE_DATASET, dataset=NAME, values={"source": "a benchmark"})
        waits.append(time.perf_counter() - began)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=200_000)
    parser.add_argument("--concepts", type=int, default=80)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        homes = [Path(place) / "one", Path(place) / "two"]
        one, two = (
            Settings.from_environment().model_copy(
                update={"neo4j_uri": None, "cobalance_home": home, "cobalance_output": None}
            )
            for home in homes
        )
        try:
            measure(given, one, two, Path(place) / "backup.zip", Path(place) / "again.zip")
        finally:
            for settings in (one, two):
                server_control.stop(settings.local_server())


def timed(
    what: str, work: Callable[Given, Result], *arguments: Given.args, **options: Given.kwargs
) -> Result:
    """Do something, and print the seconds that it took."""
    began = time.perf_counter()
    result = work(*arguments, **options)
    print(f"{what}: {time.perf_counter() - began:.1f} s", flush=True)
    return result


def measure(
    given: argparse.Namespace, one: Settings, two: Settings, file: Path, again: Path
) -> None:
    """Load, back up, restore, back that up, and restore that."""
    with open_store(one) as store, open_store(two) as other:
        drawn = annotations(given.images, given.concepts)
        timed("load", load_dataset, store, one.folders(), NAME, drawn, source="a benchmark")
        del drawn
        timed("mine", mine_dataset, store, NAME, MiningOptions(max_size=2), max_cliques=100_000)
        stop, waits = threading.Event(), list[float]()
        writing = threading.Thread(target=longest_wait, args=(store, stop, waits))
        writing.start()
        timed("backup", back_up, store, one.folders(), file)
        stop.set()
        writing.join()
        print(f"longest wait of a write: {max(waits):.1f} s")
        print(f"size: {file.stat().st_size / 1e6:.1f} MB")
        dumps = [dump(store)]
        timed("restore", restore, other, two.folders(), two.queue_url(), file)
        dumps.append(dump(other))
        timed("backup of that", back_up, other, two.folders(), again)
        drop_dataset(other, two.folders(), NAME)
        timed("restore of that", restore, other, two.folders(), two.queue_url(), again)
        dumps.append(dump(other))
    print(f"dumps: {' '.join(dumps)}, equal: {len(set(dumps)) == 1}")
    print(f"peak memory of this process: {peak_mb():,.0f} MB")


if __name__ == "__main__":
    main()
