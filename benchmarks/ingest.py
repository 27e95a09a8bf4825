"""From a COCO file of 118,000 images to a queryable graph: time, memory, and against plain MERGE.

    python -m benchmarks.ingest [--images 118000]

Prints reading, first load, re-ingest, mining and the slowest catalogue queries. The load is
compared with one session that sends UNWIND + MERGE batches of 1,000 rows: images, then their
classes, then their concepts, with the same properties.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import LiteralString

import numpy as np
from neo4j import ManagedTransaction

from benchmarks.coco_file import CLASSES, write_coco
from cobalance.app.cli.shared.collector import collector_paused
from cobalance.base.records import Annotations, plain_values
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.database import schema
from cobalance.graph.database.statements import merge_statement
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.image_contents import ImageContents
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.support.memory import peak_mb

DATA = Path(__file__).parent / "data"
PLAIN_BATCH = 1000


def load_plainly(store: GraphStore, dataset: str, annotations: Annotations) -> None:
    """Load as most scripts do: one session, MERGE for everything, batches of 1,000."""
    images = annotations.images
    contents = ImageContents.of(annotations)
    store.write(
        merge_statement(schema.CLASS),
        dataset=dataset,
        keys=images["class_name"].cat.categories.tolist(),
    )
    store.write(
        merge_statement(schema.CONCEPT),
        dataset=dataset,
        keys=contents.concepts_of(np.arange(len(images))),
    )
    columns = [plain_values(images[name]) for name in ("split", "uri", "width_px", "height_px")]
    nodes = [list(row) for row in zip(images["id"].tolist(), *columns, strict=True)]
    labels = [
        list(row) for row in zip(images["id"].tolist(), images["class_name"].tolist(), strict=True)
    ]
    ids = images["id"].tolist()
    of_images = zip(ids, contents.edges(np.arange(len(ids))), strict=True)
    edges = [[name, *edge] for name, columns in of_images for edge in zip(*columns, strict=True)]
    with store.driver.session(database=store.database) as session:
        for text, rows in (
            (
                "UNWIND $rows AS row MERGE (i:Image {dataset: $dataset, id: row[0]}) "
                "SET i.split = row[1], i.uri = row[2], i.width_px = row[3], i.height_px = row[4], "
                "i.synthetic = false",
                nodes,
            ),
            (
                "UNWIND $rows AS row MATCH (i:Image {dataset: $dataset, id: row[0]}) "
                "MATCH (y:Class {dataset: $dataset, name: row[1]}) MERGE (i)-[:LABELED]->(y)",
                labels,
            ),
            (
                "UNWIND $rows AS row MATCH (i:Image {dataset: $dataset, id: row[0]}) "
                "MATCH (c:Concept {dataset: $dataset, name: row[1]}) "
                "MERGE (i)-[r:CONTAINS]->(c) SET r.source = row[2], r.score = row[3], "
                "r.count = row[4]",
                edges,
            ),
        ):
            for batch in batches(rows):
                session.execute_write(run_merge, text, batch, dataset)


def run_merge(
    tx: ManagedTransaction, text: LiteralString, rows: list[list[object]], dataset: str
) -> None:
    """Run one batch's statement."""
    tx.run(text, rows=rows, dataset=dataset).consume()


def batches(rows: list[list[object]]) -> Iterator[list[list[object]]]:
    """Cut rows into batches."""
    for start in range(0, len(rows), PLAIN_BATCH):
        yield rows[start : start + PLAIN_BATCH]


def timed(label: str, work: Callable[[], object]) -> float:
    """Run, print how long it took, and give the seconds."""
    start = time.perf_counter()
    result = work()
    elapsed = time.perf_counter() - start
    print(f"{label:<48} {elapsed:8.2f} s   {'' if result is None else result}", flush=True)
    return elapsed


def drop_if_there(store: GraphStore, *names: str) -> None:
    """Drop the datasets that exist."""
    for name in names:
        if find_dataset(store, name) is not None:
            drop_dataset(store, name)


def compare_loads(store: GraphStore, annotations: Annotations) -> None:
    """Load both ways, twice and in turn: a server gets faster for minutes after its start."""
    seconds: dict[str, list[float]] = {"ours": [], "plain": []}
    for turn in ("first", "second"):
        ours = timed(f"{turn} turn: load", lambda: load(store, "bench", annotations))
        drop_if_there(store, "bench")
        plain = timed(
            f"{turn} turn: plain MERGE, one session of 1,000s",
            lambda: load_plainly(store, "bench plain", annotations),
        )
        store.write("MERGE (:Dataset {name: 'bench plain'})")
        drop_if_there(store, "bench plain")
        seconds["ours"].append(ours)
        seconds["plain"].append(plain)
    ratio = sum(seconds["plain"]) / sum(seconds["ours"])
    print(f"loading is {ratio:.2f} times as fast as plain MERGE, both turns together")


