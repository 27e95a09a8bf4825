"""The manifest: what is written is what is read; the same rows give the same bytes."""

import hashlib
import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import DataError
from cobalance.generation.output.manifest import (
    MANIFEST_SCHEMA,
    manifest_frame,
    write_rows,
)
from tests.support.manifests import read_manifest


def write(path, frame):
    with path.open("wb") as file:
        write_rows([frame.to_dict("records")], file)


def row(index, **others):
    found = dict.fromkeys(MANIFEST_SCHEMA.names)
    found |= {
        "candidate": f"5f1c/000000/{index:06d}",
        "job": "5f1c",
        "query": 0,
        "index": index,
        "class": 'شارع\n"',
        "concepts": ["sea", "b|c"],
        "prompt": "",
        "seed": 2**63 - 1,
        "verdict": "rejected",
        "scores": json.dumps({"clip": {"score": 0.1}}),
        "made_at": "2026-01-02T03:04:05.678+02:00",
    }
    return found | others


def test_rows_come_back(tmp_path):
    rows = [row(1, width_px=64, chunk_items=["a", "b"], concepts=[]), row(0)]
    write(tmp_path / "m.parquet", pd.DataFrame(rows, dtype=object))
    found = read_manifest(tmp_path / "m.parquet")
    assert found.columns.tolist() == MANIFEST_SCHEMA.names
    assert found["index"].tolist() == [0, 1]
    assert found["seed"].tolist() == [2**63 - 1] * 2
    assert found["concepts"].tolist() == [["sea", "b|c"], []]
    assert found["chunk_items"].tolist() == [None, ["a", "b"]]
    assert found["class"].tolist() == ['شارع\n"'] * 2
    assert found["width_px"].isna().tolist() == [True, False]
    assert found["path"].tolist() == [None, None]
    assert found["made_at"][0] == pd.Timestamp("2026-01-02T01:04:05.678Z")
    assert found.equals(manifest_frame(rows))


def test_the_same_rows_give_the_same_bytes(tmp_path):
    rows = [row(index, width_px=index + 1) for index in range(20)]
    frame = manifest_frame(rows)
    digests = set()
    for number, given in enumerate(
        (
            pd.DataFrame(rows),
            pd.DataFrame(rows[::-1], dtype=object),
            frame,
            frame[frame.columns[::-1]].assign(extra=1),
        )
    ):
        write(tmp_path / f"{number}.parquet", given)
        digests.add(hashlib.sha256((tmp_path / f"{number}.parquet").read_bytes()).hexdigest())
    write(tmp_path / "again.parquet", read_manifest(tmp_path / "0.parquet"))
    digests.add(hashlib.sha256((tmp_path / "again.parquet").read_bytes()).hexdigest())
    assert len(digests) == 1
    assert pq.read_schema(tmp_path / "0.parquet").equals(MANIFEST_SCHEMA, check_metadata=True)


def test_no_rows_are_a_manifest_too(tmp_path):
    write(tmp_path / "m.parquet", manifest_frame([]))
    assert read_manifest(tmp_path / "m.parquet").empty


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(0), row(0)], "Two rows of the manifest have the candidate '5f1c/000000/000000'"),
        ([row(0, prompt=None)], "has no prompt"),
        ([row(0, seed="x")], "The column seed of the manifest has a value that is not int64"),
        (
            [row(0, revision=3)],
            "The column revision of the manifest has a value",
        ),
        ([row(0, made_at="today?")], "made_at"),
        ([{"candidate": "a"}], "have no job, query"),
    ],
)
def test_wrong_rows_are_refused(rows, message):
    with pytest.raises(DataError, match=message):
        manifest_frame(rows)
