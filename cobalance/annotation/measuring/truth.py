"""Ground truth of images' attributes from files: CelebA's, CUB's, or a table."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.annotation.measuring.matching import TruthAttribute
from cobalance.base import FloatArray, InputError, IntArray, clean_name, silent
from cobalance.ingest import FLAGS, ID, ListAttr, Problems, read_head, read_sheet, read_text

NOT_VISIBLE = "1"
"""CUB's certainty of what is not visible in the image."""
_NEXT_TO = (".", "..", "../..")  # CUB keeps names of images and attributes in folders above


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Which images show which attributes.

    Parameters
    ----------
    shows : pandas.DataFrame
        A row an image, by its id or file name, and a column an attribute: 1, 0, or NaN where
        nobody can tell.
    left_out : mapping of str to int
        Rows of the file that say nothing, counted by reason.
    """

    shows: pd.DataFrame
    left_out: Mapping[str, int] = field(default_factory=dict)


def read_truth(path: Path) -> GroundTruth:
    """Read a file of ground truth, by its content.

    CelebA's ``list_attr`` files; CUB's ``image_attribute_labels.txt``, whose rows that are "not
    visible" (certainty 1) are left out, and whose images and attributes have the names in
    ``images.txt`` and ``attributes.txt`` beside it or above; and CSV tables with a header, an
    image a row, its id first, then 1 or 0 for each attribute, -1 for 0, nothing where unknown.

    Raises
    ------
    InputError
        There is no such file, or it is none of these.
    """
    head = read_head(path, "ground truth")
    if ListAttr().detects(path, head):
        columns = dict(ListAttr().load(path, Problems(str(path)), silent).columns)
        images = columns.pop(ID).to_pylist()
        texts = pa.table(columns).to_pandas(strings_to_categorical=True)
        return GroundTruth(_read_values(texts.set_axis(pd.Index(images, name=ID)), path))

    # CUB's labels begin with four numbers: image, attribute, presence and certainty.
    fields = head.split(b"\n", 1)[0].split()
    if len(fields) >= 4 and b"".join(fields[:4]).isdigit():
        return _read_cub(path)

    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise InputError(str(path), None, f"is no table ({error})", "Save it as CSV.") from error
    if len(frame.columns) < 2:
        reason = "has no column of an attribute beside the first, of images"
        raise InputError(str(path), "line 1", reason, "Write a column of 1 and 0 for each.")
    return GroundTruth(_read_values(frame.set_index(frame.columns[0]), path))


def read_mapping(path: Path) -> dict[str, TruthAttribute]:
    """Read which truth belongs to concepts: CSV with ``concept``, ``truth``, ``inverted``.

    The last column may be left out; 1, true or yes in it means the opposite.

    Raises
    ------
    InputError
        There is no such file, it lacks a column or rows, or has a concept twice.
    """
    remedy = "Write rows with the columns concept and truth; inverted is a third, if needed."
    rows = read_sheet(read_text(path), str(path), ("concept", "truth"), remedy)
    if not rows:
        raise InputError(str(path), None, "has no rows", remedy)

    mapping: dict[str, TruthAttribute] = {}
    for place, row in rows:
        name = clean_name(row["concept"])
        if name in mapping:
            raise InputError(str(path), place, f"has {name!r} a second time", "Keep one.")
        inverted = FLAGS.get(row.get("inverted", "").strip().lower()) == 1
        mapping[name] = TruthAttribute(clean_name(row["truth"]), inverted)
    return mapping


def _read_values(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Texts as 1, 0 and NaN."""
    repeated = table.index[table.index.duplicated()]
    if len(repeated):
        raise InputError(str(path), None, f"has the image {repeated[0]!r} twice", "Keep one row.")

    # Each distinct text of a column is read once.
    values = np.empty(table.shape)
    is_wrong = np.zeros(table.shape, np.bool_)
    for column in range(table.shape[1]):
        codes, texts = pd.factorize(table.iloc[:, column])
        plain = pd.Series(texts, dtype=object).str.strip().str.lower()
        numbers = plain.map(FLAGS).to_numpy(np.float64)
        values[:, column] = numbers[codes]
        is_wrong[:, column] = ((plain != "") & np.isnan(numbers)).to_numpy()[codes]

    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        raise InputError(
            str(path),
            f"image {table.index[row]!r}",
            f"has {table.iloc[row, column]!r} for {table.columns[column]!r}",
            "Write 1, 0 or -1, or nothing where it is not known.",
        )
    return pd.DataFrame(values, index=table.index, columns=table.columns)


def _read_cub(path: Path) -> GroundTruth:
    """Read CUB's labels; of a row the first four fields, since a few have a fifth and a sixth."""
    images, attributes, shown = _cub_columns(path)
    names = dict(_read_cub_names(path, "attributes.txt"))
    files = dict(_read_cub_names(path, "images.txt"))
    image_ids, rows = np.unique(images, return_inverse=True)
    attribute_ids, columns = np.unique(attributes, return_inverse=True)
    values = np.full((len(image_ids), len(attribute_ids)), np.nan)
    values[rows, columns] = shown

    # An image or attribute that no list names keeps its number.
    frame = pd.DataFrame(
        values,
        index=[files.get(number, number) for number in map(str, image_ids)],
        columns=[names.get(number, number) for number in map(str, attribute_ids)],
    )
    return GroundTruth(frame, {"not visible": int(np.isnan(shown).sum())})


def _cub_columns(path: Path) -> tuple[IntArray, IntArray, FloatArray]:
    """Read the images, attributes and presence of labels; NaN for what is not visible."""
    # Typed arrays, as CUB has 3.7 million rows.
    images, attributes, shown = array("q"), array("q"), array("d")
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            fields = line.split()
            if not fields:
                continue
            try:
                image = int(fields[0])
                attribute = int(fields[1])
                present = FLAGS[fields[2]]
                certainty = fields[3]
            except (IndexError, KeyError, ValueError):
                reason = "is no image, attribute, 0 or 1, and certainty"
                remedy = "Get CUB's image_attribute_labels.txt again."
                raise InputError(str(path), f"line {number}", reason, remedy) from None

            images.append(image)
            attributes.append(attribute)
            shown.append(float("nan") if certainty == NOT_VISIBLE else present)
    return np.array(images), np.array(attributes), np.array(shown)


def _read_cub_names(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Numbers and names of a list of CUB, if it is beside the labels or above."""
    for folder in _NEXT_TO:
        file = path.parent / folder / name
        if file.is_file():
            for line in file.read_text(encoding="utf-8").splitlines():
                number, _, value = line.strip().partition(" ")
                if value:
                    yield number, value.strip()
            return
