"""Small files that hold much: refused by stated limits, in bounded memory and linear work."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import InputError, OptionError, render
from cobalance.ingest import trees
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.preview import sample_table


def wide_csv(path, n):
    names = ",".join(f"c{at}" for at in range(n))
    path.write_text(f"id,label,{names}\na,x{',1' * n}\nb,y{',0' * n}\n")


def wide_parquet(path, n):
    columns = {"id": ["a", "b"], "label": ["x", "y"], **{f"c{at}": [1, 0] for at in range(n)}}
    pq.write_table(pa.table(columns), path)


def wide_list_attr(path, n):
    names = " ".join(f"c{at}" for at in range(n))
    path.write_text(f"2\n{names}\na.jpg{' 1' * n}\nb.jpg{' -1' * n}\n")


def keyed_jsonl(path, n):
    rows = [{"id": str(at), "label": "x", f"c{at}": 1} for at in range(n)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.timeout(300)  # comparing all names with each other took longer
@pytest.mark.parametrize("write_wide", [wide_csv, wide_parquet, keyed_jsonl, wide_list_attr])
def test_columns(write_wide, tmp_path, failure):
    path = tmp_path / "data"
    write_wide(path, 20_000)
    form = "list-attr" if write_wide is wide_list_attr else None
    error = failure(path, input_format=form)
    assert error.reason == "has more than 10,000 columns"
    assert render(error.remedy) == "If that is meant, set max_columns higher."
    write_wide(path, 2_000)
    few = ReadOptions(max_columns=1_500)
    assert "1,500 columns" in failure(path, few, form).reason


@pytest.mark.timeout(300)
@pytest.mark.parametrize("write_wide", [wide_csv, wide_parquet, wide_list_attr])
def test_a_limit_can_be_raised(write_wide, tmp_path):
    path = tmp_path / "data"
    write_wide(path, 12_000)
    options = ReadOptions(max_columns=13_000)
    if write_wide is wide_list_attr:
        options = replace(options, class_column="c0")
    form = "list-attr" if write_wide is wide_list_attr else None
    annotations = read_annotations(path, options, form)
    assert len(annotations.mentions) in (11_999, 12_000)


@pytest.mark.timeout(300)
def test_keys_of_few_lines_each_are_gathered_in_one_pass(tmp_path):
    path = tmp_path / "data"
    keyed_jsonl(path, 5_000)
    options = ReadOptions(concepts_column="c7")
    annotations = read_annotations(path, options)
    assert [(m.concept, r.id) for r in annotations.records() for m in r.mentions] == [("1", "7")]
    assert len(annotations.images) == 5_000


def test_rows(tmp_path, failure, write):
    few = ReadOptions(max_rows=2)
    for content in ("id,label,tags\n" + "a,b,c\n" * 3, '{"id": "a", "label": "b"}\n' * 3):
        assert failure(write(content), few).reason == "has more than 2 rows"
    path = tmp_path / "data"
    pq.write_table(pa.table({"id": ["a"] * 3}), path)
    assert failure(path, few).reason == "has more than 2 rows"


@pytest.mark.parametrize("cell", ["a|b|c|d", '["a", "b", "c", "d"]', "['a', 'b', 'c', 'd']"])
def test_mentions(cell, tmp_path, failure):
    path = tmp_path / "data"
    pq.write_table(pa.table({"id": ["a"], "label": ["x"], "tags": [cell]}), path)
    few = ReadOptions(max_mentions=2)
    assert failure(path, few).reason == "has more than 2 concepts in its rows"
    lists = pa.table({"id": ["a"], "label": ["x"], "tags": [["a", "b", "c"]]})
    pq.write_table(lists, path)
    assert failure(path, few).reason == "has more than 2 concepts in its rows"


def test_skipped_records(write):
    path = write("id,label,tags\n" + "a,b\n" * 3)
    options = ReadOptions(on_error="skip", max_skipped=2)
    with pytest.raises(InputError, match="more than 2 malformed records"):
        read_annotations(path, options)


def test_a_limit_of_nothing():
    with pytest.raises(OptionError, match=r"max_rows to 1 or more"):
        ReadOptions(max_rows=0)


@pytest.mark.parametrize("start", ["id,label,tags\n", '{"id": 1}\n', "1\nA B\nx.jpg 1 1\n"])
def test_a_line_that_never_ends(start, tmp_path, failure, monkeypatch):
    monkeypatch.setattr(trees, "LONGEST_LINE", 1_000)
    path = tmp_path / "data"
    path.write_text(start + "\0" * 5_000)
    error = failure(path)
    assert error.record == f"line {start.count(chr(10)) + 1}"
    assert error.reason == "is longer than 1,000 characters"


def block(n, **columns):
    return pa.table({"id": np.arange(n).astype(str), "label": pa.array(["x"] * n), **columns})


# what -> rows, and the limits that they are beyond, in few bytes of a file
UNPACKING = {
    "equal rows": (
        lambda: pa.table({"id": ["a" * 50] * 1_000, "label": ["x"] * 1_000}),
        {"max_rows": 100},
    ),
    "nulls": (lambda: pa.table({"id": pa.nulls(1_000, "string")}), {"max_rows": 100}),
    "large cells": (lambda: block(2_000, tags=["z" * 1_000] * 2_000), {"max_table_mb": 1}),
    "nulls in a list": (lambda: block(1, tags=[[None] * 200_000]), {"max_table_mb": 1}),
    "many names in a cell": (lambda: block(4, tags=["a|" * 500] * 4), {"max_mentions": 100}),
}


@pytest.mark.parametrize("name", UNPACKING)
def test_parquet_that_unpacks_to_more_than_it_may(name, tmp_path):
    make, limits = UNPACKING[name]
    path = tmp_path / "data.parquet"
    pq.write_table(make(), path, compression="zstd")
    assert path.stat().st_size < 20_000
    sample_table(path, "parquet")
    with pytest.raises(InputError, match="more than"):
        read_annotations(path, ReadOptions(on_error="skip", **limits))
