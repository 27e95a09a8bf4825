"""Boxes in a table with a row for each object: a column for each side, or all in a cell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import MENTION_NUMBERS, BoolArray, FloatArray
from cobalance.ingest.frames import TEXT, ImageColumns
from cobalance.ingest.names import omit, without
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import RowProblems
from cobalance.ingest.tables.guesses import CONCEPT_COLUMNS, normal_name, usual_column
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.tables.values import FLAGS, MISSING

_SIDES = {
    "quads": ("x1 y1 x2 y2 x3 y3 x4 y4",),
    "corners": (
        "xmin ymin xmax ymax", "x1 y1 x2 y2", "left top right bottom", "xtl ytl xbr ybr",
        "x0 y0 x1 y1", "minx miny maxx maxy", "xyxy",
    ),
    "sizes": (
        "x y w h", "xywh", "xmin ymin w h", "x1 y1 w h", "left top w h", "x y width height",
        "xmin ymin width height", "x1 y1 width height", "left top width height",
    ),
    "centres": (
        "xcenter ycenter w h", "cx cy w h", "xcenter ycenter width height",
        "centerx centery width height", "cx cy width height",
    ),
}  # fmt: skip
_FORMS = {names: form for form, many in _SIDES.items() for names in many}
"""What the sides of boxes are, by the names of their columns, the surest first."""
_OBJECTS = {*CONCEPT_COLUMNS, "class_id", "category_id", "category_name", "label_name",
            "class_label", "object_name", "object_class", "label_id", "labelname",
            "classname", "categoryname", "categoryid", "objectname"}  # fmt: skip
_SCORES = ("score", "confidence", "conf", "probability")
_BEFORE = re.compile(r"^(bounding_?box|bndbox|bbox|box)[._]?")
_BARE = ("bbox", "box", "bounding_box", "boundingbox", "bndbox")  # names that say no form
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_FOUR = rf"^\s*[\[(]*\s*{_NUMBER}(?:[\s,;]+{_NUMBER}){{3}}\s*[\])]*\s*$"
_PARTS = ("side 1", "side 2", "side 3", "side 4")  # columns of the numbers of a cell


@dataclass(frozen=True, eq=False)
class BoxColumns:
    """Columns of the sides of boxes, and that of their objects; without any, `object` is empty.

    `form` is a key of `_SIDES`, `others` the table without columns of boxes, and `shown` the names
    of the columns of boxes for people.
    """

    table: Table
    others: Table
    sides: tuple[str, ...]
    form: str
    object: str
    shown: str


def find_boxes(table: Table, options: ReadOptions) -> BoxColumns | None:
    """The columns of boxes, unless options name one of them.

    A column of classes is of the objects, unless an option takes it for the class of images.
    """
    form, sides = _find_sides(table)
    chosen = {*options.concept_columns, *options.field, options.width_column, options.height_column}
    if not sides or not chosen.isdisjoint(sides):
        return None

    free = without(table.columns, sides)
    near = (name for name in free if normal_name(name) in _OBJECTS)
    label = "" if options.class_column else usual_column("class", free) or next(near, "")
    shown = ", ".join(sides)
    if len(sides) == 1:
        is_corners = form == "corners"
        shown += " (x, y of two corners)" if is_corners else " (x, y, width, height)"
        table, sides = _split_cells(table, sides[0]), _PARTS

    about_boxes = set[str]()
    if label:
        about_boxes = {name for name in free if normal_name(name) in (*_SCORES, "area", "iscrowd")}

    others = omit(table.columns, {*sides, label, *about_boxes - {*options.field}})
    return BoxColumns(table, replace(table, columns=others), sides, form, label, shown)


def _find_sides(table: Table) -> tuple[str, tuple[str, ...]]:
    """The form of boxes, and the columns of their sides, or that of whole boxes; none for none."""
    named = dict[str, str]()
    # Beside bbox_width, a width is that of the image.
    for column in sorted(table.columns, key=_is_of_box):
        side = _BEFORE.sub("", normal_name(column))
        named[side.replace("_", "")] = column

    for names_of_sides, form in _FORMS.items():
        names_here = names_of_sides.split()
        if len(names_here) > 1 and named.keys() >= {*names_here}:
            return form, tuple(named[side] for side in names_here)

    for column, form in box_cells(table).items():
        if not _holds_boxes(table.columns[column]):
            continue

        if normal_name(column) in _BARE:
            form = _guess_form(table, column)
        return form, (column,)
    return "", ()


def _is_of_box(column: str) -> bool:
    return _BEFORE.match(normal_name(column)) is not None


def box_cells(table: Table) -> dict[str, str]:
    """Columns of text that are called as whole boxes are, and the form of these."""
    forms = dict[str, str]()
    for column, cells in table.columns.items():
        name = normal_name(column)
        words = " ".join(re.findall("[a-z0-9]+", _BEFORE.sub("", name)))

        form = "sizes" if name in _BARE else _FORMS.get(words, "")
        if form in ("sizes", "corners") and cells.type == TEXT:
            forms[column] = form
    return forms


def _holds_boxes(column: pa.Array) -> bool:
    """Whether all cells that are not empty are four numbers."""
    if column.type != TEXT:
        return False

    filled = column.filter(pc.invert(_is_missing(column)))
    return len(filled) > 0 and bool(pc.all(pc.match_substring_regex(filled, _FOUR)).as_py())


def _is_missing(column: pa.Array) -> pa.Array:
    text = pc.utf8_trim_whitespace(pc.fill_null(column, ""))
    return pc.is_in(text, pa.array(sorted(MISSING), TEXT))


def _guess_form(table: Table, column: str) -> str:
    """The form of boxes in a column: sizes as in COCO, unless these led out of the images."""
    sides = _numbers_of(table.columns[column])
    names = {normal_name(name): name for name in reversed(table.columns)}
    candidates = [names.get(f"image_{side}", names.get(side)) for side in ("width", "height")]

    sizes = list(filter(None, candidates))
    if len(sizes) < len(candidates) or (sides[2:] < sides[:2]).any():
        return "sizes"

    wide, high = (_floats(table.columns[name]) for name in sizes)
    leads_out = (sides[0] + sides[2] > wide) | (sides[1] + sides[3] > high)
    return "corners" if leads_out.any() else "sizes"


def _numbers_of(column: pa.Array) -> FloatArray:
    """The four numbers of each cell, shape (4, n); NaN where it is empty."""
    texts = pc.if_else(_is_missing(column), pa.scalar("nan nan nan nan", TEXT), column)
    words = pc.utf8_trim(pc.replace_substring_regex(texts, r"[\s,;\[\]()]+", " "), " ")

    numbers = pc.list_flatten(pc.split_pattern(words, " ")).to_pandas().to_numpy(np.float64)
    return numbers.reshape(len(column), 4).T


def _split_cells(table: Table, column: str) -> Table:
    """The table with a column for each number of the cells of boxes in place of these."""
    numbers = [pa.array(side, from_pandas=True) for side in _numbers_of(table.columns[column])]

    columns = omit(table.columns, [column]) | dict(zip(_PARTS, numbers, strict=True))
    return replace(table, columns=columns)


def read_boxes(
    boxes: BoxColumns, images: ImageColumns, rows: RowProblems
) -> tuple[dict[str, FloatArray], int]:
    """Sides of each row's box in pixels, NaN for none; how many boxes have no pixels.

    Those from 0 to 1 are relative, and of no use without columns of the images' sizes.
    """
    cells = pa.table(boxes.table.columns).select([*boxes.sides]).to_pandas()
    texts = cells.astype(str).apply(lambda text: text.str.strip())
    filled = (cells.notna() & ~texts.isin({*MISSING})).to_numpy().T
    sides = texts.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64).T

    values = _corner_and_size(sides, boxes.form)
    wrong: BoolArray = np.any(~np.isfinite(values), axis=0) | np.any(values[2:] < 0, axis=0)
    rows.report(
        wrong & filled.any(axis=0),
        lambda row: f"{boxes.shown} are {sides[:, row].tolist()}, which is no box",
        "Write four numbers, or leave all of them empty",
    )

    values[:, wrong] = np.nan
    if not wrong.all() and np.abs(sides[:, ~wrong]).max() <= 1:
        # Relative sides become pixels.
        for side, size in zip(values, (images.widths, images.heights) * 2, strict=True):
            side *= size.to_numpy(zero_copy_only=False)

    lacks_size = ~wrong & np.isnan(values).any(axis=0)
    return dict(zip(MENTION_NUMBERS[2:], values, strict=True)), int(lacks_size.sum())


def _corner_and_size(sides: FloatArray, form: str) -> FloatArray:
    """The upper left corner, width and height of boxes, shape (4, n), from their sides."""
    if form == "quads":
        across, down = sides[::2], sides[1::2]
        low = np.stack([across.min(axis=0), down.min(axis=0)])
        return np.concatenate([low, np.stack([across.max(axis=0), down.max(axis=0)]) - low])

    values = sides.copy()
    if form == "corners":
        values[2:] -= values[:2]
    elif form == "centres":
        values[:2] -= values[2:] / 2
    return values


def read_beside(boxes: BoxColumns) -> tuple[Mapping[str, FloatArray], BoolArray]:
    """Scores and areas of the objects of rows, NaN for none, and which are crowds."""
    names = {normal_name(name): name for name in reversed(boxes.table.columns)}
    numbers = dict[str, FloatArray]()

    score_column = next(filter(None, map(names.get, _SCORES)), None)
    if score_column is not None:
        scores = _floats(boxes.table.columns[score_column])
        # Per cent, or of another scale, they are none of ours.
        if not (scores < 0).any() and not (scores > 1).any():
            numbers["score"] = scores

    if "area" in names:
        areas = _floats(boxes.table.columns[names["area"]])
        numbers["area_px2"] = np.where(areas >= 0, areas, np.nan)

    crowds = np.zeros(boxes.table.n_rows, dtype=bool)
    if "iscrowd" in names:
        flags = boxes.table.columns[names["iscrowd"]].to_pandas().astype(str).str.lower()
        crowds = (flags.str.removesuffix(".0").map(FLAGS) == 1).to_numpy(dtype=bool)
    return numbers, crowds


def _floats(column: pa.Array) -> FloatArray:
    return pd.to_numeric(column.to_pandas(), errors="coerce").to_numpy(np.float64)
