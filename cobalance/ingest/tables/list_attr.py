"""Lists of CelebA and DeepFashion: a count, names of columns, then a line for each image."""

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path

from cobalance.base.errors import Setting
from cobalance.base.progress import Progress
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.columns import PRESENT, USUAL_NAMES
from cobalance.ingest.tables.loading import Table, column_names, text_rows
from cobalance.ingest.trees import lines_of

ID = "image_id"


@dataclass(frozen=True)
class ListAttr:
    """Fields separated by white space; the first column, of file names, may be unnamed.

    Without its name the others are attributes with -1 or 1, as of CelebA. Several values under one
    name are a list of those that are 1, by their numbers, as of DeepFashion.
    """

    description: str = "CelebA's and DeepFashion's lists: a count, names of columns, then values"

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether a number is first, then names with that of the images, or numbers below them."""
        lines = head.split(b"\n", 3)
        if len(lines) < 3 or not lines[0].strip().isdigit() or not lines[1].strip():
            return False
        values = lines[2].split()[1:]
        has_id = _names_images(lines[1].decode(errors="replace").split())
        return bool(values) and (has_id or all(it.lstrip(b"-").isdigit() for it in values))

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows as text; the file names become the column ``image_id``."""
        size = path.stat().st_size
        with (
            path.open("rb") as raw,
            io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape") as file,
        ):
            lines = lines_of(file, problems.file)
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
                    "should be the names of the attributes, and is empty",
                    "Write them there.",
                    "line 2",
                )
            if has_id := _names_images(names):
                del names[0]
            names = column_names([ID, *names], problems, "line 2")[1:]
            rows = text_rows([ID, *names], problems)
            seen = 0
            for number, line in enumerate(lines, start=3):
                row = line.split()
                if not row:
                    continue
                seen += 1
                if has_id and len(names) == 1 and len(row) > 2:
                    shown = [str(at) for at, it in enumerate(row) if at and it == "1"]
                    row = [row[0], json.dumps(shown)]
                if len(row) != len(names) + 1:
                    problems.record(
                        f"line {number}",
                        f"has {len(row) - 1} values for {len(names)} attributes",
                        "Write a file name without spaces, and one value an attribute",
                    )
                elif not (has_id or PRESENT.keys() >= {*row[1:]}):
                    odd = next(at for at, it in enumerate(row) if at and it not in PRESENT)
                    problems.record(
                        f"line {number}",
                        f"the column {names[odd - 1]!r} holds {row[odd]!r}, not -1, 0 or 1",
                        "Write -1 or 1",
                    )
                elif rows.add(number, list(row)):
                    progress("read", raw.tell(), size)
        if seen != int(count):
            raise problems.fatal(
                f"announces {int(count):,} images, and {seen:,} follow",
                "Correct the number, or get the whole file again.",
                "line 1",
            )
        progress("read", size, size)
        return replace(rows.table(), concept_columns=() if has_id else tuple(names))


def _names_images(header: list[str]) -> bool:
    return header[0].lower() in USUAL_NAMES["id"].split()