def catalogue_times(store: GraphStore, dataset: str, repeats: int) -> dict[str, float]:
    """95th percentile of every query of the catalogue, in ms; those that scan run once."""
    concepts = [
        row["concept"] for row in store.read(CATALOGUE["concepts"].text, dataset=dataset, limit=40)
    ]
    times = {}
    for name, query in CATALOGUE.items():
        runs = []
        for i in range(1 if query.scans_images else repeats):
            # Each run asks about other concepts, from the most frequent one down.
            given = {
                "concept": concepts[i % len(concepts)],
                "concepts": [concepts[i % 20], concepts[i % 20 + 1 + i % 7]],
                "class": "man",
                "plan": "conbias",
            }
            wanted = {key: value for key, value in given.items() if key in query.parameters}
            _, bound = bind_named(store, name, {"dataset": dataset, **wanted})
            start = time.perf_counter()
            store.read(query.text, **bound)
            runs.append(1000 * (time.perf_counter() - start))
        times[name] = float(np.percentile(runs[1:] or runs, 95))
        print(f"  {name:<42} p95 {times[name]:10,.1f} ms", flush=True)
    return times


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=118_000)
    parser.add_argument("--max-size", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--keep", action="store_true", help="leave the dataset in the store")
    parser.add_argument("--record", action="store_true", help="write docs/cypher_times.json")
    arguments = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    file = DATA / f"coco-{arguments.images}.json"
    if not file.exists():
        write_coco(file, n_images=arguments.images)
    print(f"{file.name}: {file.stat().st_size / 1e6:,.0f} MB")
    options = ReadOptions(class_category=CATEGORIES)
    with open_store(Settings.from_environment()) as store:
        drop_if_there(store, "bench", "bench plain")
        warm_up(store, file, options)
        start = time.perf_counter()
        with collector_paused():
            annotations = read_annotations(file, options)
        print(f"{'read':<48} {time.perf_counter() - start:8.2f} s")
        compare_loads(store, annotations)
        timed("first load", lambda: load(store, "bench", annotations))
        timed("the same again", lambda: load(store, "bench", annotations))
        print(f"{'peak memory of this process so far':<48} {peak_mb():8,.0f} MB")
        timed(
            f"mine, up to size {arguments.max_size}",
            lambda: mine_dataset(
                store, "bench", MiningOptions(arguments.max_size), max_cliques=10**6
            ),
        )
        timed("the largest imbalances", lambda: len(read_imbalances(store, "bench", Ranking())))
        timed("plan, sizes 1 to 2", lambda: planned_images(store))
        print(f"{'peak memory of this process':<48} {peak_mb():8,.0f} MB")
        times = catalogue_times(store, "bench", arguments.repeats)
        if not arguments.keep:
            drop_if_there(store, "bench")
    if arguments.record:
        record(arguments, times)


CATEGORIES = {name: name for name in CLASSES}


def warm_up(store: GraphStore, file: Path, options: ReadOptions) -> None:
    """Load a little both ways, so that neither pays for the server's first compilation."""
    with collector_paused():
        annotations = read_annotations(file, options)
    few = Annotations(annotations.images.head(5000), annotations.mentions.query("image < 5000"))
    load(store, "bench", few)
    load_plainly(store, "bench plain", few)
    store.write("MERGE (:Dataset {name: 'bench plain'})")
    drop_if_there(store, "bench", "bench plain")


def load(store: GraphStore, dataset: str, annotations: Annotations) -> str:
    """Load as the product does."""
    report = write_annotations(store, dataset, annotations, source="benchmark")
    return f"{report.created:,} new, {report.unchanged:,} as before"


def planned_images(store: GraphStore) -> str:
    """Plan as the command line does."""
    planned = plan_dataset(store, "bench", "conbias", PlanOptions(1, 2))
    return f"{planned.plan.images:,} images"


def record(arguments: argparse.Namespace, times: dict[str, float]) -> None:
    """Write the catalogue's times for the documentation."""
    content = {
        "command": "python -m benchmarks.ingest --record",
        "data": f"{arguments.images:,} images in COCO's style with 80 categories, mined up to "
        f"size {arguments.max_size}",
        "machine": f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}",
        "repeats": arguments.repeats,
        "p95_ms": {name: round(value, 1) for name, value in times.items()},
    }
    file = Path(__file__).parents[1] / "docs" / "cypher_times.json"
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
