"""Folders and archives are listed and read alike, and nothing leads out of them."""

import io
import tarfile
import zipfile
from contextlib import nullcontext, suppress
from random import Random

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.trees import is_tree, open_tree

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
@pytest.mark.parametrize("name", ["../out.xml", "/etc/passwd", "a/../../b", "a\\..\\b", "C:\\b"])
def test_paths_that_lead_out_are_refused(tmp_path, kind, name):
    path = packed(tmp_path / "data", kind, {name: b"x"})
    with pytest.raises(InputError, match="leads out of it"), open_tree(path):
        pass


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_backslashes_divide_folders_of_an_archive(tmp_path, kind):
    files = {"a\\1.txt": b"one", "a\\b\\2.txt": b"two"}
    with open_tree(packed(tmp_path / "data", kind, files)) as tree:
        assert tree.names == ["a/1.txt", "a/b/2.txt"]
        assert tree.read("a/b/2.txt") == b"two"


def test_links_of_an_archive_are_left_out(tmp_path):
    path = tmp_path / "data.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with open_tree(path) as tree:
        assert tree.names == []


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_paths_may_begin_with_the_folder_itself(tmp_path, kind):
    path = packed(tmp_path / "data", kind, {"./a.txt": b"a", "b//c.txt": b"c"})
    with open_tree(path) as tree:
        assert {name: tree.read(name) for name in tree.names} == {"a.txt": b"a", "b/c.txt": b"c"}


@pytest.mark.parametrize("kind", ["zip", "tar", "folder"])
def test_folders_in_one_another_are_limited(tmp_path, kind):
    for depth in (64, 65):
        path = packed(tmp_path / str(depth), kind, {"d/" * depth + "a.txt": b""})
        refused = pytest.raises(InputError, match="64 deep") if depth > 64 else nullcontext()
        with refused, open_tree(path) as tree:
            assert tree.names == ["d/" * depth + "a.txt"]


def test_an_archive_may_be_read_for_fifty_times_its_size(tmp_path):
    random = Random(0).randbytes(1 << 20)
    path = packed(tmp_path / "data", "zip", {"a": random, "b": bytes(1 << 20)})
    size = path.stat().st_size
    with open_tree(path) as tree:
        for _ in range(50 * size // (1 << 20)):
            tree.read("b")
        with pytest.raises(InputError, match=f"more than {50 * size:,} bytes"):
            tree.read("b")


def test_links_of_a_folder_are_followed_within_it(tmp_path):
    path = packed(tmp_path / "data", "folder")
    (tmp_path / "secret").write_bytes(b"root:x:0:0")
    (path / "inside.txt").symlink_to(path / "a" / "1.txt")
    (path / "outside.txt").symlink_to(tmp_path / "secret")
    (tmp_path / "link").symlink_to(path)
    for named in (path, tmp_path / "link"):
        with open_tree(named) as tree:
            assert tree.read("inside.txt") == b"one"
            for read in (tree.read, lambda name, tree=tree: tree.local(name).__enter__()):
                with pytest.raises(InputError, match=r"outside\.txt: is a link that leads out"):
                    read("outside.txt")
            with tree.open("outside.txt", anywhere=True) as file:
                assert file.read() == b"root:x:0:0"


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
