"""Download buttons, and the choice between views of a page."""

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, Literal, TypeVar

import pandas as pd
import streamlit as st

from cobalance.app.web.state import in_url, named_in_url
from cobalance.workflows import to_csv, to_parquet

T = TypeVar("T")
_TYPES = {
    ".csv": "text/csv",
    ".graphml": "application/graphml+xml",
    ".html": "text/html",
    ".json": "application/json",
    ".log": "text/plain",
    ".parquet": "application/vnd.apache.parquet",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
    ".zip": "application/zip",
}


def download(
    label: str, content: bytes | Callable[[], bytes], file: str, *, key: str, disabled: bool = False
) -> None:
    """Draw a button that downloads a file, whose content a function makes when it is pressed.

    Streamlit forgets the function as soon as the button is drawn again: give what refreshes bytes.
    """
    st.download_button(
        label,
        content,
        file,
        _TYPES[PurePath(file).suffix],
        key=key,
        icon=":material/download:",
        on_click="ignore",
        disabled=disabled,
    )


def caption_with_csv(
    caption: str, make: Callable[[], pd.DataFrame], file: str, *, key: str
) -> None:
    """Draw a table's caption, and at its end the button that downloads the table as CSV."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(caption)
        st.space("stretch")
        download("CSV", lambda: to_csv(make()), file, key=key)


def download_table(made: Callable[[], pd.DataFrame], file: str, *, key: str) -> None:
    """Draw buttons that download a table as CSV and as Parquet; `file` has no ending."""
    download("CSV", lambda: to_csv(made()), f"{file}.csv", key=f"{key}_csv")

    def parquet() -> bytes:
        content, _ = to_parquet(made())
        return content

    download("Parquet", parquet, f"{file}.parquet", key=f"{key}_parquet")


def choose_one(
    label: str, options: Sequence[T], key: str, placeholder: str, **more: Any
) -> T | None:
    """Draw a choice of one of some options or none, which is in the URL."""
    return st.selectbox(
        label, options, index=None, placeholder=placeholder, **in_url(key, options), **more
    )


def choose_named(
    label: str,
    options: Sequence[T],
    key: str,
    default: T | None = None,
    *,
    text: Callable[[T], str] = str,
    **more: Any,
) -> T:
    """Draw a choice that the URL names from the start; its default, the first, depends on data.

    `text` is what an option is called, in the URL, too.
    """
    usual = options[0] if default is None else default
    chosen: T | None = st.selectbox(
        label, options, format_func=text, **named_in_url(key, usual, options, text), **more
    )
    # A URL may leave it empty, or have the choice of another dataset.
    return usual if chosen is None or chosen not in options else chosen


def choose_split(
    label: str, splits: Sequence[str], key: str, usual: str | None = None, **more: Any
) -> str | None:
    """Draw the choice of one of a dataset's splits or none, where it has any; it is in the URL."""
    # Another dataset's choice is forgotten before the default is decided.
    split_in_url = in_url(key, splits)
    if not splits:
        return None
    default = default_unless_set(key, usual) if usual in splits else None
    return st.pills(label, splits, default=default, **split_in_url, **more)


def default_unless_set(key: str, default: T) -> T | None:
    """Default of a widget; None where the session has its value, as Streamlit would warn."""
    return None if key in st.session_state else default


def index_or_first(options: Sequence[T], usual: T) -> int:
    """Where the usual option stands; the first place where it is not offered.

    Examples
    --------
    >>> index_or_first(["a", "b"], "b"), index_or_first(["a", "b"], "c")
    (1, 0)
    """
    return options.index(usual) if usual in options else 0


def button_type(is_primary: bool) -> Literal["primary", "secondary"]:
    """Look of a button: the one that most will press, or another."""
    return "primary" if is_primary else "secondary"


def choose_view(
    label: str,
    views: Sequence[str],
    key: str,
    name_of: Callable[[str], str] = str,
    *,
    named: bool = False,
) -> str:
    """Draw the choice of a view, which is in the URL; the first is the default.

    `named`: whether the URL names the default, too, as it depends on the data.
    """
    if named:
        named_in_url(key, views[0], views, name_of)

    chosen: str | None = st.segmented_control(
        label,
        views,
        default=default_unless_set(key, views[0]),
        required=True,
        format_func=name_of,
        **in_url(key),
        label_visibility="collapsed",
    )
    return chosen or views[0]
