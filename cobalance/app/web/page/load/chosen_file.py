"""The annotation file that an import is about, with the files beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import streamlit as st

from cobalance.ingest import FoundFile
from cobalance.workflows import Source

T = TypeVar("T")

_SEEN = "_import_seen"


def cached_by_files(source: Source, what: tuple[object, ...], look: Callable[[], T]) -> T:
    """Read something from the files once, until they change."""
    identity, results = st.session_state.get(_SEEN, (None, {}))
    if identity != source.identity:
        results = {}
        st.session_state[_SEEN] = (source.identity, results)

    if what not in results:
        with st.spinner("Looking at the files"):
            results[what] = look()
    return cast(T, results[what])


@dataclass(frozen=True)
class ChosenFile:
    """The annotation file, with the other files of its source."""

    source: Source
    file: FoundFile
    others: list[FoundFile]

    def key(self, name: str) -> str:
        """Widget key, distinct for each file."""
        return f"_import {name} {self.file.name} {hash(self.source.identity)}"

    def read_once(self, read: Callable[[Path, str], T], format_: str) -> T:
        """Read something from the file once, until the files change; errors name no folder."""

        def look() -> T:
            with self.source.open_files() as folder:
                return read(folder / self.file.name, format_)

        return cached_by_files(self.source, (read.__name__, self.file.name, format_), look)

    def companion(
        self, label: str, name: str, help_: str | None = None, chosen: Sequence[FoundFile] = ()
    ) -> Path | None:
        """Draw the choice of one of the other files, at first the first of those `chosen`."""
        choice = st.selectbox(
            label,
            [file.name for file in self.others],
            index=self.others.index(chosen[0]) if chosen else None,
            placeholder="Choose a file" if self.others else "Add the file above",
            key=self.key(name),
            help=help_,
        )
        return None if choice is None else Path(choice)
