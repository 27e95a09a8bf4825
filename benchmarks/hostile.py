"""Attack the readers with mutated files, and the console with queries that write or confuse.

    python -m benchmarks.hostile [--files 10000] [--queries 2500] [--seed 0] [--only hub-one ...]

Every outcome is counted by its kind. A file may be read or refused with an error of ours; a query
may be answered, refused, rejected or timed out. Anything else is foreign: another exception, a
process that died, a server that is another one afterwards, a graph that has changed, a query that
took longer than its limit and a second. Exits with 1 if there was one, or a process took over 2 GB.

Mutations and queries are drawn from the seed. Memory is the peak of a process. Limits of what a
file or a query may take are tested where they are: with small files and queries under small limits.
"""

import argparse
import io
import json
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.hub_folders import hub_folders, mutated_folder, write_files
from cobalance.base.errors import CobalanceError, check_known
from cobalance.graph.console.run import run_console_query
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.ingest.dataset_files import CLASSES, DATASETS, ONE_FILE, archive
from tests.support.memory import peak_mb

MOST_MB = 2048
QUERY_LIMIT_S = 2.0
FOREIGN = "FOREIGN"

ROWS: list[dict[str, Any]] = [
    {
        "id": f"{i}.jpg",
        "label": ("bird", "fish")[i % 2],
        "concepts": ["água", "sky", "x y"][: i % 4],
    }
    for i in range(12)
]


@dataclass
class Tally:
    """Outcomes of an attack.

    Parameters
    ----------
    outcomes : Counter
        How often each occurred.
    worst_s, worst_mb : float
        The longest single attempt, and the largest peak of a process.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    worst_s: float = 0.0
    worst_mb: float = 0.0

    def add(self, outcome: str, seconds: float, peak_mb: float = 0.0) -> None:
        """Count an attempt."""
        self.outcomes[outcome] += 1
        self.worst_s = max(self.worst_s, seconds)
        self.worst_mb = max(self.worst_mb, peak_mb)

    @property
    def foreign(self) -> list[str]:
        """Outcomes that must not occur."""
        return [outcome for outcome in self.outcomes if outcome.startswith(FOREIGN)]

    def show(self, title: str) -> None:
        """Print the table."""
        print(f"\n{title}: {self.outcomes.total():,}")
        for outcome, count in self.outcomes.most_common():
            print(f"  {count:8,}  {outcome}")
        print(
            f"  longest {self.worst_s:.2f} s, largest process {self.worst_mb:,.0f} MB", flush=True
        )


def valid_files() -> dict[str, bytes]:
    """Small valid files of every format, by name."""
    joined = [{**row, "concepts": "|".join(row["concepts"])} for row in ROWS]
    parquet = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), parquet)
    images = [
        {"id": i, "file_name": row["id"], "width": 64, "height": 48} for i, row in enumerate(ROWS)
    ]
    outline = [[1.0, 1.0, 9.0, 1.0, 9.0, 9.0]]
    instances = [
        {"id": i, "image_id": i, "category_id": 1 + i % 3, "bbox": [1, 1, 8, 8], "area": 32.0,
         "iscrowd": 0, "segmentation": outline}
        for i in range(len(ROWS))
    ]  # fmt: skip
    captions = [{"id": i, "image_id": i, "caption": "a man and two dogs"} for i in range(len(ROWS))]
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(("bird", "fish", "sky"))]
    attributes = "".join(f"{i:06}.jpg 1 -1 {(-1) ** i}\n" for i in range(12))
    metadata = "".join(json.dumps({"file_name": row["id"], **row}) + "\n" for row in ROWS).encode()
    folder = {row["id"]: b"pixels" for row in ROWS}
    return {
        "table.csv": pd.DataFrame(joined).to_csv(index=False).encode(),
        "table.tsv": pd.DataFrame(joined).to_csv(index=False, sep="\t").encode(),
        "table.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
        "table.parquet": parquet.getvalue(),
        "list_attr.txt": f"12\nBald Male Smiling\n{attributes}".encode(),
        "instances.json": json.dumps(
            {"images": images, "annotations": instances, "categories": categories}
        ).encode(),
        "shard.tar": shard(),
        "folder.zip": archive({**folder, "metadata.jsonl": metadata}),
        "captions.json": json.dumps({"images": images, "annotations": captions}).encode(),
    }


def shard() -> bytes:
    """A shard of WebDataset."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        for row in ROWS:
            for ending, part in (("jpg", b"pixels"), ("json", json.dumps(row).encode())):
                entry = tarfile.TarInfo(f"{row['id'][:-4]}.{ending}")
                entry.size = len(part)
                packed.addfile(entry, io.BytesIO(part))
    return content.getvalue()


