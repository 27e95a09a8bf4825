"""Parquet file of a dataset's regions, sorted by image id.

Each region has a digest of all regions of its image, by which a write finds the differences
without reading the regions.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from cobalance.ingest.frames import NUMBERS
from cobalance.ingest.stored.dataset_files import DatasetFiles
from cobalance.ingest.stored.sorted_parquet import SortedFile, open_sorted

OUTLINE = "segmentation"
CROWD = "crowd"
SIZE = ("width_px", "height_px")
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("concept", pa.string()),
        *((name, pa.float64()) for name in NUMBERS),
        (OUTLINE, pa.string()),
        (CROWD, pa.bool_()),
        *((f"image_{name}", pa.int32()) for name in SIZE),
    ]
)
DIGEST = "image_digest"
STORED = SCHEMA.append(pa.field(DIGEST, pa.int64()))
OF_FEW_VALUES = [name for name in STORED.names if name not in (*NUMBERS, OUTLINE, CROWD)]
GROUP_ROWS = 512
"""Approximate rows per group: fewer make a file slower to open, more make it slower to read."""

_CONTENT = "regions"


def region_files(folder: Path) -> DatasetFiles:
    """The region files of all datasets."""
    return DatasetFiles(folder, _CONTENT)


def open_regions(path: Path) -> SortedFile | None:
    """Open a region file; None if there is none."""
    return open_sorted(path, _CONTENT)


def all_regions(opened: SortedFile) -> Iterator[tuple[pa.Table, str]]:
    """Read all row groups, each with the id of its last image."""
    return zip(opened.groups(STORED), opened.last_ids, strict=True)


def regions_of(opened: SortedFile, groups: list[int]) -> pa.Table:
    """Read the regions of some row groups."""
    return opened.read(groups, SCHEMA)


def digests_of(opened: SortedFile) -> dict[str, int]:
    """Digest of each image."""
    schema = pa.schema([SCHEMA.field("id"), STORED.field(DIGEST)])
    table = opened.read(range(len(opened.last_ids)), schema)
    found = table.group_by("id").aggregate([(DIGEST, "min")])  # it is the same in each row
    columns = found["id"].to_pylist(), found[f"{DIGEST}_min"].to_pylist()
    return dict(zip(*columns, strict=True))
