"""From a COCO file of 118,000 images to a queryable graph: time, memory, and against plain MERGE.

    python -m benchmarks.ingest [--images 118000]

Prints reading, first load, re-ingest, mining and the slowest catalogue queries. The load is
compared with one session that sends UNWIND + MERGE batches of 1,000 rows: images, then their
classes, then their concepts, with the same properties.
"""

import argparse
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.coco_file import write_coco

from app.services import open_store
from app.settings import Settings
from graph import schema
from graph.analysis import MiningOptions, mine_dataset
from graph.build import write_annotations
from graph.contents import ImageContents
from graph.datasets import drop_dataset, find_dataset
from graph.mined import Ranking, read_imbalances
from graph.records import Annotations, plain_values
from graph.store import GraphStore
from ingest.load import read_annotations

DATA = Path(__file__).parent / "data"
PLAIN_BATCH = 1000


def load_plainly(store: GraphStore, dataset: str, annotations: Annotations) -> None:
    """Load as most scripts do: one session, MERGE for everything, batches of 1,000."""
    images = annotations.images
    contents = ImageContents.of(annotations)
    store.write(
        schema.merge_statement(schema.CLASS),
        dataset=dataset,
        keys=images["class_name"].cat.categories.tolist(),
    )
    store.write(
        schema.merge_statement(schema.CONCEPT),
        dataset=dataset,
        keys=sorted(set(contents.concepts)),
    )
    columns = [plain_values(images[name]) for name in ("split", "uri", "width_px", "height_px")]
    nodes = [list(row) for row in zip(images["id"].tolist(), *columns, strict=True)]
    labels = [
        list(row) for row in zip(images["id"].tolist(), images["class_name"].tolist(), strict=True)
    ]
    ids = images["id"].tolist()
    edges = [[ids[i], *edge] for i in range(len(ids)) for edge in contents.edges(i)]
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
                "r.count = row[4], r.area_px2 = row[5], r.boxes_px = row[6]",
                edges,
            ),
        ):
            for batch in batches(rows):
                session.execute_write(
                    lambda tx, t=text, b=batch: tx.run(t, rows=b, dataset=dataset).consume()
                )


def batches(rows: list[list[object]]) -> Iterator[list[list[object]]]:
    for start in range(0, len(rows), PLAIN_BATCH):
        yield rows[start : start + PLAIN_BATCH]


def timed(label: str, call) -> float:
    start = time.perf_counter()
    result = call()
    elapsed = time.perf_counter() - start
    print(f"{label:<48} {elapsed:8.2f} s   {'' if result is None else result}", flush=True)
    return elapsed


def drop_if_there(store: GraphStore, *names: str) -> None:
    for name in names:
        if find_dataset(store, name) is not None:
            drop_dataset(store, name)
