"""Tables without a header: layouts that are known by position, and signs that it is missing."""

import re
from collections.abc import Sequence

from cobalance.ingest.tables.guesses import IMAGE_FILE

_NUMBER = re.compile(r"\s*-?(\d+\.?\d*|\.\d+)\s*$")
_MAKE_SENSE = ("label", "bbox_x", "bbox_y", "bbox_width", "bbox_height", "image_name",
               "image_width", "image_height")  # fmt: skip
# Only the first and the third corner are written, and the others are empty.
_AUTO_ML = ("split", "image_path", "label", "xmin", "ymin", "column 6", "column 7", "xmax", "ymax",
            "column 10", "column 11")  # fmt: skip
_SETS = {"TRAIN", "TRAINING", "VALIDATION", "TEST", "UNASSIGNED"}


def names_by_position(row: Sequence[str]) -> tuple[str, ...] | None:
    """Names of the columns of MakeSense and of AutoML, by the first row; None for all others.

    Examples
    --------
    >>> names_by_position(["mug", "10", "20", "30", "40", "desk.jpg", "640", "480"])[5]
    'image_name'
    """
    if len(row) == len(_MAKE_SENSE) and IMAGE_FILE.search(row[5]):
        numbers = [*row[1:5], *row[6:]]
        return _MAKE_SENSE if all(map(_NUMBER.match, numbers)) else None

    if len(row) == len(_AUTO_ML) and row[0].upper() in _SETS and IMAGE_FILE.search(row[1]):
        is_empty = not any(map(str.strip, (*row[5:7], *row[9:])))
        return _AUTO_ML if is_empty else None
    return None


def is_row(header: Sequence[str]) -> bool:
    """Whether a first line is a row: it names a picture, or the same number twice.

    Examples
    --------
    >>> is_row(["1.jpg", "hen", "3"]), is_row(["image", "hen", "3"])
    (True, False)
    """
    numbers = list(filter(_NUMBER.match, header))
    return any(map(IMAGE_FILE.search, header)) or len(numbers) > len({*numbers})
