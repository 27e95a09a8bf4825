"""LVIS: COCO instances of 1,203 categories, each annotated in a part of the images only."""

from dataclasses import dataclass, replace
from pathlib import Path

from cobalance.base import Annotations, Progress
from cobalance.ingest.coco import coco_kind
from cobalance.ingest.formats.coco_instances import CocoInstances
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.reader import HEAD, format_of

_MARKS = (b'"neg_category_ids"', b'"not_exhaustive_category_ids"')
_FEDERATED = (
    "LVIS looks for a category in some of the images only: an image without it may show it, so "
    "counts of classes compare only where both were looked at alike"
)


@dataclass(frozen=True)
class Lvis:
    """Reader of LVIS, as of COCO instances; images are named by the end of their COCO address."""

    description: str = "LVIS: COCO instances of 1,203 categories as one JSON file"
    uses: frozenset[str] = frozenset({"categories"})

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether images, at the start or the end of the file, say which categories are absent."""
        if coco_kind(path) != "instances":
            return False
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - HEAD))
            ends = head + file.read()
        return any(mark in ends for mark in _MARKS)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read images, categories and annotations, and derive the images' classes."""
        instances = CocoInstances().read(path, options, progress)
        return replace(instances, notes=(*instances.notes, f"{path}: {_FEDERATED}"))


PLUGIN = format_of("lvis", Lvis())
