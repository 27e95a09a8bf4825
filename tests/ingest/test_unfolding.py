"""Files that unfold to more than they may, or never end: refused, whoever reads.

What is refused here is small, and the limits are smaller: with the limits as they are, every file
that unfolds is read.
"""

import io
import json
import socket
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import chdir, closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import CobalanceError
from cobalance.evaluation.table_files import read_frame
from cobalance.ingest import trees
from cobalance.ingest.embeddings.reading import read_embeddings
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.published import read_published

MB = 1 << 20
FREE_BYTES = 1 << 14
XML = b"<annotation><filename>a.jpg</filename><object><name>cow</name></object></annotation>"
YAML = b"names: [cow]\ntrain: images\n"


def packed(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def folder(path: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)


def one_word(rows: int, word: str) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([word]))


def parquet(**columns: pa.Array) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def arrow(**columns: list[str]) -> bytes:
    table, file = pa.table(columns), io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(file, table.schema, options=options) as stream:
        stream.write_table(table)
    return file.getvalue()


def voc(path: Path) -> None:
    packed(path, {"Annotations/a.xml": XML, "ImageSets/Main/train.txt": b"a\n" + b"\n" * 100_000})


def voc_by_lzma(path: Path) -> None:
    files = {"Annotations/a.xml": XML, "ImageSets/Main/train.txt": b"a\n"}
    packed(path, files, zipfile.ZIP_LZMA)


def metadata_jsonl(path: Path) -> None:
    row = b'{"file_name": "a.jpg", "concepts": ["cow"]}\n'
    packed(path, {"metadata.jsonl": row + b"\n" * MB})


def metadata_rows(path: Path) -> None:
    rows = [b'{"file_name": "%d.jpg", "concepts": ["cow"]}\n' % at for at in range(5_000)]
    packed(path, {"metadata.jsonl": b"".join(rows)})


def metadata_parquet_rows(path: Path) -> None:
    names = pa.array([f"{at}.jpg" for at in range(20)])
    packed(path, {"metadata.parquet": parquet(file_name=names, caption=one_word(20, "cow"))})


def metadata_parquet_words(path: Path) -> None:
    names = pa.array([f"{at}.jpg" for at in range(2_000)])
    folder(path, {"metadata.parquet": parquet(file_name=names, caption=one_word(2_000, "z" * 900))})


def samples(path: Path) -> None:
    sample = b'{"_id": 1, "filepath": "a.jpg", "ground_truth": {"label": "cow"}}'
    packed(
        path,
        {"samples.json": b'{"samples": [' + sample + b" " * MB + b"]}", "metadata.json": b"{}"},
    )


def aliases(path: Path) -> None:
    folder(path, {"data.yaml": b"a: &a [cow]\nnames: *a\ntrain: images\n", "images/a.jpg": b""})


def saved_dataset(path: Path) -> None:
    folder(
        path,
        {
            "dataset_info.json": b'{"features": null}',
            "state.json": json.dumps({"_data_files": [{"filename": "a.arrow"}]}).encode(),
            "a.arrow": arrow(image_id=["a" * 400]),
        },
    )


def hole_in_tar(path: Path) -> None:
    """A sparse file of a megabyte, as GNU tar writes it, in three blocks."""
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("a.jpg"))
    entry = tarfile.TarInfo("samples.json")
    header = bytearray(entry.tobuf(tarfile.GNU_FORMAT)[:512])
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:410] = b"%011o\0" % MB + b"00000000000\0"
    header[483:495] = b"%011o\0" % MB
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    more = tarfile.TarInfo("metadata.json").tobuf(tarfile.GNU_FORMAT)
    path.write_bytes(bytes(header) + more + bytes(1024))


def put_socket(path: Path) -> None:
    """A file that is no regular one, and that no reader waits at: opening it is an error."""
    with chdir(path.parent), closing(socket.socket(socket.AF_UNIX)) as bound:
        bound.bind(path.name)


