"""Reading a COCO file of 118,000 images: time and memory against a plain typed msgspec parse.

    python -m benchmarks.reading [--images 118000] [--rows 1000000] [--rounds 5]
        [--parquet-rows 10000000]

Each measurement runs in a process of its own, so that peaks of memory are its own, the two
alternating so that both see the same machine; the best of the rounds counts. CPU time is printed
beside, since other work on the machine lengthens the time alone. The plain parse
decodes the file's bytes into structs with the fields that the reader uses, and does nothing with
them. Tables are read for comparison: CSV, JSON lines and Parquet of a million rows, and Parquet of
ten million as `benchmarks.growth` draws it. Last, new processes that have imported cobalance and
nothing else read the COCO file and compute all imbalances of it, in seconds of wall time.
"""

import argparse
import gc
import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.coco_file import CLASSES, write_coco
from benchmarks.figures import report
from cobalance.app.cli.shared.allocator import avoid_huge_pages
from cobalance.app.cli.shared.collector import collector_paused
from cobalance.base.records import Annotations
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.outline import outline_of
from tests.support.memory import peak_mb

DATA = Path(__file__).parent / "data"
_MANY = 1 << 40
ANY_SIZE = ReadOptions(max_rows=_MANY, max_mentions=_MANY, max_table_mb=_MANY)
_COLD = """
import sys, time
import cobalance as cb

path, *classes = sys.argv[1:]
start = time.perf_counter()
cb.imbalances(cb.read(path, class_category=classes, quiet=True), max_size=3)
print(time.perf_counter() - start)
"""


class _Image(msgspec.Struct):
    id: int
    file_name: str
    width: int
    height: int


class _Annotation(msgspec.Struct):
    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    area: float


class _Category(msgspec.Struct):
    id: int
    name: str


class _Coco(msgspec.Struct):
    images: list[_Image]
    annotations: list[_Annotation]
    categories: list[_Category]


def parse_plainly(path: Path) -> int:
    """Decode with msgspec into typed structs; gives the number of annotations."""
    return len(msgspec.json.decode(path.read_bytes(), type=_Coco).annotations)


def parse_without_collector(path: Path) -> int:
    """Do the same with the garbage collector off, which helps it as it helps the reader."""
    gc.disable()
    return parse_plainly(path)


def detect(path: Path) -> int:
    """Detect the format, which looks at keys alone; gives their number."""
    detect_format(path)
    return len(outline_of(path).paths)


def import_alone(_path: Path) -> int:
    """Do nothing: the memory that the imports take."""
    return 0


def read_coco(path: Path) -> int:
    """Read as the product does, classes from two categories; gives the number of mentions."""
    classes = ReadOptions(class_category={name: name for name in CLASSES})
    with collector_paused():  # as the command does
        return len(read_annotations(path, classes).mentions)


def read_table(path: Path) -> int:
    """Read a table with all defaults; gives the number of mentions."""
    with collector_paused():
        return len(read_annotations(path).mentions)


def read_any_size(path: Path) -> Annotations:
    """Read as the command does, with limits for any size."""
    with collector_paused():
        return read_annotations(path, ANY_SIZE)


def read_large_table(path: Path) -> int:
    """Read a table of any size; gives the number of mentions."""
    return len(read_any_size(path).mentions)


def cold_seconds(coco: Path) -> float:
    """Seconds from a COCO file to its imbalances, in a new process after `import cobalance`."""
    command = [sys.executable, "-c", _COLD, str(coco), *CLASSES]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def write_tables(folder: Path, rows: int) -> list[Path]:
    """Write the same images as CSV, JSON lines and Parquet."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [folder / f"table-{rows}.{ending}" for ending in ("csv", "jsonl", "parquet")]
    if all(path.exists() for path in paths):
        return paths
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 8, rows).tolist()
    drawn = iter(rng.integers(0, 200, 8 * rows).tolist())
    concepts = [[f"concept {next(drawn):03d}" for _ in range(count)] for count in counts]
    ids = [f"{row:012d}.jpg" for row in range(rows)]
    labels = [f"class {code}" for code in rng.integers(0, 2, rows).tolist()]
    with paths[0].open("w", encoding="utf-8") as file:
        file.write("image_id,label,concepts\n")
        for row in zip(ids, labels, concepts, strict=True):
            file.write(f"{row[0]},{row[1]},{'|'.join(row[2])}\n")
    with paths[1].open("w", encoding="utf-8") as file:
        for image_id, label, names in zip(ids, labels, concepts, strict=True):
            record = {"image_id": image_id, "label": label, "concepts": names}
            file.write(json.dumps(record) + "\n")
    pq.write_table(pa.table({"image_id": ids, "label": labels, "concepts": concepts}), paths[2])
    return paths


Result = tuple[float, float, int, int]


def measure(work: Callable[[Path], int], path: Path) -> Result:
    """Run in a fresh process: CPU seconds, seconds, peak MB of the process, the work's result."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, path))


