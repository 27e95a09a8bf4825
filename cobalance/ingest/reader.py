"""Interfaces of readers of files and of folders, and opening annotation files."""

import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, Protocol

from cobalance.base import Annotations, Declaration, InputError, Progress, misfit
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.trees import FileTree, cannot_read, open_tree

HEAD = 65_536  # bytes that detection sees


class Reader(Protocol):
    """Reader of one format."""

    @property
    def description(self) -> str:
        """Description of the format in one line."""

    @property
    def uses(self) -> frozenset[str]:
        """Groups of options that the format heeds, beside those of all formats.

        Any of ``"table"`` (columns), ``"categories"`` (classes among them), ``"vocabulary"`` (words
        to look for in captions) and ``"own captions"``. ``"folders"`` says that the reader itself
        makes classes of folders.
        """

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has this format, by its first 64 KiB, without a byte order mark."""

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read the whole file, unfiltered.

        Raises
        ------
        InputError
            The file, or a record in it, cannot be used.
        """


class TreeReader(ABC):
    """Reader of a folder or an archive, as `Reader` is one of a file."""

    description: str
    uses: frozenset[str] = frozenset({"categories"})

    @abstractmethod
    def detects_tree(self, tree: FileTree) -> bool:
        """Whether a folder or archive has this format, judged by its files."""

    @abstractmethod
    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all of it, unfiltered; raises as `Reader.read`."""

    def detects(self, _path: Path, _head: bytes) -> bool:
        """Whether one file has this format: none has."""
        return False

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Open the folder or archive, and read it."""
        with open_tree(path) as tree:
            return self.read_tree(tree, options, progress)


@dataclass(frozen=True)
class Format(Declaration):
    """The declaration of an annotation format."""

    reader: Reader

    def fault(self, module: Any, opener_name: str) -> str:
        """Fault of the reader."""
        del module, opener_name
        return misfit(
            self.reader, "its reader", "detects(path, head); read(path, options, progress)"
        )


def format_of(name: str, reader: Reader) -> Format:
    """The declaration of a reader's format."""
    return Format(name, reader.description, reader)


def formats_of(readers: Mapping[str, Reader]) -> tuple[Format, ...]:
    """The declarations of a family of readers, by the names of their formats."""
    return tuple(starmap(format_of, readers.items()))


MOST_TEXT_BYTES = 1 << 24  # of a vocabulary, a word list or a mapping: 16 MiB
NAME_ANNOTATIONS = (
    "Name a file with annotations. If there is none, write a CSV file with the columns image, "
    "class and concepts and a line for each image, such as: cat/1.jpg,cat,sofa|lamp."
)
_BOM = b"\xef\xbb\xbf"
_TO_TABLE = "Write a CSV file with a line for each image, such as: cat/1.jpg,cat,sofa|lamp."
_FOREIGN = (
    (b"\x1f\x8b", "is compressed (gzip)", "Unpack it first: gunzip."),
    (b"PK\x03\x04", "is a ZIP archive or a spreadsheet", "Unpack it, or save the sheet as CSV."),
    (b"BZh", "is compressed (bzip2)", "Unpack it first: bunzip2."),
    (b"\xfd7zXZ", "is compressed (xz)", "Unpack it first: unxz."),
    (b"\x28\xb5\x2f\xfd", "is compressed (zstd)", "Unpack it first: unzstd."),
    (b"\xff\xfe", "is UTF-16, not UTF-8", "Save it as UTF-8."),
    (b"\xfe\xff", "is UTF-16, not UTF-8", "Save it as UTF-8."),
    (b"\x89HDF", "is HDF5, which no reader knows", "Export it as CSV or Parquet."),
    (b"MATLAB 5.0 MAT-file", "is MATLAB's, which no reader knows", _TO_TABLE),
    (b"\x93NUMPY", "is an array of NumPy, which no reader knows", _TO_TABLE),
    (b"SQLite format 3", "is a database of SQLite, which no reader knows", _TO_TABLE),
    (b"\x89PNG", "is an image", "Name the file with its annotations."),
    (b"\xff\xd8\xff", "is an image", "Name the file with its annotations."),
)


