"""Counting on Spark equals counting here, however the work is split."""

import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cobalance as cb
from cobalance.graph.counting.cliques import mine_cliques
from cobalance.graph.counting.incidence import incidence_of
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.errors import InputError, TooManyCliquesError, UnknownNameError
from cobalance.graph.records import Annotations, ImageRecord, Mention
from cobalance.ingest.spark.counting import count_with_spark
from cobalance.ingest.spark.images import SparkOptions
from cobalance.workflows.spark import spark_session

CONCEPTS = ["cow", "field", "água", "stop sign", "a|b", "rain", "sea"]
CLASSES = ["country", "sea", "urban"]


@pytest.fixture(scope="module")
def session():
    with spark_session("local[2]") as running:
        yield running


@pytest.fixture(scope="module")
def images():
    """(class, concepts) of 240 images; one concept in one class alone, and images of nothing."""
    chosen = random.Random(5)
    rows = []
    for _ in range(240):
        class_name = chosen.choice(CLASSES)
        known = CONCEPTS if class_name == "urban" else CONCEPTS[:-1]
        rows.append((class_name, chosen.sample(known, chosen.randrange(len(known)))))
    return rows


@pytest.fixture(scope="module")
def folder(images, tmp_path_factory):
    """Parquet files of the images, with names that are one once they are cleaned."""
    path = tmp_path_factory.mktemp("images")
    for part in range(3):
        rows = images[part::3]
        written = [
            [f" {name} " if name == "cow" and part else name for name in of] for _, of in rows
        ]
        table = pa.table({"label": [name for name, _ in rows], "concepts": written})
        pq.write_table(table, path / f"{part}.parquet")
    return str(path)


def counted_here(images, **options):
    records = [
        ImageRecord(str(row), class_name, tuple(map(Mention, concepts)))
        for row, (class_name, concepts) in enumerate(images)
    ]
    return mine_cliques(incidence_of(Annotations.from_records(records)), **options)


def rows_of(cliques):
    return [*zip(cliques.names(), cliques.counts.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("split", "size", "least", "common"),
    [
        ("images", 1, 1, None),
        ("prefixes", 2, 9, ()),
        ("images", 3, 2, ("sea", "urban")),
        ("prefixes", 3, 2, ("sea", "urban")),
        ("images", 4, 1, None),
        ("prefixes", 4, 1, None),
    ],
)
def test_counts_are_those_of_one_machine(session, images, folder, split, size, least, common):
    wanted = counted_here(images, max_size=size, min_support=least, common=common)
    options, mining = SparkOptions(split=split), MiningOptions(size, least, common)
    found = count_with_spark(session, folder, options, mining)
    assert rows_of(found) == rows_of(wanted)
    assert found.classes == wanted.classes
    assert found.class_sizes.tolist() == wanted.class_sizes.tolist()


def test_from_python_a_running_session_is_used(session, images, folder):
    found = cb.imbalances_with_spark(folder, max_size=2, common=(), master="local[7]")
    frame = pd.DataFrame(images, columns=["label", "concepts"])
    wanted = cb.imbalances(cb.read(frame), max_size=2, common=())
    pd.testing.assert_frame_equal(found.frame, wanted.frame)
    assert session.sparkContext.master == "local[2]"


def test_text_is_split_at_its_delimiter(session, tmp_path):
    path = str(tmp_path / "text.parquet")
    rows = {"kind": ["a", "b", "a"], "seen": ["cow.sea", "", "sea"]}
    pq.write_table(pa.table(rows), path)
    options = SparkOptions(class_column="kind", concepts_column="seen", delimiter=".")
    found = count_with_spark(session, path, options, MiningOptions(2, common=()))
    assert rows_of(found) == [(("cow",), [1, 0]), (("sea",), [2, 0]), (("cow", "sea"), [1, 0])]


def test_what_cannot_be_counted_says_why(session, folder, tmp_path):
    with pytest.raises(TooManyCliquesError, match="More than 5 cliques"):
        count_with_spark(session, folder, max_cliques=5)
    with pytest.raises(UnknownNameError, match="moon"):
        count_with_spark(session, folder, mining=MiningOptions(common=("moon",)))
    with pytest.raises(InputError, match="has no column 'kind'"):
        count_with_spark(session, folder, SparkOptions(class_column="kind"))
    with pytest.raises(InputError, match="cannot be read"):
        count_with_spark(session, str(tmp_path / "nothing"))
    rows = {"label": ["a", None], "concepts": [["x"], ["y"]]}
    pq.write_table(pa.table(rows), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="1 images have no class"):
        count_with_spark(session, str(tmp_path / "none.parquet"))
