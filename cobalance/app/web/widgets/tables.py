"""Tables as high as their rows, their columns, and grids of places."""

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.column_types import ColumnConfig

ROW_PX = 33
"""Height of a table's header and of each row."""


def draw_table(
    shown: Any, most_px: int | None, columns: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """Draw a table without its index; return the result of `st.dataframe`.

    It scrolls beyond a height of `most_px`; `columns` is their configuration.
    """
    # A styled frame has no length; its rows are those of the frame.
    rows = len(getattr(shown, "data", shown))
    options["height"] = "content" if most_px is None else table_height(rows, most_px)
    return st.dataframe(shown, hide_index=True, column_config=columns, **options)


def table_height(rows: int, most_px: int) -> int:
    """Height of a table with some rows, up to a limit beyond which it scrolls.

    Examples
    --------
    >>> table_height(2, 320), table_height(200, 320)
    (102, 320)
    """
    # An empty table has a row, too, which says so.
    return min(most_px, ROW_PX * (max(rows, 1) + 1) + 3)


def draw_columns(
    columns: Mapping[str, tuple[Any, ColumnConfig]], most_px: int | None, **options: Any
) -> Any:
    """Draw a table, see `draw_table`, whose columns are given as values with a configuration."""
    frame = pd.DataFrame({name: values for name, (values, _) in columns.items()})
    configs = {name: config for name, (_, config) in columns.items()}
    return draw_table(frame, most_px, configs, **options)


def grid(n: int, columns: int, **options: Any) -> list[DeltaGenerator]:
    """Containers for `n` elements, `columns` side by side, with options of `st.columns`."""
    rows = [st.columns(columns, **options) for _ in range(math.ceil(n / columns))]
    return list(chain.from_iterable(rows))[:n]


def count_column(
    label: str | None = None,
    width: int | None = None,
    *,
    help: str | None = None,  # noqa: A002
) -> ColumnConfig:
    """A column of whole numbers, with separators."""
    return st.column_config.NumberColumn(label, format="localized", width=width, help=help)


def text_column(
    label: str | None = None,
    width: int | Literal["small", "medium", "large"] | None = None,
    *,
    help: str | None = None,  # noqa: A002
    alignment: Literal["left", "center", "right"] | None = None,
) -> ColumnConfig:
    """A column of texts."""
    return st.column_config.TextColumn(label, width=width, help=help, alignment=alignment)


def percent_done(done: int | None, total: int | None) -> float:
    """How much of a total is done, in percent; 0 while the total is not known.

    A total may be an estimate, which what is done exceeds: that is 100.

    Examples
    --------
    >>> percent_done(1, 4), percent_done(5, 4), percent_done(None, None)
    (25.0, 100.0, 0.0)
    """
    return min(100 * (done or 0) / total, 100.0) if total else 0.0


def row_values(frame: pd.DataFrame, position: int = 0) -> dict[str, Any]:
    """The values of a row by column, each of its own type."""
    return {str(column): value for column, value in frame.iloc[position].items()}


def percent_column(width: int) -> ColumnConfig:
    """A column of progress bars."""
    return st.column_config.ProgressColumn(
        "Progress", min_value=0, max_value=100, format="%d%%", width=width
    )
