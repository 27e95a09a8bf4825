"""Pictures that came with annotations are found, and written to their images' addresses alone."""

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cobalance.base import InputError
from cobalance.ingest.load import read_annotations
from cobalance.ingest.packed_pictures import find_packed, take_out_pictures
from tests.ingest.dataset_files import archive, pixels

PIXELS = pixels()


def files_of(folder: Path) -> dict[str, bytes]:
    """Contents of all files below a folder, by their paths in it."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


def test_pictures_of_an_archive_and_beside_the_annotations(files, tmp_path) -> None:
    (files / "pets.zip").write_bytes(archive({"pets/1.jpg": PIXELS, "pets/other.jpg": b"other"}))
    (files / "2.jpg").write_bytes(b"two")
    packed = find_packed([files], ["1.jpg", "2.jpg", "3.jpg", "2.jpg"])
    assert packed.addresses == {"1.jpg", "2.jpg"}
    assert packed.size_bytes == len(PIXELS) + 3
    packed.unpack(tmp_path / "some", {"2.jpg"})
    assert files_of(tmp_path / "some") == {"2.jpg": b"two"}
    packed.unpack(tmp_path / "all")
    assert files_of(tmp_path / "all") == {"1.jpg": PIXELS, "2.jpg": b"two"}


def test_a_shard_s_pictures_are_in_the_folder_that_their_addresses_name(files, tmp_path) -> None:
    with tarfile.open(files / "shard-0.tar", "w") as shard:
        for name, content in {"a.jpg": PIXELS, "a.json": b'{"label": "cat"}'}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            shard.addfile(entry, io.BytesIO(content))
    addresses = read_annotations(files / "shard-0.tar").images["uri"].tolist()
    packed = find_packed([files], addresses)
    assert packed.size_bytes == len(PIXELS)
    packed.unpack(tmp_path / "kept")
    assert files_of(tmp_path / "kept") == dict.fromkeys(addresses, PIXELS)


@pytest.mark.parametrize(
    "address", ["../1.jpg", "/etc/1.jpg", "a/../../1.jpg", "http://a.org/1.jpg", f"{'x' * 300}.jpg"]
)
def test_nothing_is_written_outside_of_the_folder(files, address) -> None:
    (files / "pets.zip").write_bytes(archive({"1.jpg": PIXELS, "etc/1.jpg": PIXELS}))
    assert find_packed([files], [address]).paths == {}


def test_paths_that_lead_out_and_links_are_not_followed(files, tmp_path) -> None:
    with zipfile.ZipFile(files / "link.zip", "w") as packed:
        link = zipfile.ZipInfo("1.jpg")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, "/etc/passwd")
    assert find_packed([files], ["1.jpg"]).paths == {}
    (files / "out.zip").write_bytes(archive({"../1.jpg": PIXELS}))
    with pytest.raises(InputError, match="leads out of it"):
        find_packed([files], ["1.jpg"])


def test_an_archive_that_unfolds_to_much_is_refused(files, tmp_path) -> None:
    with zipfile.ZipFile(files / "big.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("1.jpg", bytes(1 << 26))
    found = find_packed([files], ["1.jpg"])
    assert found.size_bytes == 1 << 26
    with pytest.raises(InputError, match="unfolds to more"):
        found.unpack(tmp_path / "kept")


@pytest.mark.parametrize("paths", [[None, None], ["image.jpg", "image.jpg"]])
def test_pictures_in_parquet_get_addresses_of_their_own(files, tmp_path, paths) -> None:
    other = PIXELS + b"\0"
    images = [
        {"bytes": content, "path": path}
        for content, path in zip((PIXELS, other), paths, strict=True)
    ]
    table = pa.table({"label": ["cat", "dog"], "image": images, "tags": [["a"], ["a", "b"]]})
    pq.write_table(table, files / "pets.parquet")
    take_out_pictures(files / "pets.parquet", tmp_path / "pets")
    read = read_annotations(files / "pets.parquet")
    assert read.images["uri"].tolist() == ["pets/000000.jpg", "pets/000001.jpg"]
    assert read.images["class_name"].tolist() == ["cat", "dog"]
    assert files_of(tmp_path / "pets") == {"000000.jpg": PIXELS, "000001.jpg": other}


@pytest.mark.parametrize(
    "columns",
    [
        {"label": ["cat"], "tags": [["a"]]},
        {"label": ["cat"], "mask": [b"no picture"]},
        {"image": [PIXELS]},
    ],
)
def test_a_file_without_pictures_or_without_more_stays_as_it_is(files, tmp_path, columns) -> None:
    path = files / "pets.parquet"
    pq.write_table(pa.table(columns), path)
    before = path.read_bytes()
    take_out_pictures(path, tmp_path / "pets")
    assert path.read_bytes() == before
    path.write_bytes(b"PAR1 and no more")
    take_out_pictures(path, tmp_path / "pets")
    assert not (tmp_path / "pets").exists()
