"""Vectors of a chunk's images: one NumPy file beside its record, for checks of all images of a job.

It is written before the record, so that no record lacks its vectors.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any

import numpy as np

from cobalance.generation.filters.pool import EmbeddedImage
from cobalance.ingest.stored.output_folder import OutputFolder

_TEXTS = ("candidate", "group", "source", "source_class")
_VECTORS = ("vector", "source_vector")


def write_vectors(
    folder: OutputFolder, job: str, chunk: str, images: Iterable[Mapping[str, EmbeddedImage]]
) -> None:
    """Write the vectors of a chunk's images, by filter; no file where there are none."""
    by_filter: dict[str, list[EmbeddedImage]] = {}
    for of_image in images:
        for name, embedded in of_image.items():
            by_filter.setdefault(name, []).append(embedded)
    if not by_filter:
        return
    arrays: dict[str, Any] = {}
    for name, embedded_images in by_filter.items():
        texts = [[getattr(one, text) for text in _TEXTS] for one in embedded_images]
        arrays[f"{name}.texts"] = np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)
        for vector in _VECTORS:
            found = [np.asarray(getattr(one, vector), np.float32) for one in embedded_images]
            arrays[f"{name}.{vector}"] = np.stack(found)
    out = BytesIO()
    np.savez(out, **arrays)
    folder.write(f"{job}/chunks/{chunk}.npz", out.getvalue())


def read_vectors(folder: OutputFolder, job: str, filter_name: str) -> Iterator[EmbeddedImage]:
    """Read the vectors that a filter gave a job's images, each image once, chunk by chunk."""
    seen: set[str] = set()
    for name in folder.names(f"{job}/chunks"):
        if not name.endswith(".npz"):
            continue
        data = BytesIO(folder.read(f"{job}/chunks/{name}"))
        with np.load(data, allow_pickle=False) as arrays:
            if f"{filter_name}.texts" not in arrays:
                continue
            texts = json.loads(arrays[f"{filter_name}.texts"].tobytes())
            vectors, source_vectors = (arrays[f"{filter_name}.{vector}"] for vector in _VECTORS)
        for at, (candidate, group, source, source_class) in enumerate(texts):
            if candidate not in seen:
                seen.add(candidate)
                yield EmbeddedImage(
                    candidate, group, vectors[at], source, source_class, source_vectors[at]
                )
