"""Switch between views of a page."""

from collections.abc import Sequence

import streamlit as st


def choose_view(label: str, views: Sequence[str], key: str) -> str:
    """Draw the choice of a view, which is in the URL; the first is the default.

    Parameters
    ----------
    label : str
        Name of the choice for screen readers.
    """
    return st.segmented_control(
        label,
        views,
        default=views[0],
        required=True,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