HOSTILE_PIECES = [
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\x1b[2J",
        b"\r",
        b"\n\n",
        b'"',
        b"'",
        b",",
        b"|",
        b"\\",
    ),
    *(b"9" * 400, b"-1", b"1e999", b"NaN", b"Infinity", b"null", b"[]", b"{}", b"[" * 50),
    *(b'{"a":' * 50, b"\xed\xa0\x80", "\u202e".encode(), "e\u0301".encode(), b"=1+1", b"\t"),
    *(b'"id": "0.jpg"', b'"concepts": 3', b'"width": [1]', b'"score": [[1]]', b'"id": null'),
]


def mutated(content: bytes, random: Random) -> bytes:
    """Change a file in one or two places."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 2)):
        at, length = random.randrange(len(changed) + 1), random.choice((1, 1, 2, 8, 64, 400))
        piece = bytes(changed[at : at + length])
        match random.randrange(7):
            case 0:
                changed[at : at + 1] = random.randbytes(1)
            case 1:
                del changed[at : at + length]
            case 2:
                changed[at:at] = piece * random.choice((1, 2, 50))
            case 3:
                changed[at:at] = random.choice(HOSTILE_PIECES)
            case 4:
                changed[at : at + length] = random.choice(HOSTILE_PIECES)
            case 5:
                del changed[at:]
            case _:
                other = random.randrange(len(changed) + 1)
                changed[other : other + length] = piece
    return bytes(changed)


def read_one(path: str) -> tuple[str, float, float]:
    """Read a file in a worker process; gives the outcome, seconds, and peak memory in MB."""
    started = time.perf_counter()
    try:
        categories = CLASSES if Path(path).name in DATASETS else {}
        read_annotations(path, ReadOptions(class_category=categories))
        outcome = "read"
    except CobalanceError as error:
        outcome = type(error).__name__
    except Exception as error:  # noqa: BLE001 - what this is about
        outcome = f"{FOREIGN} {type(error).__name__}: {str(error)[:80]} ({Path(path).name})"
    return outcome, time.perf_counter() - started, peak_mb()


def mutated_archive(files: dict[str, bytes], random: Random) -> bytes:
    """An archive with a mutated file in it, or itself mutated."""
    if random.randrange(4) == 0:
        return mutated(archive(files), random)
    name = random.choice(sorted(files))
    return archive({**files, name: mutated(files[name], random)})


def attack_readers(folder: Path, files: int, seed: int, only: Sequence[str] = ()) -> Tally:
    """Read so many mutated files, in a process that is made anew when one has killed it."""
    random, tally, valid = Random(seed), Tally(), valid_files()
    datasets = {name: make() for name, make in DATASETS.items()}
    hub = hub_folders()
    names = [*sorted(valid), *sorted(datasets), *sorted(hub)]
    check_known("file", only, names)
    worker = _worker()
    for number in range(files):
        name = random.choice(only or names)
        path = folder / name
        if name in hub:
            write_files(path, mutated_folder(hub[name], random, mutated))
        elif name in valid:
            path.write_bytes(mutated(valid[name], random))
        elif name in ONE_FILE:
            path.write_bytes(mutated(datasets[name][ONE_FILE[name]], random))
        else:
            path.write_bytes(mutated_archive(datasets[name], random))
        try:
            tally.add(*worker.submit(read_one, str(path)).result())
        except BrokenProcessPool:
            path.rename(folder / f"killer-{number}-{name}")
            tally.add(f"{FOREIGN}: process died ({name})", 0.0)
            worker = _worker()
    worker.shutdown()
    return tally


def _worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


CLAUSES = """
CREATE (n)
MERGE (n)
SET n.x = 1
DELETE n
DETACH DELETE n
REMOVE n.x
FOREACH (x IN [1] | CREATE ())
LOAD CSV FROM 'file:///a.csv' AS l
DROP INDEX image_key
CREATE INDEX FOR (n:X) ON (n.y)
CALL { CREATE () } IN TRANSACTIONS
CALL dbms.listConfig() YIELD name
CALL db.clearQueryCaches()
SHOW USERS
USE system
TERMINATE TRANSACTION 'x'""".strip().splitlines()
FRAMES = r"""
{0}
{0} //
MATCH (n) {0}
MATCH (n) WITH n {0} RETURN n
RETURN 1 AS x; {0}
/* */ {0}
EXPLAIN {0}
PROFILE MATCH (n) {0}
RETURN '\u0041 {0} //'
RETURN `{0}
// {0}
CALL {{ {0} }} RETURN 1
RETURN 1 AS x UNION {0}
MATCH (where) WITH where {0}
WITH 1 AS set {0}
UNWIND [1] AS in MATCH (n) {0}
MATCH (n) WHERE EXISTS {{ {0} }} RETURN n""".strip().splitlines()
PIECES = [
    *("MATCH (n)", "WITH n", "RETURN n", "WHERE", "SET n.x = 1", "CREATE ()", "DELETE n", "AS set"),
    *("UNWIND [1] AS x", "YIELD *", "IN", "CALL", "(", ")", "{", "}", "[", "]", "$x", "$", "|"),
    *("'", '"', "`", "/*", "*/", "//", "\n", "\\u0041", "\\u0042", ";", "..", "::", "9e999"),
    *("é", "\u200b", "\u00a0", "\u0130"),
]


