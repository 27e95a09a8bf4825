"""The output folder: whole files or none, on a disk and behind a URL."""

import errno
import os

import pytest

from cobalance.base.errors import DataError, JobBlockedError, OptionError
from cobalance.vision.stored import output_folder as output
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError


@pytest.fixture(params=["path", "file URL", "memory"])
def folder(request, tmp_path):
    if request.param == "path":
        return OutputFolder(str(tmp_path / "some folder"))
    if request.param == "file URL":
        return OutputFolder(f"file://{tmp_path}/some")
    return OutputFolder(f"memory://{tmp_path.name}/some")


def test_what_is_written_is_read(folder):
    assert folder.names("job/images") == []
    assert not folder.exists("job/images/b.png")
    folder.write("job/images/b.png", b"first")
    folder.write("job/images/b.png", b"second")
    folder.write("job/images/a.png", b"")
    assert folder.read("job/images/b.png") == b"second"
    assert folder.names("job/images") == ["a.png", "b.png"]
    assert folder.exists("job/images/b.png")
    folder.delete("job/images/b.png")
    folder.delete("job/images/b.png")
    assert folder.names("job/images") == ["a.png"]
    folder.write("other/deep/c.png", b"third")
    folder.delete_folder("other")
    folder.delete_folder("other")
    assert not folder.exists("other")
    assert folder.exists("job/images/a.png")
    with pytest.raises(OutputMissingError, match=r"there is no file job/images/b\.png"):
        folder.read("job/images/b.png")


def test_a_large_file_is_there_once_it_is_whole(folder):
    def fill(file):
        assert not folder.exists("job/large")
        for _ in range(3):
            file.write(b"part ")

    def fails(file):
        file.write(b"half")
        raise ValueError("half")

    folder.write_large("job/large", fill)
    with pytest.raises(ValueError, match="half"):
        folder.write_large("job/large", fails)
    assert folder.read("job/large") == b"part part part "
    assert folder.names("job") == ["large"]


@pytest.mark.parametrize("name", ["../b", "a/../../b", "/etc/passwd", "", "."])
def test_no_file_outside_of_it(folder, name):
    with pytest.raises(DataError, match="is not a path in the output folder"):
        folder.write(name, b"x")
    with pytest.raises(DataError):
        folder.read(name)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "Make room there"), (errno.EROFS, "Make it writable"), (errno.EIO, "Put that")],
)
def test_a_disk_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, number, remedy):
    folder = OutputFolder(str(tmp_path))
    folder.write("a/b.png", b"old")

    def fails(_descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(output.os, "fsync", fails)
    with pytest.raises(JobBlockedError, match=f"cannot be written to: .*{remedy}"):
        folder.write("a/b.png", b"new")
    assert folder.read("a/b.png") == b"old"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.png"]


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("x")
    folder = OutputFolder(str(tmp_path / "file"))
    with pytest.raises(JobBlockedError, match="cannot be written to"):
        folder.write("a/b.png", b"new")


def test_a_url_that_nothing_opens():
    with pytest.raises(OptionError, match="cannot be opened"):
        OutputFolder("nonsense://somewhere")


def test_temporary_files_of_killed_processes_are_deleted(tmp_path):
    folder = OutputFolder(str(tmp_path))
    folder.write("job/images/a.png", b"a")
    (tmp_path / "job" / "images" / ".b.png.0123.tmp").write_bytes(b"b")
    folder.delete_temporary("job/images")
    folder.delete_temporary("job/masks")
    assert [path.name for path in (tmp_path / "job" / "images").iterdir()] == ["a.png"]
