"""Score chunks of images, and keep scores in Parquet files beside the graph, one a chunk.

Every score is kept, low ones too, so that thresholds change without a model. The same images and
model give the same bytes, in whatever order chunks are made and however often they are begun.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cobalance.annotation.annotators.annotator import Annotator, Floats, Scores
from cobalance.vision import ImageArray
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError

_BOX = ("x_px", "y_px", "w_px", "h_px")
SCORES = pa.schema(
    [
        ("image", pa.string()),
        ("text", pa.int32()),
        ("score", pa.float32()),
        ("x_px", pa.float32()),
        ("y_px", pa.float32()),
        ("w_px", pa.float32()),
        ("h_px", pa.float32()),
    ]
)
"""``text`` is the place among the run's texts; the box is NaN where the model gives none."""
SEEN = pa.schema(
    [
        ("image", pa.string()),
        ("texts", pa.list_(pa.int32())),
        ("scores", pa.list_(pa.float32())),
    ]
)
"""Of annotators that name what they see: a row an image, with the places of the texts that it shows
and their scores, all others being 0; null where the image cannot be read."""
IMAGES = pa.schema([("id", pa.string()), ("uri", pa.string()), ("synthetic", pa.bool_())])


class ScoreFiles:
    """The files of a run."""

    def __init__(self, folder: OutputFolder, run: str) -> None:
        self._folder, self.uri = folder, f"annotations/{run}"

    def write_images(self, images: pa.Table) -> None:
        """Write which images are labelled, in the order of their chunks; see `IMAGES`."""
        self._write("images.parquet", images.cast(IMAGES))

    def read_images(self, start: int = 0, end: int | None = None) -> pa.Table:
        """Read a slice of the run's images; OutputMissingError if the file is missing."""
        n_images = None if end is None else end - start
        return self._read("images.parquet").slice(start, n_images)

    def write_description(self, described: Mapping[str, Any]) -> None:
        """Write the scores' provenance: model, weights, device, vocabulary chunks."""
        text = json.dumps(dict(described), ensure_ascii=False, indent=1, sort_keys=True)
        self._folder.write(f"{self.uri}/annotator.json", text.encode())

    def write_scores(self, chunk: int, ids: Sequence[str], scores: Scores) -> None:
        """Write the scores of a chunk's images, as `SCORES` or as `SEEN`.

        Parameters
        ----------
        ids : sequence of str
            Of the images; `scores` has a row for each, NaN for one that cannot be read.
        """
        if scores.only_seen:
            self._write(_part(chunk), _sparse_table(ids, scores.matrix))
        else:
            n, n_texts = scores.matrix.shape
            boxes = np.full((n * n_texts, 4), np.nan, np.float32)
            if scores.boxes is not None:
                boxes = scores.boxes.reshape(-1, 4)
            columns = {
                "image": pa.array(np.repeat(np.array(ids, dtype=object), n_texts), pa.string()),
                "text": np.tile(np.arange(n_texts, dtype=np.int32), n),
                "score": scores.matrix.reshape(-1),
                **dict(zip(_BOX, boxes.T, strict=True)),
            }
            self._write(_part(chunk), pa.table(columns, schema=SCORES))

    def list_scored(self, chunks: int) -> set[int]:
        """The chunks whose scores are written."""
        files = set(self._folder.names(f"{self.uri}/scores"))
        return {chunk for chunk in range(chunks) if _part(chunk).rpartition("/")[2] in files}

    def require(self, chunks: int) -> None:
        """Raise OutputMissingError if the scores of a chunk are missing."""
        missing = sorted(set(range(chunks)) - self.list_scored(chunks))
        if missing:
            raise OutputMissingError(
                f"{self._folder.place}: {self.uri} lacks the scores of {len(missing)} of {chunks} "
                f"chunks, such as {_part(missing[0])}. Bring the files back, or label again."
            )

    def read_scores(self, chunks: int, texts: int) -> Iterator[tuple[list[str], Scores]]:
        """Read scores by chunk: ids, and a row each; OutputMissingError for a missing chunk."""
        for chunk in range(chunks):
            table = self._read(_part(chunk))
            if table.schema.equals(SEEN):
                yield table["image"].to_pylist(), Scores(_dense_matrix(table, texts), None, True)
            else:
                # Each image has a row for each text.
                ids = table["image"].take(pa.array(np.arange(0, len(table), texts))).to_pylist()
                values = table["score"].to_numpy().reshape(-1, texts)
                boxes = np.stack([table[name].to_numpy() for name in _BOX], axis=1)
                yield ids, Scores(values, boxes.reshape(-1, texts, 4))

    def _write(self, name: str, table: pa.Table) -> None:
        file = io.BytesIO()
        pq.write_table(table, file, compression="zstd")
        self._folder.write(f"{self.uri}/{name}", file.getvalue())

    def _read(self, name: str) -> pa.Table:
        return pq.read_table(io.BytesIO(self._folder.read(f"{self.uri}/{name}")))


def _sparse_table(ids: Sequence[str], matrix: Floats) -> pa.Table:
    unreadable = np.asarray(np.isnan(matrix).all(axis=1))
    rows, texts = np.nonzero(np.where(unreadable[:, None], 0, matrix))
    offsets = pa.array(np.searchsorted(rows, np.arange(len(matrix) + 1)).astype(np.int32))
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(values), mask=pa.array(unreadable))
        for values in (texts.astype(np.int32), matrix[rows, texts])
    ]
    return pa.table([pa.array(list(ids), pa.string()), *lists], schema=SEEN)


def _dense_matrix(table: pa.Table, texts: int) -> Floats:
    columns, scores = table["texts"].combine_chunks(), table["scores"].combine_chunks()
    counts = pc.list_value_length(columns)
    rows = np.repeat(np.arange(len(table)), counts.fill_null(0).to_numpy())

    matrix = np.zeros((len(table), texts), np.float32)
    matrix[rows, columns.flatten().to_numpy()] = scores.flatten().to_numpy()
    # Null is an image that could not be read.
    matrix[counts.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return matrix


def _part(chunk: int) -> str:
    return f"scores/part-{chunk:06}.parquet"


ReadImage = Callable[[int], ImageArray | None]
"""Reads the image at a place of the chunk; None where it cannot be read."""
AT_ONCE = 64
"""Images in memory at once; a model splits them into batches of its own."""


def score_chunk(
    annotator: Annotator,
    read: ReadImage,
    n: int,
    texts: Sequence[str],
    report: Callable[[int], None],
) -> Scores:
    """Score a chunk's images; unreadable ones get NaN.

    Parameters
    ----------
    report : callable
        Called with the number of images that are done; what it raises stops the work.

    Returns
    -------
    Scores
        Of shape (n, texts); boxes are given if the annotator has any.
    """
    matrix = np.full((n, len(texts)), np.nan, np.float32)
    boxes = np.full((n, len(texts), 4), np.nan, np.float32)
    has_boxes = only_seen = False
    for start in range(0, n, AT_ONCE):
        rows = range(start, min(start + AT_ONCE, n))
        images = {row: image for row in rows if (image := read(row)) is not None}
        if images:
            scores = annotator.score(list(images.values()), texts)
            # An annotator names what it sees in all images or in none.
            matrix[list(images)], only_seen = scores.matrix, scores.only_seen
            if scores.boxes is not None:
                boxes[list(images)], has_boxes = scores.boxes, True
        report(rows.stop)
    return Scores(matrix, boxes if has_boxes else None, only_seen)