def _measured(work: Callable[[Path], int], path: Path) -> Result:
    with path.open("rb") as file:  # the same warm page cache for everyone
        while file.read(1 << 24):
            pass
    start, start_cpu = time.perf_counter(), time.process_time()
    count = work(path)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    return cpu, seconds, round(peak_mb()), count


def main() -> None:
    """Write the files, measure, print and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=118_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parquet-rows", type=int, default=10_000_000)
    options = parser.parse_args()
    avoid_huge_pages()
    DATA.mkdir(exist_ok=True)
    coco = DATA / f"coco-{options.images}.json"
    if not coco.exists():
        write_coco(coco, options.images)
    print(f"{coco.name}: {coco.stat().st_size / 1e6:,.0f} MB, {options.images:,} images")

    compare_parses(coco, options.rounds)
    for path in write_tables(DATA, options.rows):
        print(_line(path.name, [measure(read_table, path) for _ in range(2)], "mentions"))
    measure_parquet(options.parquet_rows)

    seconds = min(cold_seconds(coco) for _ in range(options.rounds))
    print(f"{'to imbalances, new process':28} {seconds:6.2f} s")
    name = f"reading: COCO of {options.images:,} images to imbalances up to size 3, new process"
    report(name, seconds, "s", at_most=3)


def measure_parquet(rows: int) -> None:
    """Draw a Parquet file unless it is there, and report what reading it takes."""
    path = DATA / f"growth-{rows}.parquet"
    if not path.exists():
        from benchmarks.growth import write_parquet

        write_parquet(path, rows)

    results = [measure(read_large_table, path) for _ in range(2)]
    print(_line(path.name, results, "mentions"))
    _, seconds, peak, _ = _best(results)
    report(f"reading: seconds of a Parquet file of {rows:,} rows", seconds, "s", at_most=15)
    report(f"reading: memory for a Parquet file of {rows:,} rows", peak, "MB", at_most=3000)


def compare_parses(coco: Path, rounds: int) -> None:
    """Print what reading takes beside plain parses, and what imports and detection take."""
    works: dict[str, Callable[[Path], int]] = {
        "plain typed msgspec parse": parse_plainly,
        "the same, collector off": parse_without_collector,
        "read_annotations": read_coco,
    }
    results: dict[str, list[Result]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            results[name].append(measure(work, coco))
    for name, measured in results.items():
        print(_line(name, measured, "annotations"))
    cpu_s, wall_s, _, _ = _best(results["read_annotations"])
    for name in list(works)[:2]:
        cpu, wall, _, _ = _best(results[name])
        print(f"ratio to {name}: {wall_s / wall:.2f}, of CPU time {cpu_s / cpu:.2f}")
    alone: dict[str, Callable[[Path], int]] = {"import alone": import_alone, "detect": detect}
    for name, work in alone.items():
        print(_line(name, [measure(work, coco) for _ in range(rounds)], "keys"))


def _best(results: list[Result]) -> Result:
    cpu, seconds, peaks, count = zip(*results, strict=True)
    return min(cpu), min(seconds), max(peaks), count[0]


def _line(name: str, results: list[Result], what: str) -> str:
    cpu, seconds, peak, count = _best(results)
    return f"{name:28} {seconds:6.2f} s  cpu {cpu:6.2f} s  peak {peak:5,} MB  {count:,} {what}"


if __name__ == "__main__":
    main()
