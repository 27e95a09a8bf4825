"""Interface of readers of datasets that are a folder or an archive of files."""

from abc import ABC, abstractmethod
from pathlib import Path

from cobalance.graph.progress import Progress
from cobalance.graph.records import Annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.trees import FileTree, open_tree


class TreeReader(ABC):
    """Reader of a folder or an archive, as `cobalance.ingest.reader.Reader` is one of a file."""

    description: str
    uses: frozenset[str] = frozenset({"categories"})

    @abstractmethod
    def detects_tree(self, tree: FileTree) -> bool:
        """Whether a folder or archive has this format, judged by its files."""

    @abstractmethod
    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all of it, unfiltered; raises as `cobalance.ingest.reader.Reader.read`."""

    def detects(self, _path: Path, _head: bytes) -> bool:
        """Whether one file has this format: none has."""
        return False

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Open the folder or archive, and read it."""
        with open_tree(path) as tree:
            return self.read_tree(tree, options, progress)
