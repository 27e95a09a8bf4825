"""Files that Streamlit drops are served a while longer, and not for ever."""

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileKind, MediaFileStorageError

from cobalance.app.web.server import streamlit_internals
from cobalance.app.web.server.streamlit_internals import KEPT_S, LingeringStorage


class Clock:
    """Stands for the module `time`."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(streamlit_internals, "time", one)
    return one


def add(storage: LingeringStorage, data: bytes) -> str:
    return storage.load_and_get_id(data, "image/jpeg", MediaFileKind.MEDIA)


def test_a_dropped_file_is_served_for_a_while(clock: Clock) -> None:
    storage = LingeringStorage("/media")
    first, second, third = (add(storage, data) for data in (b"first", b"second", b"third"))
    storage.delete_file(first)
    clock.now += KEPT_S
    storage.delete_file(second)
    assert storage.get_file(first).content == b"first"
    clock.now += 1
    storage.delete_file(third)
    with pytest.raises(MediaFileStorageError):
        storage.get_file(first)
    assert storage.get_file(second).content == b"second"
    assert storage.get_url(third) == f"/media/{third}.jpg"


def test_a_file_that_is_shown_again_stays(clock: Clock) -> None:
    storage = LingeringStorage("/media")
    shown, gone = (add(storage, data) for data in (b"shown", b"gone"))
    storage.delete_file(shown)
    assert add(storage, b"shown") == shown
    clock.now += 2 * KEPT_S
    storage.delete_file(gone)
    assert storage.get_file(shown).content == b"shown"


def test_streamlit_reads_it_as_its_own() -> None:
    assert MediaFileManager(LingeringStorage("/media")).can_read_files