def hostile_queries(count: int, random: Random) -> Iterator[str]:
    """Queries that write, and pieces of queries in any order."""
    for number in range(count):
        if number % 2:
            query = random.choice(FRAMES).format(random.choice(CLAUSES))
            yield "".join(c.swapcase() if random.random() < 0.3 else c for c in query)
        else:
            yield " ".join(random.choices(PIECES, k=random.randint(1, 12)))


def attack_console(settings: Settings, queries: int, seed: int) -> Tally:
    """Send so many queries; the graph and the server must be the same afterwards."""
    tally = Tally()
    with open_store(settings) as store:
        before = _fingerprint(settings, store)
        for query in hostile_queries(queries, Random(seed)):
            started = time.perf_counter()
            try:
                run_console_query(
                    store.console_drivers,
                    store.database,
                    query,
                    timeout_s=QUERY_LIMIT_S,
                    max_rows=100,
                )
                outcome = "answered"
            except CobalanceError as error:
                outcome = type(error).__name__
            except Exception as error:  # noqa: BLE001 - what this is about
                outcome = f"{FOREIGN} {type(error).__name__}: {str(error)[:60]} ({query[:80]})"
            seconds = time.perf_counter() - started
            if seconds > QUERY_LIMIT_S + 1:
                outcome = f"{FOREIGN}: {seconds:.1f} s, {query[:80]}"
            tally.add(outcome, seconds, _server_mb(settings))
        if _fingerprint(settings, store) != before:
            tally.add(f"{FOREIGN}: the graph or the server is not what it was", 0.0)
    tally.worst_mb = max(tally.worst_mb, peak_mb())
    return tally


def _fingerprint(settings: Settings, store: GraphStore) -> list[object]:
    status = local_server.status(settings.local_server())
    counts = store.read("MATCH (n) RETURN count(n) AS n, count{MATCH ()-[]->()} AS edges LIMIT 1")
    schema = store.read("SHOW INDEXES YIELD name RETURN collect(name) AS names")
    return [status and status.pid, counts, sorted(schema[0]["names"])]


def _server_mb(settings: Settings) -> float:
    status = local_server.status(settings.local_server())
    return 0.0 if status is None else psutil.Process(status.pid).memory_info().rss / 2**20


def main() -> int:
    """Run all attacks and print their outcomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=2_500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=(), help="Names of valid files to mutate.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = attack_readers(Path(folder), arguments.files, arguments.seed, arguments.only)
        files.show("mutated files")

    queries = attack_console(Settings.from_environment(), arguments.queries, arguments.seed)
    queries.show("queries")
    return int(any(tally.foreign or tally.worst_mb > MOST_MB for tally in (files, queries)))


if __name__ == "__main__":
    sys.exit(main())
