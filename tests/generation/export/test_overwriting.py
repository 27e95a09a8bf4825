"""What an export replaces: its own earlier one, and nothing that somebody did since."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cobalance.generation.export import ExportError, ExportOptions, export
from tests.generation.export.conftest import contents, only

LICENCE = "\nCC BY 4.0\n"


def test_the_same_export_is_replaced(any_format, sample, tmp_path):
    dataset = replace(sample.dataset, job="5f1c")
    export(dataset, any_format, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").stat().st_ino
    report = export(dataset, any_format, tmp_path / "out")
    assert report.counts["real images"] == 10
    assert (tmp_path / "out" / "README.md").stat().st_ino != card


@pytest.mark.parametrize("other", [{"job": "another"}, {"job": None}, {"name": "cars"}])
def test_another_export_is_not(other, any_format, sample, tmp_path):
    mine = replace(sample.dataset, job="5f1c")
    export(replace(mine, **other), any_format, tmp_path / "out")
    before = (tmp_path / "out" / "SHA256SUMS").read_bytes()
    with pytest.raises(ExportError, match=r"is another export: .*overwrite") as caught:
        export(mine, any_format, tmp_path / "out")
    job = other.get("job", "5f1c")
    assert (f"job {job}," in str(caught.value)) == (job is not None)
    assert (tmp_path / "out" / "SHA256SUMS").read_bytes() == before
    export(mine, any_format, tmp_path / "out", ExportOptions(overwrite=True))


@pytest.mark.parametrize("name", ["README.md", "croissant.json", "cobalance-export.json"])
def test_what_somebody_wrote_into_its_files_stays(name, any_format, sample, tmp_path):
    export(sample.dataset, any_format, tmp_path / "out")
    path = tmp_path / "out" / name
    times = path.stat()
    path.write_text(path.read_text() + LICENCE)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as an editor may keep them
    with pytest.raises(ExportError, match=rf"'{name}', which was changed after .*overwrite"):
        export(sample.dataset, any_format, tmp_path / "out")
    assert path.read_text().endswith(LICENCE)
    export(sample.dataset, any_format, tmp_path / "out", ExportOptions(overwrite=True))
    assert LICENCE not in path.read_text()


def test_so_does_an_image_that_was_retouched(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "out")
    path = min((tmp_path / "out" / "images").iterdir())
    times, content = path.stat(), path.read_bytes()
    path.write_bytes(content[::-1])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(ExportError, match=f"'images/{path.name}', which was changed"):
        export(sample.dataset, "folder", tmp_path / "out")
    path.write_bytes(content)
    export(sample.dataset, "folder", tmp_path / "out")


def test_a_copy_that_keeps_times_is_read_again(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "one")
    path = min((tmp_path / "one" / "images").iterdir())
    path.write_bytes(path.read_bytes()[::-1])
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    with pytest.raises(ExportError, match=f"'images/{path.name}', which was changed"):
        export(sample.dataset, "folder", tmp_path / "two")


def test_what_is_gone_is_written_again(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "out")
    path = min((tmp_path / "out" / "images").iterdir())
    path.unlink()
    export(sample.dataset, "folder", tmp_path / "out")
    assert path.exists()


def test_an_edit_during_an_export_stays(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "out")
    card = tmp_path / "out" / "README.md"

    def edit(stage, done, total):
        if done == total:
            card.write_text(LICENCE)

    with pytest.raises(ExportError, match=r"'README.md', which was changed"):
        export(sample.dataset, "folder", tmp_path / "out", progress=edit)
    assert card.read_text() == LICENCE


def test_digests_without_a_marker_are_no_export(sample, tmp_path):
    export(sample.dataset, "weights", tmp_path / "out")
    (tmp_path / "out" / "cobalance-export.json").unlink()
    with pytest.raises(ExportError, match="which no export wrote"):
        export(sample.dataset, "weights", tmp_path / "out")


def test_an_earlier_export_is_replaced_as_a_whole(sample, tmp_path):
    export(sample.dataset, "coco", tmp_path / "out")
    with pytest.raises(ExportError, match=r"is another export: .* as coco\. .*overwrite"):
        export(sample.dataset, "webdataset", tmp_path / "out")
    export(sample.dataset, "webdataset", tmp_path / "out", ExportOptions(overwrite=True))
    export(sample.dataset, "webdataset", tmp_path / "fresh")
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
    assert only(tmp_path) == ["fresh", "out"]


def test_an_empty_folder_is_used(any_format, sample, tmp_path):
    (tmp_path / "out").mkdir()
    export(sample.dataset, any_format, tmp_path / "out")
    assert (tmp_path / "out" / "README.md").exists()


@pytest.mark.parametrize("stranger", ["notes.txt", "images/mine.png", "empty/"])
def test_what_no_export_wrote_is_not_replaced(any_format, stranger, sample, tmp_path):
    export(sample.dataset, any_format, tmp_path / "out")
    path = tmp_path / "out" / stranger
    if stranger.endswith("/"):
        path.mkdir()
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    with pytest.raises(ExportError, match=f"holds {stranger!r}, which no export wrote"):
        export(sample.dataset, any_format, tmp_path / "out")
    assert path.exists()
    export(sample.dataset, any_format, tmp_path / "out", ExportOptions(overwrite=True))
    assert not path.exists()
    assert only(tmp_path) == ["out"]


def test_a_folder_of_somebody_else_is_not_written_to(any_format, sample, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(ExportError, match=r"holds 'thesis.tex'"):
        export(sample.dataset, any_format, tmp_path / "out")
    assert contents(tmp_path / "out") == {"thesis.tex": b"mine"}


def test_the_home_and_the_working_folder_are_never_replaced(sample, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("HOME", str(tmp_path / "regions"))
    for folder in (tmp_path, tmp_path / "regions"):
        with pytest.raises(ExportError, match="would be replaced as a whole"):
            export(sample.dataset, "folder", folder, ExportOptions(overwrite=True))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExportError, match="would be replaced as a whole"):
        export(sample.dataset, "folder", Path(), ExportOptions(overwrite=True))


def test_a_file_is_no_folder(sample, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ExportError, match="is a file"):
        export(sample.dataset, "folder", tmp_path / "out", ExportOptions(overwrite=True))
