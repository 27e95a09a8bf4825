"""Folders and archives are listed and read alike, and nothing leads out of them."""

import io
import tarfile
import zipfile
from contextlib import suppress

import pytest

from graph.errors import InputError
from ingest.trees import is_tree, open_tree

FILES = {"a/1.txt": b"one", "a/b/2.XML": b"two", "top.xml": b"", ".git/config": b"hidden"}


def packed(path, kind, files=FILES):
    if kind == "folder":
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(path, "w") as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_all_kinds_are_read_alike(tmp_path, kind):
    path = packed(tmp_path / "data", kind)
    assert is_tree(path)
    with open_tree(path) as tree:
        assert tree.names == ["a/1.txt", "a/b/2.XML", "top.xml"]
        assert tree.read("a/b/2.XML") == b"two"
        assert tree.below("a", ".xml") == ["a/b/2.XML"]
        with pytest.raises(InputError, match="larger than 2 bytes"):
            tree.read("a/1.txt", most_bytes=2)


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("name", ["../out.xml", "/etc/passwd", "a/../../b", "a\\..\\b"])
def test_paths_that_lead_out_are_refused(tmp_path, kind, name):
    path = packed(tmp_path / "data", kind, {name: b"x"})
    with pytest.raises(InputError, match="leads out of it"), open_tree(path):
        pass


def test_links_of_an_archive_are_left_out(tmp_path):
    path = tmp_path / "data.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with open_tree(path) as tree:
        assert tree.names == []


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_damaged_archive_is_refused_or_read(tmp_path, kind):
    content = packed(tmp_path / "data", kind).read_bytes()
    for at in range(0, len(content), 7):
        (tmp_path / "bad").write_bytes(content[:at] + b"\xff\x00" + content[at + 2 :])
        with suppress(InputError), open_tree(tmp_path / "bad") as tree:
            for name in tree.names:
                tree.read(name)


def test_a_file_is_no_tree(tmp_path):
    (tmp_path / "a.csv").write_text("image,class\n")
    assert not is_tree(tmp_path / "a.csv")
