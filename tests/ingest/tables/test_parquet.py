"""Parquet files that cannot be read: each error says where, why and what to do."""

import datetime
import subprocess
import sys
from decimal import Decimal
from itertools import permutations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import InputError, render
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.preview import sample_table

LISTS = [["sofa"], ["bed"]]
OBJECT = pa.struct([("concept", pa.string()), ("score", pa.float64())])

# what -> columns, part of the reason, part of the remedy; the second row is malformed
RECORDS = {
    "no id": ({"id": ["a", None], "label": ["x", "y"], "concepts": LISTS}, "id ''", "printable"),
    "repeated id": ({"id": ["a", "a"], "label": ["x", "y"], "concepts": LISTS}, "row 1", "one row"),
    "no class": ({"id": ["a", "b"], "label": ["x", None], "concepts": LISTS}, "class is empty", ""),
    "control character": (
        {"id": ["a", "b"], "label": ["x", "y\0"], "concepts": LISTS},
        r"control character '\x00'",
        "class",
    ),
    "bad concept": (
        {"id": ["a", "b"], "label": ["x", "y"], "concepts": [["sofa"], ["be\nd"]]},
        r"a concept holds the control character '\n'",
        "name",
    ),
    "bad score": (
        {
            "id": ["a", "b"],
            "label": ["x", "y"],
            "concepts": pa.array(
                [[{"concept": "sofa", "score": 0.5}], [{"concept": "bed", "score": 2.0}]],
                pa.list_(OBJECT),
            ),
        },
        "the score of a concept is 2",
        "from 0 to 1",
    ),
    "null concept": (
        {"id": ["a", "b"], "label": ["x", "y"], "concepts": [["sofa"], [None]]},
        "a concept is empty",
        "name",
    ),
    "object without a name": (
        {"id": ["a", "b"], "label": ["x", "y"], "concepts": [[{"name": "sofa"}], [{"x": "bed"}]]},
        "are not a JSON list of concepts",
        '"concept"',
    ),
    "negative width": (
        {"id": ["a", "b"], "label": ["x", "y"], "concepts": LISTS, "width": pa.array([1, -1])},
        "the width '-1' is not a size",
        "whole number",
    ),
}

FILES = {
    "decimal ids": (
        {"id": [1.0, 2.0], "label": ["x", "y"], "concepts": LISTS},
        "'id' holds decimal numbers",
        "id_column",
    ),
    "decimal classes": (
        {"id": ["a", "b"], "label": [0.0, 1.0], "concepts": LISTS},
        "'label' holds decimal numbers",
        "class_column",
    ),
    "boxes of three": (
        {
            "id": ["a"],
            "label": ["x"],
            "concepts": pa.array(
                [[{"concept": "sofa", "box": [1.0, 2.0, 3.0]}]],
                pa.list_(pa.struct([("concept", "string"), ("box", pa.list_(pa.float64()))])),
            ),
        },
        "a field of a wrong type",
        "four numbers",
    ),
    "boxes in structures": (
        {"id": ["a"], "label": ["x"], "concepts": [[{"concept": "sofa", "box": {"x": 1.0}}]]},
        "a field of a wrong type",
        "four numbers",
    ),
    "width in lists": (
        {"id": ["a"], "label": ["x"], "concepts": [["y"]], "width": [["640"]]},
        "'width' holds lists",
        "width_column",
    ),
    "scores in structures": (
        {"id": ["a"], "label": ["x"], "concepts": [["y"]], "scores": [[{"score": 0.5}]]},
        "the scores column holds structures",
        "one number a concept",
    ),
    "text that is not UTF-8": (
        {
            "id": ["a"],
            "label": pa.array([b"caf\xe9"]).view("string"),
            "concepts": [["y"]],
        },
        "UTF8",
        "again",
    ),
    "control character in a name": ({"id": ["a"], "la\x02bel": ["x"]}, "'\\x02'", "another name"),
    "no rows": (
        {"id": pa.array([], "string"), "label": pa.array([], "string")},
        "has no rows",
        "a row for each image",
    ),
}


def save(path, columns):
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("case", RECORDS)
def test_malformed_record(case, tmp_path, malformed):
    columns, reason, remedy = RECORDS[case]
    path = save(tmp_path / "data.csv", columns)
    annotations = malformed(path, "row 2", reason, remedy)
    assert annotations.images["id"].tolist() == ["a"]


