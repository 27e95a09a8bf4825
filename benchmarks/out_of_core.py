"""Count Parquet files that memory does not hold: seconds, CPU, peak memory, and whether all agree.

``python -m benchmarks.out_of_core --images 100000000 --concepts 600 --folder /data/images``

Pairs are counted a second time, by a sparse product of each block of images as it is drawn.
"""

import argparse
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cobalance as cb
from benchmarks.figures import report
from benchmarks.generate import CHUNK, Shape, generate
from tests.support.memory import peak_mb

FULL_SIZE = 100_000_000
_PER_FILE = 4 * CHUNK


def write(shape: Shape, folder: Path) -> np.ndarray:
    """Write a file for each million images; images of each class and pair, (classes, k, k)."""
    folder.mkdir(parents=True, exist_ok=True)
    totals = np.zeros((shape.classes, shape.concepts, shape.concepts), dtype=np.int64)
    names = pa.array([f"concept{code:05d}" for code in range(shape.concepts)])
    classes = pa.array([f"class{code:04d}" for code in range(shape.classes)])
    for number, start in enumerate(range(0, shape.images, _PER_FILE)):
        n_images = min(_PER_FILE, shape.images - start)
        # Another seed draws other rates, too: files differ as the days of a stream do.
        block = generate(replace(shape, images=n_images, seed=shape.seed + number))
        for code in range(shape.classes):
            of_class = block.take(np.flatnonzero(block.labels == code)).matrix()
            totals[code] += (of_class.T @ of_class).toarray().astype(np.int64)

        lists = pa.ListArray.from_arrays(
            pa.array(block.indptr, pa.int32()), names.take(pa.array(block.indices))
        )
        table = pa.table({"label": classes.take(pa.array(block.labels)), "concepts": lists})
        pq.write_table(table, folder / f"{number:05}.parquet", row_group_size=250_000)
    return totals


def main() -> None:
    """Print one line a step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10_000_000)
    parser.add_argument("--concepts", type=int, default=600)
    parser.add_argument("--mean", type=float, default=8.0, help="concepts drawn for an image")
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--support", type=int, default=1)
    parser.add_argument("--copies", type=int, default=1, help="read each file so many times")
    parser.add_argument("--folder", type=Path, required=True, help="where the files are, or go")
    asked = parser.parse_args()

    shape = Shape(asked.images, asked.concepts, mean=asked.mean)
    truth = asked.folder / "pairs.npy"
    if not truth.exists():
        # In another process: the peak of memory is to be that of counting.
        with get_context("spawn").Pool(1) as pool:
            np.save(truth, pool.apply(write, (shape, asked.folder)))
    totals = np.load(truth) * asked.copies

    files = sorted(asked.folder.glob("*.parquet"))
    paths = [str(file) for file in files * asked.copies]
    metadata = [pq.read_metadata(file) for file in files]
    n_images = asked.copies * sum(of.num_rows for of in metadata)
    n_mentions = asked.copies * sum(
        of.row_group(group).column(1).num_values
        for of in metadata
        for group in range(of.num_row_groups)
    )
    size_mb = asked.copies * sum(file.stat().st_size for file in files) / 1e6
    print(f"{n_images:,} images, {n_mentions:,} mentions, {size_mb:,.0f} MB of Parquet")
    began, cpu_before = time.perf_counter(), time.process_time()
    found = cb.imbalances_in_files(paths, max_size=asked.size, min_support=asked.support, common=())
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu_before
    print(
        f"{len(found):,} combinations with q-values in {seconds:.1f} s, {cpu_s:.1f} s of CPU, "
        f"peak {peak_mb():,.0f} MB"
    )

    extrapolated_s = seconds * FULL_SIZE / n_images
    size = f"{asked.concepts} concepts, up to size {asked.size}"
    name = f"out of core: seconds, extrapolated to {FULL_SIZE:,} images from {n_images:,}, {size}"
    report(name, extrapolated_s, "s", at_most=600)
    peak_gb = peak_mb() / 1000
    report(f"out of core: memory for {n_images:,} images, {size}", peak_gb, "GB", at_most=8)

    cliques = found.cliques
    sizes = cliques.sizes()
    pairs = cliques.members[sizes == 2]
    expected = totals[:, pairs[:, 0], pairs[:, 1]].T
    upper = np.triu(totals.max(axis=0), 1)
    equal = np.array_equal(cliques.counts[sizes == 2], expected)
    complete = len(pairs) == (upper >= asked.support).sum()
    print(f"pairs equal to those of the sparse products: {equal}, none missing: {complete}")


if __name__ == "__main__":
    main()
