"""Spark Connect, and the lines of docs/scale.md for other engines: `make test-engines`."""

import random
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cobalance as cb
from cobalance.workflows.in_files.spark import java_variables
from tests.docs.pages import blocks_of

pytestmark = pytest.mark.engines

CONCEPTS = [f"concept {number}" for number in range(20)]
OPTIONS = {"max_size": 3, "min_support": 2, "common": ()}


@pytest.fixture(scope="module")
def images():
    """Class and concepts of 4,000 images, of unequal classes; some show none."""
    rng = random.Random(3)
    labels = rng.choices(["farm", "town"], [3, 1], k=4000)
    return [(label, rng.sample(CONCEPTS, rng.randrange(6))) for label in labels]


@pytest.fixture(scope="module")
def folder(images, tmp_path_factory):
    path = tmp_path_factory.mktemp("images")
    for number in range(4):
        labels, concepts = zip(*images[number::4], strict=True)
        table = pa.table({"label": labels, "concepts": concepts})
        pq.write_table(table, path / f"{number}.parquet")
    return path


@pytest.fixture(scope="module")
def wanted(images):
    data = cb.read(pd.DataFrame(images, columns=["label", "concepts"]))
    return cb.imbalances(data, **OPTIONS).frame


def test_a_session_of_spark_connect(folder, wanted):
    from pyspark.sql import SparkSession

    with java_variables():
        session = SparkSession.builder.remote("local[2]").getOrCreate()
    try:
        assert "connect" in type(session).__module__
        found = cb.imbalances_in_files(str(folder), engine="spark", **OPTIONS)
    finally:
        session.stop()
    pd.testing.assert_frame_equal(found.frame, wanted)


@pytest.mark.parametrize("engine", ["ray", "daft"])
def test_the_lines_of_the_page_count_the_same(engine, folder, wanted, monkeypatch):
    texts = [block.text for block in blocks_of("docs/scale.md")]
    (lines,) = [text for text in texts if f"import {engine}" in text]
    monkeypatch.chdir(folder.parent)
    names: dict[str, Any] = {}
    exec(lines.replace('"images/', f'"{folder.name}/'), names)
    found = cb.imbalances_of_batches(names["scan"], **OPTIONS)
    pd.testing.assert_frame_equal(found.frame, wanted)