def special(name: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        files = {"data.yaml": YAML, "images/a.jpg": b""}
        folder(path, files if name != "metadata.parquet" else {"a/1.jpg": b"", "b/2.jpg": b""})
        (path / name).parent.mkdir(exist_ok=True)
        put_socket(path / name)

    return make


def embeddings(path: Path) -> None:
    ids = np.array([str(at) for at in range(10)])
    np.savez_compressed(path, id=ids, v=np.zeros((10, 50_000), np.float32))


def embeddings_parquet(path: Path) -> None:
    rows = pa.array(np.zeros((50, 1_000), np.float32).tolist(), pa.list_(pa.float32()))
    path.write_bytes(parquet(id=pa.array([str(at) for at in range(50)]), v=rows))


def predictions(path: Path) -> None:
    path.write_bytes(parquet(image=one_word(2_000, "z" * 900)))


UNFOLDS = "unfolds to more than"
SPECIAL = "is a pipe or a device"
UNFOLDING: dict[str, tuple[Callable[[Path], None], str]] = {
    "voc.zip": (voc, UNFOLDS),
    "jsonl.zip": (metadata_jsonl, UNFOLDS),
    "rows.zip": (metadata_rows, UNFOLDS),
    "rows-parquet.zip": (metadata_parquet_rows, "more than 10 rows"),
    "words-parquet": (metadata_parquet_words, "more than 1 MB"),
    "samples.zip": (samples, UNFOLDS),
    "embeddings.npz": (embeddings, UNFOLDS),
    "embeddings.parquet": (embeddings_parquet, UNFOLDS),
    "predictions.parquet": (predictions, UNFOLDS),
}
"""How each is made, and what is said of it under the small limits."""
REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "voc-lzma.zip": (voc_by_lzma, "is not packed by deflate"),
    "aliases": (aliases, "has an alias"),
    "saved": (saved_dataset, "the rows of a.arrow are compressed"),
    "labels": (special("labels/a.txt"), SPECIAL),
    "table": (special("metadata.parquet"), SPECIAL),
    "embeddings.csv": (put_socket, SPECIAL),
    "published.json": (put_socket, SPECIAL),
}
"""How others are made, and what is said of them under any limits."""
SMALL = {
    "rows-parquet.zip": ReadOptions(max_rows=10),
    "words-parquet": ReadOptions(max_table_mb=1),
}
"""Limits that are options."""


def read(path: Path, options: ReadOptions | None = None) -> None:
    match path.stem:
        case "embeddings":
            read_embeddings(path)
        case "predictions":
            read_frame(path)
        case "published":
            read_published(path, [], [])
        case _:
            read_annotations(path, options or ReadOptions())


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_FREE_BYTES", FREE_BYTES)
    monkeypatch.setattr(trees, "MOST_RATIO", 1)


@pytest.mark.parametrize("name", UNFOLDING)
@pytest.mark.usefixtures("small_limits")
def test_what_unfolds_to_more_than_it_may_is_refused(tmp_path: Path, name: str) -> None:
    make, message = UNFOLDING[name]
    make(tmp_path / name)
    with pytest.raises(CobalanceError, match=message):
        read(tmp_path / name, SMALL.get(name))


@pytest.mark.parametrize("name", UNFOLDING)
def test_within_the_limits_it_is_read(tmp_path: Path, name: str) -> None:
    make, _ = UNFOLDING[name]
    make(tmp_path / name)
    read(tmp_path / name)


@pytest.mark.usefixtures("small_limits")
def test_a_hole_in_a_tar_archive_counts_as_long_as_it_is(tmp_path: Path) -> None:
    hole_in_tar(tmp_path / "hole.tar")
    with pytest.raises(CobalanceError, match=UNFOLDS):
        read(tmp_path / "hole.tar")


@pytest.mark.usefixtures("small_limits")
def test_a_picture_counts_with_the_rest_of_its_archive(tmp_path: Path) -> None:
    files = {"data.yaml": YAML, "labels/a.txt": b"0 .5 .5 1 1\n", "images/a.jpg": bytes(MB)}
    packed(tmp_path / "picture.zip", files)
    with pytest.raises(CobalanceError, match=UNFOLDS):
        read(tmp_path / "picture.zip")


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_unfold_without_bound_or_never_end_is_refused(tmp_path: Path, name: str) -> None:
    make, message = REFUSED[name]
    make(tmp_path / name)
    with pytest.raises(CobalanceError, match=message):
        read(tmp_path / name)