@pytest.mark.parametrize("case", FILES)
def test_malformed_file(case, tmp_path, failure):
    columns, reason, remedy = FILES[case]
    error = failure(save(tmp_path / "data", columns))
    assert error.record is None
    assert reason in error.reason
    assert remedy in render(error.remedy)


@pytest.mark.parametrize("item", [lambda name: name, lambda name: {"concept": name}])
def test_lists_of_names_that_each_row_group_codes_on_its_own(item, tmp_path):
    shown = [["sofa"], ["bed", "sofa"], [], ["lamp"], ["bed"]]
    cells = [[item(name) for name in names] for names in shown]
    rows = pa.table({"id": list("abcde"), "label": list("xyxyx"), "concepts": cells})
    path = tmp_path / "data"
    pq.write_table(rows, path, row_group_size=2)
    assert [[m.concept for m in r.mentions] for r in read_annotations(path).records()] == shown


def test_column_of_an_unusable_type(tmp_path, failure):
    site = {"country": "NL"}
    columns = {"id": ["a"], "label": ["x"], "concepts": [["y"]], "site": [site]}
    path = save(tmp_path / "data", columns)
    for options, setting in (
        (ReadOptions(split_column="site"), "split_column"),
        (ReadOptions(field={"site": "values"}), "field"),
    ):
        error = failure(path, options)
        kind = "struct<country: string>"
        assert error.reason == f"the column 'site' holds {kind}, which cannot be used"
        assert setting in render(error.remedy)

    assert read_annotations(path).notes[1] == (
        f"{path}: columns left out, as their types cannot be used: site (struct)"
    )


def test_dates_and_decimals_are_those_of_the_same_rows_as_csv(tmp_path):
    days = [datetime.date(2020, 1 + at % 3, 5) for at in range(12)]
    hours = [datetime.datetime(2020, 1, 1, 6 * (at % 4), tzinfo=datetime.UTC) for at in range(12)]
    columns = {
        "id": [str(at) for at in range(12)],
        "label": ["x", "y"] * 6,
        "day": days,
        "seen": hours,
        "dose": [Decimal("1.10") + at % 2 for at in range(12)],
    }
    path = save(tmp_path / "data", columns)
    table = tmp_path / "data.csv"
    pd.DataFrame(columns).to_csv(table, index=False)

    for field in ({}, {"day": "month", "seen": "hour"}):
        typed, written = (
            read_annotations(file, ReadOptions(field=field)) for file in (path, table)
        )
        concepts = [
            sorted((m.concept, r.id) for r in read.records() for m in r.mentions)
            for read in (typed, written)
        ]
        assert concepts[0] == concepts[1]
        shown = {concept for concept, _ in concepts[0]}
        assert {"dose: 1.10", "dose: 2.10"} <= shown
        assert len(shown) == (9 if field else 2)  # three months and four hours


def test_cut_off_and_garbage(tmp_path, failure):
    path = save(tmp_path / "data", {"id": ["a"], "label": ["x"], "concepts": [["y"]]})
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"PAR1" + b"\0" * 50, b"PAR1PAR1"):
        path.write_bytes(content)
        error = failure(path)
        assert "is no Parquet file that can be read" in error.reason
        assert "again" in render(error.remedy)


def test_two_columns_of_one_name(tmp_path, failure):
    path = tmp_path / "data"
    for names in (["id", "x", "x"], ["id", "caf\u00e9", " cafe\u0301"]):
        arrays = [pa.array(["a"]), pa.array(["b"]), pa.array(["c"])]
        pq.write_table(pa.Table.from_arrays(arrays, names=names), path)
        assert "two columns are named" in failure(path).reason
        with pytest.raises(InputError, match="two columns are named"):
            sample_table(path, "parquet")


READ_AND_SAMPLE = """
import sys
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from cobalance.base.errors import InputError
from cobalance.ingest.load import read_annotations
from cobalance.ingest.preview import sample_table
for read in (read_annotations, lambda path: sample_table(path, "parquet")):
    try:
        read(Path(sys.argv[1]))
    except InputError as error:
        print(error)
"""


