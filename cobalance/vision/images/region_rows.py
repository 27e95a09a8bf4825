"""Parquet file of a dataset's regions, sorted by image id, and the rows that annotations add to it.

Each region has a digest of all regions of its image, by which a write finds the differences
without reading the regions.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import union_categoricals

from cobalance.base import MENTION_NUMBERS, Annotations, IntArray
from cobalance.vision.stored import DatasetFiles, SortedFile

OUTLINE = "segmentation"
CROWD = "crowd"
SIZE = ("width_px", "height_px")
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("concept", pa.string()),
        *((name, pa.float64()) for name in MENTION_NUMBERS),
        (OUTLINE, pa.string()),
        (CROWD, pa.bool_()),
        *((f"image_{name}", pa.int32()) for name in SIZE),
    ]
)
DIGEST = "image_digest"
STORED = SCHEMA.append(pa.field(DIGEST, pa.int64()))
OF_FEW_VALUES = [name for name in STORED.names if name not in (*MENTION_NUMBERS, OUTLINE, CROWD)]
GROUP_ROWS = 512
"""Approximate rows per group: fewer make a file slower to open, more make it slower to read."""

REGIONS = "regions"
"""What the files hold, for messages."""
# In all digests: change it when the same annotations are written differently.
_WRITTEN_AS = b"regions 1"
_COLUMNS = ("image", *MENTION_NUMBERS, OUTLINE, CROWD)
# Added to an outline's length in the digest of a crowd; no outline is as long.
_OF_CROWD = 1 << 40


def region_files(folder: Path) -> DatasetFiles:
    """The region files of all datasets."""
    return DatasetFiles(folder, REGIONS)


def digests_of(opened: SortedFile) -> dict[str, int]:
    """Digest of each image."""
    schema = pa.schema([SCHEMA.field("id"), STORED.field(DIGEST)])
    table = opened.read(range(len(opened.last_ids)), schema)
    # All rows of an image have its digest.
    images = table.group_by("id").aggregate([(DIGEST, "min")])
    digests = images[f"{DIGEST}_min"].to_pylist()
    return dict(zip(images["id"].to_pylist(), digests, strict=True))


@dataclass(frozen=True, eq=False)
class RegionRows:
    """Regions of annotations, sorted by image id.

    Parameters
    ----------
    ids : list of str
        Images with regions, sorted.
    bounds : int64 array
        Image i has the regions ``order[bounds[i]:bounds[i + 1]]``.
    order : int64 array
        Rows of `mentions`.
    all_ids : frozenset of str
        All images, including those without regions.
    mentions : dict of str to array
        Columns of the mentions.
    images : dict of str to pyarrow.Array
        Columns of the images, and as ``concept`` the names of the mentions' codes.
    """

    ids: list[str]
    bounds: IntArray
    order: IntArray
    all_ids: frozenset[str]
    mentions: dict[str, npt.NDArray[Any]]
    images: dict[str, pa.Array]

    @classmethod
    def of(cls, annotations: Annotations) -> "RegionRows":
        """Collect the regions of annotations."""
        images, mentions = annotations.images, _with_objects(annotations)
        # Longer than nothing, null, [] and {}.
        outlined = (
            outline is not None and len(outline) > 4 for outline in mentions["segmentation"]
        )
        has_region = np.fromiter(outlined, bool, len(mentions)) | mentions["x_px"].notna()
        rows = np.flatnonzero(has_region)

        # The rank of an image is its place in the order of ids.
        ids = images["id"].tolist()
        by_id = sorted(range(len(ids)), key=ids.__getitem__)
        rank = np.empty(len(ids), dtype=np.int64)
        rank[by_id] = np.arange(len(ids))
        ranks = rank[mentions["image"].to_numpy()[rows]]
        used, counts = np.unique(ranks, return_counts=True)

        mention_columns = {name: mentions[name].to_numpy() for name in _COLUMNS}
        mention_columns["concept"] = mentions["concept"].cat.codes.to_numpy()
        concepts = mentions["concept"].cat.categories.tolist()
        return cls(
            ids=[ids[by_id[position]] for position in used.tolist()],
            bounds=np.concatenate([[0], np.cumsum(counts)]),
            order=rows[np.argsort(ranks, kind="stable")],
            all_ids=frozenset(ids),
            mentions=mention_columns,
            images={
                "id": pa.array(ids, pa.string()),
                "concept": pa.array(concepts, pa.string()),
                **{f"image_{name}": pa.array(images[name], pa.int32()) for name in SIZE},
            },
        )

    @cached_property
    def digests(self) -> IntArray:
        """64-bit digest of each image's regions, in order of the images.

        Outlines count as text, white space included. Images without crowds have the same digest as
        before crowds were stored.
        """
        names = [_digest(name.encode()) for name in self.images["concept"].to_pylist()]
        concepts = np.array(names, dtype=np.int64)
        sizes = []
        for name in SCHEMA.names[-len(SIZE) :]:
            size = pc.fill_null(self.images[name], -1).to_numpy(zero_copy_only=False)
            sizes.append(size.astype(np.int64))

        digests = []
        for start, end in self.batches(0, len(self.ids)):
            rows = self.order[self.bounds[start] : self.bounds[end]]
            outlines = self.mentions[OUTLINE][rows].tolist()
            lengths = np.array([-1 if outline is None else len(outline) for outline in outlines])
            image = self.mentions["image"][rows]
            fields = np.column_stack(
                [
                    concepts[self.mentions["concept"][rows]],
                    *(self.mentions[name][rows].view(np.int64) for name in MENTION_NUMBERS),
                    *(size[image] for size in sizes),
                    lengths + self.mentions[CROWD][rows] * _OF_CROWD,
                ]
            )
            texts = [outline or b"" for outline in outlines]
            bounds = self.bounds[start : end + 1] - self.bounds[start]
            for first, last in pairwise(bounds.tolist()):
                content = fields[first:last].tobytes() + b"".join(texts[first:last])
                digests.append(_digest(content))
        return np.array(digests, dtype=np.int64)

    def batches(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Split a range of images into ranges of about one row group of regions."""
        cuts = np.flatnonzero(np.diff(self.bounds[start:end] // GROUP_ROWS)) + start + 1
        yield from pairwise([start, *cuts.tolist(), end])

    def table(self, start: int, end: int) -> pa.Table:
        """Regions of a range of images, as a table."""
        rows = self.order[self.bounds[start] : self.bounds[end]]
        image = pa.array(self.mentions["image"][rows])
        columns = {
            "id": self.images["id"].take(image),
            "concept": self.images["concept"].take(pa.array(self.mentions["concept"][rows])),
        }
        for name in MENTION_NUMBERS:
            columns[name] = pa.array(self.mentions[name][rows], from_pandas=True)

        outlines = map(_compact, self.mentions[OUTLINE][rows])
        columns[OUTLINE] = pa.array(outlines, pa.string(), size=len(rows))
        columns[CROWD] = pa.array(self.mentions[CROWD][rows])
        for name in SCHEMA.names[-len(SIZE) :]:
            columns[name] = self.images[name].take(image)

        n_regions = np.diff(self.bounds[start : end + 1])
        columns[DIGEST] = np.repeat(self.digests[start:end], n_regions)
        return pa.table(columns, schema=STORED)


def has_regions(annotations: Annotations) -> bool:
    """Whether some mention or object may have a region: without any, there is nothing to sort."""
    mentions = annotations.mentions
    return annotations.objects is not None or bool(
        mentions["x_px"].notna().any() or mentions["segmentation"].notna().any()
    )


def _with_objects(annotations: Annotations) -> pd.DataFrame:
    """Mentions, followed by the objects of the class as mentions of it."""
    mentions, objects = _with_crowds(annotations.mentions), annotations.objects
    if objects is None or objects.empty:
        return mentions

    classes = annotations.images["class_name"].iloc[objects["image"]]
    mentions = mentions.drop(columns="source")
    objects = _with_crowds(objects).assign(concept=classes.array)
    both = pd.concat([mentions, objects], ignore_index=True)
    # Its names come from two sets of categories.
    return both.assign(concept=union_categoricals([mentions["concept"], classes]))


def _with_crowds(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if CROWD in frame else frame.assign(**{CROWD: False})


def _digest(content: bytes) -> int:
    digest = hashlib.blake2b(content, digest_size=8, person=_WRITTEN_AS).digest()
    return int.from_bytes(digest, "little", signed=True)


def _compact(outline: bytes | None) -> bytes | None:
    """JSON without spaces; None unless it may be polygons or a run-length encoding."""
    if outline is None:
        return None
    text = bytes(outline).translate(None, b" \t\r\n")
    if text[:1] not in (b"[", b"{") or len(text) <= 2 or not text.isascii():
        return None
    return text
