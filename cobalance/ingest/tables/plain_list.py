"""Lists without a header: an image and values a line, as of CUB, CelebA, Places365 and PACS."""

import re
from dataclasses import dataclass
from pathlib import Path

from cobalance.base import InputError
from cobalance.ingest.names import split_of_file
from cobalance.ingest.tables.delimited import Delimited
from cobalance.ingest.tables.guesses import IMAGE_FILE

PRESENCE = "is present"  # column of whether an image has the attribute of the one before
_MOST, _LOOKED_AT = 3, 20  # fields, lines
_FIRST_PICTURE = re.compile(r"[^\t,]*?\.(?:jpe?g|png|webp|bmp|gif|tiff?)([\t, ])", re.IGNORECASE)
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

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether the first line names an image file, and all have as many fields: two or three."""
        text = head.decode("utf-8", "replace").strip()
        lines = list(map(str.strip, text.split("\n")[:_LOOKED_AT]))
        fields = list(map(re.compile(r"[\t, ]+").split, lines))

        widths = set(map(len, fields))
        if all(map(_BOXES.match, lines)):
            return IMAGE_FILE.search(lines[0].split(",")[0]) is not None
        return widths in ({2}, {3}) and any(map(IMAGE_FILE.search, fields[0]))

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
