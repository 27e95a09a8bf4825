"""Pictures that a page no longer shows are served a little longer.

Streamlit drops a file as soon as no run has it: also when a run is cut short before it comes to
pictures that are still on the page, or when another session's run ends just then. A browser that
asks for them next would get 404, and show a broken picture.
"""

import time
from typing import Any

from streamlit.runtime import memory_media_file_storage as streamlit_storage

KEPT_S = 60
"""How long a file is served after Streamlit has dropped it."""


class LingeringStorage(streamlit_storage.MemoryMediaFileStorage):
    """Streamlit's storage in memory, whose files go `KEPT_S` after they were dropped.

    Streamlit's manager calls all but `get_file` under one lock.
    """

    def __init__(self, media_endpoint: str) -> None:
        super().__init__(media_endpoint)
        self._dropped_at: dict[str, float] = {}

    def load_and_get_id(self, *file: Any, **options: Any) -> str:
        """Add a file, or keep one that was dropped; return its id."""
        file_id = super().load_and_get_id(*file, **options)
        self._dropped_at.pop(file_id, None)
        return file_id

    def delete_file(self, file_id: str) -> None:
        """Drop a file; delete those that were dropped long enough ago."""
        now = time.monotonic()
        self._dropped_at[file_id] = now
        while now - self._dropped_at[oldest := next(iter(self._dropped_at))] > KEPT_S:
            del self._dropped_at[oldest]
            super().delete_file(oldest)


def keep_dropped_files() -> None:
    """Have Streamlit's app use `LingeringStorage`; it has no option for it."""
    streamlit_storage.MemoryMediaFileStorage = LingeringStorage  # type: ignore[misc]
