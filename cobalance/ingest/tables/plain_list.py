"""Lists without a header: an image and values a line, as of CUB, CelebA, Places365 and PACS."""

import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

from cobalance.base import InputError, Progress
from cobalance.ingest.names import omit, split_named, split_of_file
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.delimited import Delimited
from cobalance.ingest.tables.guesses import IMAGE_FILE
from cobalance.ingest.tables.loading import Table, column_names, text_rows
from cobalance.ingest.trees import lines_of

PRESENCE = "is present"  # column of whether an image has the attribute of the one before
_MOST, _LOOKED_AT = 3, 20  # fields, lines
_FIRST_PICTURE = re.compile(r"[^\t,]*?\.(?:jpe?g|png|webp|bmp|gif|tiff?)([\t, ])", re.IGNORECASE)
_NUMBER = re.compile(r"-?[\d.]+$")
# An id with digits, and one number, or names.
_ID_AND_NAME = re.compile(r"[\w./-]*\d[\w./-]* +(-?\d+$|(?!-?[\d.]+( |$))[^,\t]*$)")
_BOXES = re.compile(r"\S+,((-?\d+\.?\d*,){4}|,,,,)[^,]*$")


@dataclass(frozen=True)
class PlainList(Delimited):
    """Fields separated by tabs, commas or spaces.

    Columns are ``image_id`` (a number before the file name, or in its place) and ``path``; others
    are named after the file, or ``label`` where its name says a split, as in ``rock_train.txt``.
    More fields are the corners of a box and its object (RetinaNet), or an attribute and whether it
    is present (CUB).
    """

    description: str = "List without a header: an image's file name and values, by spaces or tabs"
    separators: str = "\t, "

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether the first line names an image file, and all have as many fields: two or three.

        In a file whose name says a split, an id with digits may stand for the image file.
        """
        text = head.decode("utf-8", "replace").strip()
        lines = list(map(str.strip, text.split("\n")[:_LOOKED_AT]))
        fields = list(map(re.compile(r"[\t, ]+").split, lines))

        widths = set(map(len, fields))
        if all(map(_BOXES.match, lines)):
            return IMAGE_FILE.search(lines[0].split(",")[0]) is not None
        if widths in ({2}, {3}) and any(map(IMAGE_FILE.search, fields[0])):
            return True
        return split_of_file(path.name) is not None and all(map(_ID_AND_NAME.match, lines))

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load all rows; 1 and -1 in VOC's list of a class say whether images show it."""
        if self._ends_in_names(path, problems):
            table = self._load_names(path, problems, progress)
        else:
            table = super().load(path, problems, progress)
        labels = table.columns.get("label")
        if labels is None or not {"-1"} <= {*labels.unique().to_pylist()} <= {"-1", "0", "1"}:
            return table

        words = re.split(r"[_-]", Path(problems.file).stem)
        named_words = filter(lambda word: word != "trainval" and not split_named(word), words)
        columns = omit(table.columns, ["label"])
        columns["_".join(named_words) or "label"] = labels
        return replace(table, columns=columns)

    def _ends_in_names(self, path: Path, problems: Problems) -> bool:
        """Whether lines are an image and a name of one or more words: ``0034309 Boeing 707``."""
        widths = set[int]()
        with path.open("rb") as file:
            for line in lines_of(file, problems.file):
                words = line.decode("utf-8", "replace").split()
                if b"\t" in line or b"," in line or any(map(IMAGE_FILE.search, words[1:])):
                    return False
                if len(words) > 2 and _NUMBER.match(words[1]):
                    return False
                widths.add(len(words))
        return min(widths - {0}, default=0) == 2 and max(widths) > 2

    def _load_names(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load lines of an image and a name, whose spaces stay."""
        size = path.stat().st_size
        with (
            path.open("rb") as raw,
            io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape") as file,
        ):
            pairs = (line.strip().split(maxsplit=1) for line in lines_of(file, problems.file))
            numbered = ((number, pair) for number, pair in enumerate(pairs, start=1) if pair)
            line, first = next(numbered)

            rows = text_rows(column_names(self.names(first, problems.file), problems), problems)
            rows.add(line, first)
            for line, pair in numbered:
                if rows.add(line, pair):
                    progress("read", raw.tell(), size)
        progress("read", size, size)
        return rows.table()

    def separator(self, line: str) -> str:
        """The separator after a picture's name that is first, or else that of most columns."""
        match = _FIRST_PICTURE.match(line)
        return match[1] if match else super().separator(line)

    def names(self, row: list[str], file: str) -> list[str]:
        """Names of the columns, by the first row and the name of the file."""
        if _BOXES.match(",".join(row)):
            return ["path", "x1", "y1", "x2", "y2", "label"]
        name = Path(file).stem
        if len(row) > _MOST and row[2] in ("0", "1") and all(map(str.isdecimal, row[:2])):
            return [
                "image_id",
                name,
                PRESENCE,
                *(f"{name} {number}" for number in range(3, len(row))),
            ]
        if len(row) > _MOST:
            raise InputError(
                file,
                "line 1",
                f"has {len(row)} fields a line and no header",
                "Put the names of its columns before it.",
            )

        path = next((n for n, field in enumerate(row) if IMAGE_FILE.search(field)), None)
        if split_of_file(Path(file).name):
            name = "label"
        names = [f"{name} {number}" for number in range(len(row))]
        # One value beside the id and the path needs no number.
        if len(row) - len({0, path} - {None}) == 1:
            names = [name] * len(row)
        names[0] = "image_id"
        if path is not None:
            names[path] = "path"
        return names
