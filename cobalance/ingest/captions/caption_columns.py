"""Captions, licences and attribution in the columns of a table."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import IntArray, Setting
from cobalance.ingest.coco import captions_by_image
from cobalance.ingest.frames import TEXT, TextColumns
from cobalance.ingest.tables.concept_cells import parse_list
from cobalance.ingest.tables.guesses import usual_column
from cobalance.ingest.tables.loading import Table

ABOUT = ("license", "license_url", "attribution")


def caption_column(table: Table, taken: Sequence[str]) -> str | None:
    """The column of captions by its usual name, if it holds text or lists of text."""
    usual = ("caption", "captions")
    names = [name for name in table.columns if name.lower() in usual and name not in taken]
    name = usual_column("caption", names)
    if name is None or not is_text(table.columns[name]):
        return None
    return name


def is_text(column: pa.Array) -> bool:
    """Whether a column holds text, or lists of text."""
    kind = column.type
    if pa.types.is_large_list(kind):
        kind = kind.value_type
    return bool((kind.value_type if pa.types.is_dictionary(kind) else kind) == TEXT)


def read_caption_cells(table: Table, name: str) -> tuple[IntArray, list[str | None]]:
    """Captions of all rows: the row and the text of each.

    A cell holds a caption, or a list of them: as Parquet has it, in JSON, or as Python prints it.

    Raises
    ------
    InputError
        The column holds neither, or there are too many.
    """
    column = table.columns[name]
    if not is_text(column):
        raise table.problems.fatal(
            f"the column {name!r} holds {column.type}, where captions are needed",
            ("Save them as text or as lists of text, or choose another ", Setting("captions"), "."),
        )

    texts: list[str | None]
    row: IntArray
    if column.type == TEXT:
        cells = list(map(_parse_cell, column.to_pylist()))
        row = np.repeat(np.arange(len(cells)), list(map(len, cells)))
        texts = list(chain.from_iterable(cells))
    else:
        row = pc.list_parent_indices(column).to_numpy(zero_copy_only=False).astype(np.int64)
        texts = pc.list_flatten(column).to_pylist()

    table.problems.within("mentions", len(texts), what="captions in its rows")
    return row, texts


def table_texts(table: Table, caption: str | None) -> TextColumns:
    """Captions, from the column `caption`, licence and attribution in each row of a table."""
    if caption is None and table.columns.keys().isdisjoint(ABOUT):
        return TextColumns(np.arange(0), [], [], [], [])

    if caption is None:
        captions: Sequence[list[str] | None] = [None] * table.n_rows
    else:
        captions = captions_by_image(*read_caption_cells(table, caption), table.n_rows)
    return TextColumns(np.arange(table.n_rows), captions, *(_about(table, name) for name in ABOUT))


def _about(table: Table, name: str) -> list[str | None]:
    column = table.columns.get(name)
    if column is None or column.type != TEXT:
        return [None] * table.n_rows
    return [text if text and text.strip() else None for text in column.to_pylist()]


def _parse_cell(cell: str | None) -> list[str]:
    if cell is None:
        return []

    # A caption may begin with a bracket, too: it is a list only if it reads as one.
    if cell.lstrip().startswith("["):
        try:
            items = parse_list(cell.strip())
        except ValueError:
            return [cell]
        if {*map(type, items)} <= {str}:
            return list(map(str, items))
    return [cell]
