"""Small files that unfold to gigabytes, or never end: refused in little memory, whoever reads."""

import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MB = 1 << 20
MOST_MB = 1500
XML = b"<annotation><filename>a.jpg</filename><object><name>cow</name></object></annotation>"
YAML = "names: [cow]\ntrain: images\n"


def pieces(start: bytes, piece: bytes, megabytes: int, end: bytes = b"") -> Iterable[bytes]:
    yield start
    for _ in range(megabytes):
        yield piece * (MB // len(piece))
    yield end


def packed(
    path: Path, files: dict[str, Iterable[bytes]], method: int = zipfile.ZIP_DEFLATED
) -> None:
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:
        for name, content in files.items():
            with archive.open(name, "w") as file:
                for piece in content:
                    file.write(piece)


def folder(path: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)


def laughs() -> bytes:
    lines = ["a0: &a0 [" + "ha, " * 9 + "]"]
    lines += [f"a{i}: &a{i} [" + f"*a{i - 1}, " * 9 + "]" for i in range(1, 10)]
    return "\n".join([*lines, "names: *a9", "train: images", ""]).encode()


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
    lines = pieces(b"", b"\n", 300)
    packed(path, {"Annotations/a.xml": [XML], "ImageSets/Main/train.txt": lines})


def voc_by_lzma(path: Path) -> None:
    files = {"Annotations/a.xml": [XML], "ImageSets/Main/train.txt": pieces(b"", b"\n", 50)}
    packed(path, files, zipfile.ZIP_LZMA)


def metadata_jsonl(path: Path) -> None:
    packed(path, {"metadata.jsonl": pieces(b'{"file_name": "a.jpg"}\n', b"\n", 300)})


def metadata_rows(path: Path) -> None:
    row = b'{"file_name": "a.jpg", "concepts": ["cow"]}\n'
    packed(path, {"metadata.jsonl": pieces(b"", row, 100)})


def metadata_parquet_rows(path: Path) -> None:
    packed(path, {"metadata.parquet": [parquet(file_name=one_word(20_000_000, "a"))]})


def metadata_parquet_words(path: Path) -> None:
    names, long = one_word(20_000, "a"), one_word(20_000, "z" * 100_000)
    folder(path, {"metadata.parquet": parquet(file_name=names, caption=long)})


def samples(path: Path) -> None:
    zeros = pieces(b'{"samples": [', b"0,", 200, b"0]}")
    packed(path, {"samples.json": zeros, "metadata.json": [b"{}"]})


def aliases(path: Path) -> None:
    folder(path, {"data.yaml": laughs(), "images/a.jpg": b""})


def picture(path: Path) -> None:
    files = {"data.yaml": [YAML.encode()], "labels/a.txt": [b"0 .5 .5 1 1\n"]}
    packed(path, {**files, "images/a.jpg": pieces(b"", bytes(1000), 600)})


def saved_dataset(path: Path) -> None:
    folder(
        path,
        {
            "dataset_info.json": b'{"features": null}',
            "state.json": json.dumps({"_data_files": [{"filename": "a.arrow"}]}).encode(),
            "a.arrow": arrow(image_id=["a" * 400 * MB]),
        },
    )


def hole_in_tar(path: Path) -> None:
    """A sparse file of 8 GB, as GNU tar writes it, in three blocks."""
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("a.jpg"))
    entry = tarfile.TarInfo("samples.json")
    header = bytearray(entry.tobuf(tarfile.GNU_FORMAT)[:512])
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:410] = b"77777777777\0" + b"00000000000\0"
    header[483:495] = b"77777777777\0"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    more = tarfile.TarInfo("metadata.json").tobuf(tarfile.GNU_FORMAT)
    path.write_bytes(bytes(header) + more + bytes(1024))


def pipe(name: str, **others: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        files = {"data.yaml": YAML.encode(), "images/a.jpg": b"", **others}
        folder(path, files if name != "metadata.parquet" else {"a/1.jpg": b"", "b/2.jpg": b""})
        (path / name).parent.mkdir(exist_ok=True)
        os.mkfifo(path / name)

    return make


def embeddings(path: Path) -> None:
    head = io.BytesIO()
    shape = (100, 5 * MB)
    np.lib.format.write_array_header_1_0(
        head, {"descr": "|i1", "fortran_order": False, "shape": shape}
    )
    packed(path, {"v.npy": pieces(head.getvalue(), bytes(MB), 500)})


def embeddings_parquet(path: Path) -> None:
    equal = pa.array(np.zeros(50 * MB, np.float32))
    rows = pa.LargeListArray.from_arrays(np.arange(0, 50 * MB + 1, MB), equal)
    path.write_bytes(parquet(id=pa.array([str(i) for i in range(50)]), v=rows))


def predictions(path: Path) -> None:
    path.write_bytes(parquet(image=one_word(20_000, "z" * 100_000)))


UNFOLDS = "unfolds to more than"
PIPE = "is a pipe or a device"
# name -> how it is made, and what is said of it
BOMBS: dict[str, tuple[Callable[[Path], None], str]] = {
    "voc.zip": (voc, UNFOLDS),
    "voc-lzma.zip": (voc_by_lzma, "is not packed by deflate"),
    "jsonl.zip": (metadata_jsonl, UNFOLDS),
    "rows.zip": (metadata_rows, UNFOLDS),
    "rows-parquet.zip": (metadata_parquet_rows, "more than 5,000,000 rows"),
    "samples.zip": (samples, UNFOLDS),
    "aliases": (aliases, "has an alias"),
    "picture.zip": (picture, UNFOLDS),
    "saved": (saved_dataset, "the rows of a.arrow are compressed"),
    "hole.tar": (hole_in_tar, UNFOLDS),
    "pipe-labels": (pipe("labels/a.txt"), PIPE),
    "pipe-parquet": (pipe("metadata.parquet"), PIPE),
    "embeddings.npz": (embeddings, UNFOLDS),
    "embeddings.parquet": (embeddings_parquet, UNFOLDS),
    "embeddings.csv": (os.mkfifo, PIPE),
    "published.json": (os.mkfifo, PIPE),
    "predictions.parquet": (predictions, UNFOLDS),
    "words-parquet": (metadata_parquet_words, "more than 500 MB"),
}
READ = """
import json, sys
from pathlib import Path
from cobalance.evaluation.cells import read_frame
from cobalance.graph.errors import CobalanceError
from cobalance.ingest.embeddings.reading import read_embeddings
from cobalance.ingest.load import read_annotations
from cobalance.ingest.published import read_published
from tests.memory import peak_mb
readers = {
    "embeddings": read_embeddings, "predictions": read_frame,
    "published": lambda path: read_published(path, [], []),
}
for path in map(Path, sys.argv[1:]):
    try:
        readers.get(path.stem, read_annotations)(path)
        said = "read"
    except CobalanceError as error:
        said = str(error)
    print(json.dumps([path.name, said, peak_mb()]), flush=True)
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float]]:
    """What a process that reads all of them one after the other says of each, and its memory."""
    home = tmp_path_factory.mktemp("bombs")
    for name, (make, _) in BOMBS.items():
        make(home / name)
        assert (home / name).stat().st_size < 4 * MB
    command = [sys.executable, "-c", READ, *(str(home / name) for name in BOMBS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = map(json.loads, done.stdout.splitlines())
    return {name: (said, peak) for name, said, peak in found}


@pytest.mark.parametrize("name", BOMBS)
def test_what_would_unfold_without_bound_is_refused(name, outcomes):
    said, peak = outcomes[name]
    assert BOMBS[name][1] in said
    assert peak < MOST_MB
