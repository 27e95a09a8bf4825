"""The parts of the app that run in the browser: build/, registered with Streamlit."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

BUILD = Path(__file__).parent / "build"


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """The value of a component's last run, and whether the page or the person set it.

    A value that the browser reports has the number of the page's last request that it knew of: a
    report that is older than the newest request is ignored.
    """

    request: int  # how many times the page has asked for a value of its own
    wanted: T  # what the page passed last
    effective: T  # what the component returned last


def draw_part(
    part: str, key: str, data: Mapping[str, Any], *, sent_once: Any = None, **callbacks: Any
) -> Any:
    """Draw a part with its data; return its result. `sent_once` goes with the library."""
    library, mounted = _register(part)
    with st.container(gap=None):
        library(key=f"{key}.library", data=sent_once)
        return mounted(key=key, data=data, **callbacks)


@cache
def _register(name: str) -> tuple[ComponentRenderer, ComponentRenderer]:
    """Register a component's library and its mounted part, once per process.

    They are two because Streamlit sends a component's code again whenever its data change. The
    first has no data, so the browser gets it once.
    """
    library, mounted = (
        v2.component(f"cobalance.{file}", js=(BUILD / f"{file}.js").read_text(encoding="utf-8"))
        for file in (name, f"{name}_mount")
    )
    return library, mounted


def no_callback() -> None:
    """A callback, without which Streamlit does not register a state."""
