"""Files on a disk that gets full; `test_full_disk.py` runs this file.

The disk is a tmpfs of 8 MB. What is written is whole or not there, and the error names the place.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cobalance.app.cli.shared.tables import write_text
from cobalance.base.errors import (
    CobalanceError,
    JobBlockedError,
    MachineError,
    StoreUnavailableError,
)
from cobalance.base.files import replacing
from cobalance.generation.export.options import ExportError
from cobalance.generation.export.staging import open_staging
from cobalance.generation.jobs.job_queue import Queue
from cobalance.vision.stored.dataset_files import DatasetFiles
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.load.sources import temporary_files

LARGE = b"x" * (2 << 20)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - (1 << 20))


def names(disk: Path) -> list[str]:
    return sorted(str(path.relative_to(disk)) for path in disk.rglob("*") if path.is_file())


def test_generated_images(disk: Path) -> None:
    folder = OutputFolder(str(disk))
    folder.write("images/1.png", b"the first")
    fill(disk)
    with pytest.raises(JobBlockedError, match=f"{disk} .*No space left on device. Make room"):
        folder.write("images/1.png", LARGE)
    assert folder.read("images/1.png") == b"the first"
    assert names(disk) == ["filler", "images/1.png"]


def test_tables_of_commands(disk: Path) -> None:
    file = disk / "table.csv"
    write_text("the first", file)
    fill(disk)
    with pytest.raises(CobalanceError, match=f"{file}: No space left on device"):
        write_text(LARGE.decode(), file)
    assert file.read_text() == "the first"
    assert names(disk) == ["filler", "table.csv"]


def test_what_is_no_file_is_written_to_itself() -> None:
    with replacing(Path("/dev/null")) as part:
        part.write_bytes(LARGE)
    assert Path("/dev/null").is_char_device()
    reading, writing = os.pipe()
    write_text("rows", Path(f"/dev/fd/{writing}"))
    assert os.read(reading, 9) == b"rows"


def test_exports(disk: Path) -> None:
    fill(disk)
    with (
        pytest.raises(ExportError, match=f"{disk / 'export'}: .*No space left on device.*Nothing"),
        open_staging(disk / "export", {"name": "a"}, overwrite=False) as staging,
    ):
        staging.write("images/1.png", LARGE)
    assert names(disk) == ["filler"]


def test_boxes_captions_and_embeddings(disk: Path) -> None:
    files = DatasetFiles(disk / "regions", "regions")
    with files.writing(), files.replacing("cars") as path:
        path.write_bytes(b"the first")
    before = [*names(disk), "filler"]
    fill(disk)
    with (
        pytest.raises(MachineError, match=f"{disk / 'regions'}: .*No space left.*Make room"),
        files.writing(),
        files.replacing("cars") as path,
    ):
        path.write_bytes(LARGE)
    assert files.path("cars").read_bytes() == b"the first"
    assert names(disk) == sorted(before)


def test_files_sent_to_the_web_app(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    fill(disk)
    with (
        pytest.raises(CobalanceError, match=f"{disk}: No space left on device. Make room there"),
        temporary_files({"cars.csv": LARGE}),
    ):
        pass
    assert names(disk) == ["filler"]


def test_the_queue(disk: Path) -> None:
    url = f"sqlite:///{disk / 'queue.sqlite'}"
    fill(disk)
    (disk / "more").write_bytes(bytes(shutil.disk_usage(disk).free - (64 << 10)))
    with pytest.raises(StoreUnavailableError, match=f"{disk}.*database or disk is full"):
        Queue(url, "worker", lambda *_: "done")
    (disk / "filler").unlink()
    Queue(url, "worker", lambda *_: "done").close()
