"""Scores of an open vocabulary: written, counted and turned into labels.

    python -m benchmarks.scores [--images 50000] [--concepts 5000] [--each 6] [--dense]

Captions name a few of many concepts, some far more often than others (seed 0). ``--dense`` keeps a
score for each image and concept, as for annotators that score every text.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.labelling.labels import label_summary, read_labels
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelledAttribute, LabelSettings
from cobalance.vision.stored.output_folder import OutputFolder


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something took."""
    started = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - started:.1f} s", flush=True)


def main() -> None:
    """Print the time of each step, and the size of the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--concepts", type=int, default=5_000)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--dense", action="store_true")
    given = parser.parse_args()
    settings = LabelSettings(
        annotator="extract",
        attributes=tuple(
            LabelledAttribute(category="", concept=f"concept {at}", caption=f"concept {at}")
            for at in range(given.concepts)
        ),
        rule="threshold",
        threshold=0.5,
        images=given.images,
    )
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, given.concepts + 1)
    with tempfile.TemporaryDirectory() as place:
        files = ScoreFiles(OutputFolder(place), "run")
        with timed("write the scores"):
            for chunk in range(settings.chunks):
                start = chunk * settings.chunk_images
                n = min(settings.chunk_images, given.images - start)
                matrix = np.zeros((n, given.concepts), np.float32)
                seen = rng.choice(given.concepts, (n, given.each), p=weights / weights.sum())
                np.put_along_axis(matrix, seen, 1, axis=1)
                ids = [f"image {at:08}" for at in range(start, start + n)]
                files.write_scores(chunk, ids, Scores(matrix, only_seen=not given.dense))
        size = sum(path.stat().st_size for path in Path(place).rglob("*.parquet"))
        print(f"Parquet: {size / 1e6:.1f} MB")
        with timed("count the images of each concept (threshold)"):
            counts = label_summary(files, settings)
        with timed("read the labels (accept)"):
            labels = read_labels(files, settings)
        assert counts["images"].sum() == len(labels)
        print(f"{len(labels):,} labels")


if __name__ == "__main__":
    main()
