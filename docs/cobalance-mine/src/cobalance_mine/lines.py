"""A line for each image: its path, its class, and its concepts."""

from dataclasses import dataclass
from pathlib import Path

from cobalance.base.errors import InputError
from cobalance.base.progress import Progress
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.reader import Format, read_text

FIRST = "#lines"


@dataclass(frozen=True)
class LinesReader:
    """Reads files such as ``1.jpg cat sofa lamp``, below a first line ``#lines``."""

    description: str = "A line for each image: path, class and concepts"
    uses: frozenset[str] = frozenset()

    def detects(self, path: Path, head: bytes) -> bool:
        """Tell by the first line."""
        return head.startswith(FIRST.encode())

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all lines."""
        records = []
        for number, line in enumerate(read_text(path).splitlines()[1:], start=2):
            words = line.split()
            if len(words) < 2:
                raise InputError(
                    str(path), f"line {number}", "has no class", "Write a path and a class."
                )
            image, name, *concepts = words
            mentions = tuple(Mention(concept) for concept in concepts)
            records.append(ImageRecord(image, name, mentions, options.split, image))
        return Annotations.from_records(records)


PLUGIN = Format("lines", LinesReader.description, LinesReader())
