"""Boxes in columns of a table with a row for each object: by corners, or a corner and a size."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.base import MENTION_NUMBERS, BoolArray, FloatArray
from cobalance.ingest.frames import ImageColumns
from cobalance.ingest.names import omit, without
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import RowProblems
from cobalance.ingest.tables.guesses import CONCEPT_COLUMNS, normal_name, usual_column
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.tables.values import MISSING

_CORNERS = ("xmin ymin xmax ymax", "x1 y1 x2 y2", "left top right bottom")
_SIZES = ("x y w h", "x y width height", "xmin ymin width height", "left top width height")
_OBJECTS = {*CONCEPT_COLUMNS, "class_id", "category_id", "category_name"}
_BEFORE = re.compile(r"^(bounding_?box|bbox|box)_?|_")


@dataclass(frozen=True, eq=False)
class BoxColumns:
    """Columns of the sides of boxes, and that of their objects; without any, `object` is empty.

    `others` is the table without them.
    """

    table: Table
    others: Table
    sides: tuple[str, ...]
    are_corners: bool
    object: str


def find_boxes(table: Table, options: ReadOptions) -> BoxColumns | None:
    """The columns of boxes, unless options name one of them.

    A column of classes is of the objects, unless an option takes it for the class of images.
    """
    named = {_BEFORE.sub("", normal_name(name)): name for name in table.columns}
    pattern = next(
        (names for names in (*_CORNERS, *_SIZES) if named.keys() >= {*names.split()}), ""
    )

    sides = tuple(named[side] for side in pattern.split())
    chosen = {*options.concept_columns, *options.field, options.width_column, options.height_column}
    if not sides or not chosen.isdisjoint(sides):
        return None

    free = without(table.columns, sides)
    near = (name for name in free if normal_name(name) in _OBJECTS)
    label = "" if options.class_column else usual_column("class", free) or next(near, "")
    others = omit(table.columns, {*sides, label})
    return BoxColumns(table, replace(table, columns=others), sides, pattern in _CORNERS, label)


def read_boxes(boxes: BoxColumns, images: ImageColumns, rows: RowProblems) -> dict[str, FloatArray]:
    """Sides of each row's box in pixels, NaN for none.

    Those from 0 to 1 are relative, and of no use without columns of the images' sizes.
    """
    texts = pa.table(boxes.table.columns).select([*boxes.sides]).to_pandas().astype(str)
    filled = ~texts.apply(lambda text: text.str.strip()).isin({*MISSING}).to_numpy().T
    sides = texts.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64).T

    values = sides.copy()
    if boxes.are_corners:
        values[2:] -= values[:2]
    wrong: BoolArray = np.any(~np.isfinite(values), axis=0) | np.any(values[2:] < 0, axis=0)

    rows.report(
        wrong & filled.any(axis=0),
        lambda row: f"{', '.join(boxes.sides)} are {sides[:, row].tolist()}, which is no box",
        "Write four numbers, or leave all of them empty",
    )

    values[:, wrong] = np.nan
    if not wrong.all() and np.abs(sides[:, ~wrong]).max() <= 1:
        # Relative sides become pixels.
        for side, size in zip(values, (images.widths, images.heights) * 2, strict=True):
            side *= size.to_numpy(zero_copy_only=False)
    return dict(zip(MENTION_NUMBERS[2:], values, strict=True))
