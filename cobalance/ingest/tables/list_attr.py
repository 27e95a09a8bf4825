"""Lists of CelebA and DeepFashion: a count, names of columns, then a line for each image."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cobalance.base import Progress, Setting
from cobalance.ingest.names import split_named
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.guesses import USUAL_NAMES
from cobalance.ingest.tables.loading import Table, column_names, text_rows
from cobalance.ingest.tables.values import FLAGS
from cobalance.ingest.trees import lines_of

ID = "image_id"
PARTITION = "list_eval_partition.txt"
"""Name of the list of splits beside the attributes."""
_PARTS = {"0": "train", "1": "val", "2": "test"}  # as CelebA numbers them
_LOOKED_AT = 20  # rows


@dataclass(frozen=True)
class ListAttr:
    """Fields separated by white space; the first column, of file names, may be unnamed.

    Without its name the others are attributes with -1 or 1, as of CelebA. Several values under one
    name are a list of those that are 1, by their numbers, as of DeepFashion.
    """

    description: str = "CelebA's and DeepFashion's lists: a count, names of columns, then values"

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether a number is first, then names with that of the images, or flags below them."""
        lines = head.decode(errors="replace").split("\n")[: _LOOKED_AT + 2]
        rows = list(filter(None, map(str.split, lines[2:])))
        if not lines[0].strip().isdigit() or not rows or not lines[1].strip():
            return False

        names = lines[1].split()
        if _names_images(names):
            return len(rows[0]) > 1

        # Landmarks and pairs of faces are numbers, too; a header with a number is one of those.
        if any(name.lstrip("-").isdigit() for name in names):
            return False

        values = [value for row in rows if len(row) == len(names) + 1 for value in row[1:]]
        return 2 * sum(value in FLAGS for value in values) > len(values)

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows as text; the file names become the column ``image_id``."""
        size = path.stat().st_size
        with (
            path.open("rb") as raw,
            io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape") as file,
        ):
            lines = lines_of(file, problems.file)
            announced, names, has_id = _read_header(lines, problems)
            rows = text_rows([ID, *names], problems)
            n_images = 0
            for number, line in enumerate(lines, start=3):
                row = line.split()
                if not row:
                    continue
                n_images += 1
                # Values of more columns than there are names are flags of one of them.
                if has_id and len(names) == 1 and len(row) > 2:
                    row = [row[0], _numbers_of_ones(row)]
                fault = _find_fault(row, names, has_id)
                if fault is not None:
                    problems.record(f"line {number}", *fault)
                elif rows.add(number, row):
                    progress("read", raw.tell(), size)

        if n_images != announced:
            raise problems.fatal(
                f"announces {announced:,} images, and {n_images:,} follow",
                "Correct the number, or get the whole file again.",
                "line 1",
            )
        progress("read", size, size)
        return replace(rows.table(), concept_columns=() if has_id else tuple(names))


def read_partition(lines: Iterable[str]) -> dict[str, str]:
    """Splits of images by their names; a count and a header, as of DeepFashion, name none.

    Examples
    --------
    >>> read_partition(["2", "image_name evaluation_status", "img/1.jpg train", "000002.jpg 2"])
    {'img/1.jpg': 'train', '000002.jpg': 'test'}
    """
    splits = dict[str, str]()
    for name, *values in filter(None, map(str.split, lines)):
        split = _PARTS.get(values[-1]) or split_named(values[-1]) if values else None
        if split:
            splits[name] = split
    return splits


def _read_header(lines: Iterator[str], problems: Problems) -> tuple[int, list[str], bool]:
    """The number of images, the names of the columns behind the id, and whether it is named."""
    count = next(lines, "").strip()
    if not count.isdigit():
        raise problems.fatal(
            f"should be the number of images, and is {count[:40]!r}",
            ("Write it there, or choose another ", Setting("input_format"), "."),
            "line 1",
        )

    names = next(lines, "").split()
    if not names:
        raise problems.fatal(
            "should be the names of the attributes, and is empty", "Write them there.", "line 2"
        )

    has_id = _names_images(names)
    if has_id:
        del names[0]
    return int(count), column_names([ID, *names], problems, "line 2")[1:], has_id


def _numbers_of_ones(row: Sequence[str]) -> str:
    """Numbers of the columns that are 1, as a JSON list of text."""
    return json.dumps([str(number) for number, value in enumerate(row) if number and value == "1"])


def _find_fault(row: Sequence[str], names: Sequence[str], has_id: bool) -> tuple[str, str] | None:
    """The fault of a row, and what to do about it; None for none."""
    if len(row) != len(names) + 1:
        reason = f"has {len(row) - 1} values for {len(names)} attributes"
        return reason, "Write a file name without spaces, and one value an attribute"
    if has_id:
        return None
    for name, value in zip(names, row[1:], strict=True):
        if value not in FLAGS:
            return f"the column {name!r} holds {value!r}, not -1, 0 or 1", "Write -1 or 1"
    return None


def _names_images(header: list[str]) -> bool:
    return header[0].lower() in USUAL_NAMES["id"]
