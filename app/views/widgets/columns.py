"""Columns and heights of tables."""

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from app.views.widgets.theme import ROW_PX


def count_column(
    label: str | None = None,
    width: int | None = None,
    *,
    help: str | None = None,  # noqa: A002
) -> ColumnConfig:
    """A column of whole numbers, with separators."""
    return st.column_config.NumberColumn(label, format="localized", width=width, help=help)


def percent_column(label: str, width: int | None = None) -> ColumnConfig:
    """A column of percentages, as bars."""
    return st.column_config.ProgressColumn(
        label, min_value=0, max_value=100, format="%d%%", width=width
    )


def table_height(rows: int, most_px: int) -> int:
    """Height of a table with some rows, up to a limit beyond which it scrolls.

    Examples
    --------
    >>> table_height(2, 320), table_height(200, 320)
    (102, 320)
    """
    return min(most_px, ROW_PX * (max(rows, 1) + 1) + 3)
