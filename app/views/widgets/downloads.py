"""Download buttons."""

from collections.abc import Callable
from pathlib import PurePath

import streamlit as st

_TYPES = {
    ".csv": "text/csv",
    ".graphml": "application/graphml+xml",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
}


def download(
    label: str, content: Callable[[], bytes], file: str, *, key: str, disabled: bool = False
) -> None:
    """Draw a button that downloads a file, whose content is made when it is pressed.

    Parameters
    ----------
    file : str
        The file's name, with one of the known endings.
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
