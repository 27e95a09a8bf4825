"""What reading and writing the manifest of a large job takes: time and peak memory.

    python -m benchmarks.manifest [--candidates 200000] [--best-of 30]

Records of chunks and settlements are written as the worker writes them, 16 candidates a chunk and
100 queries a settlement, with rows of the usual size; the graph is left out, and has the winner of
each query alone, as in a job that does not keep the losers. The manifest is written in a process of
its own, whose peak memory is told with that of the libraries alone.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from cobalance.generation.image_request import ImageRequest
from cobalance.generation.jobs.chunks import candidate_id, cut_round
from cobalance.generation.output.chunk_records import ChunkRecord
from cobalance.generation.output.job_manifest import manifest_name, stream_manifest
from cobalance.generation.output.manifest import write_rows
from cobalance.generation.output.manifest_rows import Row, new_row
from cobalance.generation.output.settlement_records import add_settled
from cobalance.graph.jobs.rounds import Round, Span
from cobalance.vision.stored.output_folder import OutputFolder
from tests.support.memory import peak_mb

JOB = "0123456789abcdef"
CHUNK = 16
QUERIES = 100  # of a settlement
ROUND = 16_384
ABOUT = {
    "backend": "inpaint",
    "digital_source_type": "http://cv.iptc.org/newscodes/digitalsourcetype/"
    "compositeWithTrainedAlgorithmicMedia",
    "model": "owner/a-model-for-inpainting",
    "revision": "0" * 40,
    "weights_sha256": "0" * 64,
    "settings": {"steps": 50, "guidance_scale": 7.5, "strength": 1.0, "width_px": 512},
    "filters": {name: {"filter": name, "model": "owner/a-model"} for name in ("clip", "objects")},
    "software": {"torch": "2.0", "diffusers": "0.30", "transformers": "4.40"},
}


class Unsynced(OutputFolder):
    """An output folder whose files are not synced, to write many at once."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file."""
        path = Path(self.place) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def row_of(query: int, index: int, chunk: str, items: list[str]) -> Row:
    """A candidate's row."""
    caption = f"A woman in a red coat stands beside the bench number {query}."
    request = ImageRequest(candidate_id(JOB, query, index), "woman", ("bench",), caption, index)
    row = new_row(request, job=JOB, chunk=chunk, chunk_items=items, backend=ABOUT)
    names = ("sanity", "clip", "same_objects", "same_colours")
    judged = {"score": index / 7, "accepted": True, "reason": "", "details": {"cosine": 1 / 3}}
    return row | {
        "scores": json.dumps(dict.fromkeys(names, judged)),
        "verdict": "accepted",
        "path": f"{JOB}/images/{query:06d}-{index:06d}.png",
        "sha256": "0" * 64,
        "source_image": f"{query // 2}",
    }


def write_records(folder: OutputFolder, queries: int, best_of: int) -> None:
    """Write the records of all rounds."""
    of_round = max(1, ROUND // best_of)
    for number, first in enumerate(range(0, queries, of_round)):
        ours = range(first, min(first + of_round, queries))
        spans = tuple(Span(query, 0, best_of) for query in ours)
        for chunk in cut_round(JOB, Round(number, 0, spans), CHUNK):
            rows = [row_of(*item, chunk.id, chunk.candidates()) for item in chunk.items]
            ChunkRecord(folder, JOB, chunk.id).write(rows)
        for start in range(ours.start, ours.stop, QUERIES):
            some = range(start, min(start + QUERIES, ours.stop))
            add_settled(
                folder,
                JOB,
                number,
                start,
                {
                    candidate_id(JOB, query, index): {
                        "verdict": "rejected",
                        "rank": index + 1,
                        "reason": f"Rank {index + 1} of {best_of}: the sum of its ranks is 31.5, "
                        "that of the best 7.",
                    }
                    for query in some
                    for index in range(best_of)
                },
            )


def winners(candidates: list[str]) -> Mapping[str, Mapping[str, Any]]:
    """What the graph has of candidates: the first of each query."""
    found = {"verdict": "accepted", "reason": "", "decided_by": None, "rank": 1}
    return {name: found for name in candidates if name.endswith("/000000")}


def measure(place: str) -> tuple[float, float, float]:
    """Write the manifest; gives the seconds, and the peak memory before and after."""
    before, started = peak_mb(), time.perf_counter()
    folder = OutputFolder(place)
    batches = stream_manifest(folder, JOB, winners)
    folder.write_large(manifest_name(JOB), lambda file: write_rows(batches, file))
    return time.perf_counter() - started, before, peak_mb()


def main() -> None:
    """Write a manifest, and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=int, default=200_000)
    parser.add_argument("--best-of", type=int, default=30)
    arguments = parser.parse_args()
    queries = arguments.candidates // arguments.best_of
    with tempfile.TemporaryDirectory(prefix="cobalance-manifest-") as place:
        write_records(Unsynced(place), queries, arguments.best_of)
        records = sum(path.stat().st_size for path in Path(place).rglob("*.json"))
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            seconds, before, after = pool.submit(measure, place).result()
        size = (Path(place) / manifest_name(JOB)).stat().st_size
    n = queries * arguments.best_of
    print(
        f"{n:,} candidates: {seconds:.0f} s, {1e6 * seconds / n:.0f} µs each; peak memory "
        f"{after:.0f} MB, {before:.0f} MB before; records {records / 1e6:,.0f} MB, manifest "
        f"{size / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    main()
