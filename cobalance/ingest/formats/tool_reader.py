"""Readers of labelling tools' exports: one file, or one for each image, beside the images."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from cobalance.graph.progress import Progress
from cobalance.graph.records import Annotations
from cobalance.ingest.collector import Collector
from cobalance.ingest.documents import UNDECODABLE
from cobalance.ingest.formats.image_folder import IMAGE_ENDINGS
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import HEAD, TreeReader
from cobalance.ingest.trees import FileTree

_SPLITS = {"train": "train", "val": "val", "validation": "val", "test": "test"}
_LOOKED_AT = 20  # files of a folder, of which the first may be about the project
_FAULTS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, *UNDECODABLE)


@dataclass
class Picture:
    """An image with arguments of `Collector.image`, and of `Collector.mention` for its objects.

    `file` is the name of its picture, where that is not its own.
    """

    name: str
    width: float | str | None = None
    height: float | str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    split: str | None = None
    file: str | None = None
    objects: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = str(self.name)

    def add(self, concept: object, place: Mapping[str, Any], attributes: Any = None) -> None:
        """Add an object with its box and outline."""
        self.objects.append({"concept": str(concept), **place, "attributes": attributes})


Records = Iterator[tuple[str, Callable[[], Picture]]]
"""Places of images in a file, and what makes them of their records, or raises an error."""


@dataclass(frozen=True)
class ToolReader(TreeReader):
    """Reader of one tool's files, which all have some `marks` in their first 64 KiB.

    `records` takes a file's content, and its name without the ending.
    """

    description: str
    marks: tuple[bytes, ...]
    records: Callable[[bytes, str], Records]
    endings: tuple[str, ...] = (".json", ".ndjson")

    def detects(self, _path: Path, head: bytes) -> bool:
        """Whether a file has all marks."""
        is_text = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{", b"<")
        return is_text and all(mark in head for mark in self.marks)

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether one of the first files has all marks."""
        names = tree.below("", *self.endings)[:_LOOKED_AT]
        return any(self._is_one(tree, name) for name in names)

    def _is_one(self, tree: FileTree, name: str) -> bool:
        with tree.open(name) as file:
            return self.detects(tree.path, file.read(HEAD))

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read a folder, an archive, or one file."""
        if not path.is_file() or path.suffix.lower() not in self.endings:
            return super().read(path, options, progress)
        problems = Problems(str(path), options)
        collector = Collector(problems, options)
        self._collect(path.read_bytes(), path.name, "", {}, collector, problems)
        return collector.annotations(progress)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all files with the marks, and look for their images."""
        problems = Problems(str(tree.path), options)
        collector, pictures = Collector(problems, options), dict[str, str]()
        for path in tree.below("", *IMAGE_ENDINGS):
            keys = PurePosixPath(path).stem, PurePosixPath(path).name, path.partition("images/")[2]
            pictures |= dict.fromkeys((*keys, path), path)
        names = tree.below("", *self.endings)
        for number, name in enumerate(names):
            progress("read", number, len(names))
            if self._is_one(tree, name):
                self._collect(tree.read(name), name, f"{name}, ", pictures, collector, problems)
        return collector.annotations(progress)

    def _collect(
        self,
        content: bytes,
        file: str,
        place: str,
        pictures: Mapping[str, str],
        collector: Collector,
        problems: Problems,
    ) -> None:
        path = PurePosixPath(file)
        split = next((_SPLITS[it] for it in (*path.parts, path.stem) if it in _SPLITS), None)
        records = self.records(content, path.stem)
        while True:
            at = ""
            try:
                at, make = next(records, ("", None))
                if make is None:
                    return
                found = make()
                width, height = (int(float(it or 0)) or None for it in (found.width, found.height))
            except _FAULTS as error:
                kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
                reason = f"has a value that is missing or wrong ({kind}{error})"[:200]
                problems.record(f"{place}{at}".rstrip(", ") or file, reason, "Export it anew")
                continue
            name, where = found.file or found.name, f"{place}{at}".rstrip(", ")
            row = collector.image(
                found.name,
                where,
                uri=pictures.get(name, pictures.get(name.rsplit("/", 1)[-1], name)),
                width=width,
                height=height,
                split=found.split or split,
                metadata=found.metadata,
            )
            for count, one in enumerate(found.objects, start=1):
                collector.mention(row, place=f"{where}, object {count}", **one)