_FOREIGN_NAMES = (
    (
        re.compile(r"\.tfrecords?(-\d+-of-\d+)?$|\.tfrecord-|\.tfrec$"),
        "is TFRecord, which no reader knows",
        "Export its dataset as COCO, CSV or folders, or name one of these beside it.",
    ),
    (
        re.compile(r"\.(pkl|pickle|pt|pth|joblib)(\.gz)?$|(^|/)(data|test)_batch(_\d)?$"),
        "is a pickle, which may run any program as it is read, so that no reader opens it",
        "Write its content as CSV or folders with a script that you trust.",
    ),
    (
        re.compile(r"-idx\d-ubyte(\.gz)?$|\.idx\d-ubyte(\.gz)?$"),
        "is IDX, as MNIST has it, which no reader knows",
        "Save its images as files in a folder for each class.",
    ),
    (re.compile(r"\.mat$"), "is MATLAB's, which no reader knows", _TO_TABLE),
    (re.compile(r"\.(h5|hdf5)$"), "is HDF5, which no reader knows", _TO_TABLE),
    (re.compile(r"\.np[yz]$"), "holds arrays of NumPy, which no reader knows", _TO_TABLE),
    (
        re.compile(r"\.lmdb$|(^|/)data\.mdb$"),
        "is a database of LMDB, which no reader knows",
        "Save its images as files, and their annotations as CSV.",
    ),
    (re.compile(r"\.(xlsx?|ods)$"), "is a spreadsheet", "Save the sheet as CSV."),
)


def foreign_fault(name: str) -> tuple[str, str] | None:
    """Why no reader takes a file of this name, and the remedy; None for any other.

    Examples
    --------
    >>> foreign_fault("t10k-labels-idx1-ubyte")[0], foreign_fault("labels.csv")
    ('is IDX, as MNIST has it, which no reader knows', None)
    """
    for pattern, reason, remedy in _FOREIGN_NAMES:
        if pattern.search(name.lower()):
            return reason, remedy
    return None


def read_head(path: Path, content: str = "annotations") -> bytes:
    """Read a file's first bytes without a byte order mark; `content` is for the error.

    Raises
    ------
    InputError
        As `read_start`, or it is empty, or of a kind that no reader takes (compressed, an image,
        not UTF-8).
    """
    head = read_start(path).removeprefix(_BOM)
    if (fault := foreign_fault(path.name)) is not None and not _is_text(head):
        raise InputError(str(path), None, *fault)
    if not head.strip():
        raise InputError(str(path), None, "is empty", f"Name a file with {content}.")

    for magic, reason, remedy in _FOREIGN:
        if head.startswith(magic):
            raise InputError(str(path), None, reason, remedy)
    return head


def _is_text(head: bytes) -> bool:
    """Whether a file's first bytes are text."""
    return bool(head.strip()) and b"\0" not in head and not head.startswith(b"\x80")


def read_start(path: Path) -> bytes:
    """Read a file's first bytes, of any content.

    Raises
    ------
    InputError
        There is no such file, it is a folder, a pipe or a device, or it cannot be read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(str(path), None, "is a folder", NAME_ANNOTATIONS)
        # A pipe waits for whoever writes, and a device never ends.
        if not stat.S_ISREG(mode):
            raise InputError(
                str(path),
                None,
                "is a pipe or a device, not a file",
                "Save its content to a file, and name that.",
            )
        with path.open("rb") as file:
            return file.read(HEAD)
    except FileNotFoundError:
        scheme, colon, rest = str(path).partition(":/")
        # A path has one slash where an address has two.
        if colon and scheme.isalnum():
            reason, remedy = "is an address, not a file", "Download it, and name the file."
            raise InputError(f"{scheme}://{rest.lstrip('/')}", None, reason, remedy) from None
        raise InputError(
            str(path), None, "there is no such file", "Check the path and its spelling."
        ) from None
    except OSError as error:
        raise cannot_read(path, error) from None


def read_text(path: Path, content: str = "text") -> str:
    """Read a small UTF-8 text file; `content` is for the error.

    Raises
    ------
    InputError
        As `read_head`, a byte is not UTF-8, or it is larger than 16 MiB.
    """
    read_head(path, content)

    if path.stat().st_size > MOST_TEXT_BYTES:
        raise InputError(
            str(path),
            None,
            f"is larger than {MOST_TEXT_BYTES >> 20} MiB",
            "Name the text file that was meant.",
        )

    try:
        return path.read_bytes().removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            str(path),
            f"line {line}",
            f"the byte 0x{error.object[error.start]:02x} is not UTF-8",
            "Save the file as UTF-8.",
        ) from None
