"""Reading a COCO file of 118,000 images: time and memory against a plain typed msgspec parse.

``python -m benchmarks.reading [--images 118000] [--rows 1000000] [--rounds 5]``

Each measurement runs in a process of its own, so that peaks of memory are its own, the two
alternating so that both see the same machine; the best of the rounds counts. The plain parse
decodes the file's bytes into structs with the fields that the reader uses, and does nothing with
them. Tables are read for comparison: CSV, JSON lines and Parquet of a million rows.
"""

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.coco_file import CLASSES, write_coco
from ingest.load import read_annotations
from ingest.options import ClassOptions, ReadOptions

DATA = Path(__file__).parent / "data"


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


def read_coco(path: Path) -> int:
    """Read as the product does, classes from two categories; gives the number of mentions."""
    classes = ClassOptions(categories={name: name for name in CLASSES})
    return len(read_annotations(path, ReadOptions(classes=classes)).mentions)


def read_table(path: Path) -> int:
    """Read a table with all defaults; gives the number of mentions."""
    return len(read_annotations(path).mentions)


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


def measure(work: Callable[[Path], int], path: Path) -> tuple[float, int, int]:
    """Run in a fresh process: seconds, peak MB of the process, and what the work gave."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, path))


def _measured(work: Callable[[Path], int], path: Path) -> tuple[float, int, int]:
    with path.open("rb") as file:  # the same warm page cache for everyone
        while file.read(1 << 24):
            pass
    start = time.perf_counter()
    count = work(path)
    seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, count


def main() -> None:
    """Write the files, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=118_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    coco = DATA / f"coco-{options.images}.json"
    if not coco.exists():
        write_coco(coco, options.images)
    print(f"{coco.name}: {coco.stat().st_size / 1e6:,.0f} MB, {options.images:,} images")
    plain, ours = [], []
    for _ in range(options.rounds):
        plain.append(measure(parse_plainly, coco))
        ours.append(measure(read_coco, coco))
    for name, results in (("plain typed msgspec parse", plain), ("read_annotations", ours)):
        seconds, peak_mb, count = min(results)
        print(f"{name:28} {seconds:6.2f} s  peak {peak_mb:5,} MB  {count:,} annotations")
    print(f"{'ratio':28} {min(ours)[0] / min(plain)[0]:6.2f}")
    for path in write_tables(DATA, options.rows):
        seconds, peak_mb, count = min(measure(read_table, path) for _ in range(2))
        print(f"{path.name:28} {seconds:6.2f} s  peak {peak_mb:5,} MB  {count:,} mentions")


if __name__ == "__main__":
    main()