def test_metadata_that_contradicts_itself(tmp_path):
    path = save(tmp_path / "data", {"id": ["a"], "label": ["x"], "concepts": [["y"]]})
    content = path.read_bytes()
    optional = b"\x25\x02\x18\x02id"  # in the schema: the kind of repetition, and the name
    assert content.count(optional) == 1
    path.write_bytes(content.replace(optional, b"\x25\x12\x18\x02id"))
    # in a process of its own: Arrow's `column` would abort it
    done = subprocess.run(
        [sys.executable, "-c", READ_AND_SAMPLE, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    messages = done.stdout.splitlines()
    assert len(messages) == 2
    assert all("is no Parquet file that can be read" in message for message in messages)


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ([1.0, None, 2.0], [1, 2, 2], ["1", None, "2", "1", "2", "2"]),
        ([1.0, None, 2.0], ["1", "2", "2"], ["1", None, "2", "1", "2", "2"]),
        ([1.0, None, 2.5], ["low", "high", None], ["1.0", None, "2.5", "low", "high", None]),
        ([1.0, None, 2.0], [None] * 3, ["1", None, "2", None, None, None]),
        (["low", None, "high"], [None] * 3, ["low", None, "high", None, None, None]),
        ([["low"], None, ["high"]], [None] * 3, ["low", None, "high", None, None, None]),
        ([["low"], None, ["high"]], ["low"] * 3, ["low", None, "high", "low", "low", "low"]),
    ],
)
@pytest.mark.parametrize("is_turned_round", [False, True])
def test_a_column_may_have_another_type_in_each_file(
    tmp_path, first, second, shown, is_turned_round
):
    rows = {"a": first * 4, "b": second * 4}
    for file, values in rows.items():
        ids = [f"{file}{at}.jpg" for at in range(len(values))]
        frame = pd.DataFrame({"image": ids, "label": ["x", "y"] * 6, "concepts": "sea"})
        name = {"a": "z", "b": "y"}[file] if is_turned_round else file
        frame.assign(level=values).to_parquet(tmp_path / f"{name}.parquet")
    expected = {"a": shown[:3] * 4, "b": shown[3:] * 4}
    found = read_annotations(tmp_path)
    for record in found.records():
        level = expected[record.id[0]][int(record.id[1:-4])]
        assert set(record.concepts) == {"sea"} | ({f"level: {level}"} if level else set())


def test_concepts_may_be_decimal_numbers(tmp_path):
    ids = [f"{at}.jpg" for at in range(4)]
    frame = pd.DataFrame({"image": ids, "label": ["x", "y"] * 2, "tag": [1.0, None, 2.5, 1.0]})
    frame.to_parquet(tmp_path / "a.parquet")
    found = read_annotations(tmp_path / "a.parquet")
    assert [record.concepts for record in found.records()] == [("1.0",), (), ("2.5",), ("1.0",)]


def test_a_column_of_objects_beside_text_is_refused_in_a_sentence(tmp_path):
    for name, values in (("a", [[{"depth": 1}], [{"depth": 2}]]), ("b", ["low", "high"])):
        ids = [f"{name}{at}.jpg" for at in range(2)]
        table = {"image": ids, "label": ["x", "y"], "concepts": ["sea"] * 2, "level": values}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match=r"has a column of other values in other files .*level"):
        read_annotations(tmp_path)


def test_any_two_types_of_a_column_are_read_or_refused_in_a_sentence(tmp_path):
    kinds = {
        "texts": ["low", "high"],
        "integers": [1, 2],
        "decimals": [1.5, None],
        "booleans": [True, False],
        "nothing": [None, None],
        "dates": [datetime.date(2024, 1, 1)] * 2,
        "lists of texts": [["low"], ["high", "low"]],
        "lists of numbers": [[1], [2, 3]],
        "objects": [{"depth": 1}, {"depth": 2}],
        "lists of objects": [[{"depth": 1}], [{"depth": 2}]],
    }
    refused = {}
    for pair in permutations(kinds, 2):
        for name, kind in zip("ab", pair, strict=True):
            ids = [f"{name}{at}.jpg" for at in range(2)]
            table = {"image": ids, "label": ["x", "y"], "concepts": ["sea"] * 2}
            table["level"] = kinds[kind]
            pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
        try:
            assert len(read_annotations(tmp_path).images) == 4
        except InputError as error:
            refused[pair] = str(error)
    assert all("a column of other values in other files" in text for text in refused.values())
    assert all("lists of objects" in pair for pair in refused)


def test_a_column_of_lists_is_of_concepts_though_it_is_called_like_a_class(tmp_path):
    path = tmp_path / "rows"
    pq.write_table(pa.table({"id": ["a", "b"], "label": [["hen", "egg"], ["hen"]]}), path)
    annotations = read_annotations(path)
    assert [record.concepts for record in annotations.records()] == [("egg", "hen"), ("hen",)]
    with pytest.raises(InputError, match="'label' holds lists"):
        read_annotations(path, ReadOptions(class_column="label"))
