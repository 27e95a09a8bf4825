"""Write small files, and catch the errors of reading them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cobalance.base.errors import InputError, render
from cobalance.base.records import Annotations
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions

Write = Callable[[str | bytes], Path]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file whose name says nothing about its format."""

    def write_file(content: str | bytes, name: str = "data.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def failure() -> Callable[..., InputError]:
    """Read a file that cannot be read, and check the form of the message."""

    def read(
        path: Path, options: ReadOptions | None = None, input_format: str | None = None
    ) -> InputError:
        with pytest.raises(InputError) as caught:
            read_annotations(path, options, input_format)
        error = caught.value
        place = path if error.record is None else f"{path}, {error.record}"
        assert str(error) == f"{place}: {error.reason}. {render(error.remedy)}"
        assert error.reason
        assert not error.reason.endswith(".")
        assert render(error.remedy).endswith(".")
        return error

    return read


@pytest.fixture
def malformed(failure: Callable[..., InputError]) -> Callable[..., Annotations]:
    """Check that a malformed record is an error, and is reported if skipped; return the rest."""

    def read(
        path: Path, record: str, reason: str, remedy: str, options: ReadOptions | None = None
    ) -> Annotations:
        options = options or ReadOptions()
        error = failure(path, options)
        assert error.record == record
        assert reason in error.reason
        assert remedy in render(error.remedy)
        annotations = read_annotations(path, replace(options, on_error="skip"))
        (message,) = annotations.skipped
        assert message.startswith(f"{path}, {record}: {error.reason}")
        return annotations

    return read
