"""CSV and TSV that cannot be read: each error says where, why and what to do."""

from dataclasses import replace

import pyarrow as pa
import pytest

from cobalance.base.errors import render
from cobalance.base.records import ALL_IMAGES
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.tables.decimal_commas import with_decimal_points

HEADER = "image_id,label,concepts\n"
ROW = "a,cat,sofa|bed\n"

# what -> content, record, part of the reason, part of the remedy
RECORDS = {
    "too few fields": (
        f"{HEADER}{ROW}b,dog\n",
        "line 3",
        "2 fields where the header has 3",
        "Comp",
    ),
    "too many fields": (f"{HEADER}{ROW}b,dog,x,y\n", "line 3", "has 4 fields", "quote fields"),
    "unclosed quote": (f'{HEADER}{ROW}b,dog,"x\nc,cat,y\n', "line 3", "never closed", "double"),
    "text after a quote": (f'{HEADER}{ROW}b,dog,"x"y\n', "line 3", "quoting is broken", "Double"),
    "not UTF-8": (
        f"{HEADER}{ROW}".encode() + b"b,caf\xe9,x\n",
        "line 3",
        "0xe9 is not UTF-8",
        "UTF-8",
    ),
    "empty id": (f"{HEADER}{ROW},dog,x\n", "line 3", "'' in column 'image_id'", "printable"),
    "NUL in id": (f"{HEADER}{ROW}b\0,dog,x\n", "line 3", "not readable text", "printable"),
    "long id": (f"{HEADER}{ROW}{'b' * 1001},dog,x\n", "line 3", "not readable text", "printable"),
    "repeated id": (f"{HEADER}{ROW}b,dog,x\na,dog,y\n", "line 4", "'a' is on line 2", "one row"),
    "empty class": (f"{HEADER}{ROW}b, ,x\n", "line 3", "the class is empty", "class"),
    "control in class": (f"{HEADER}{ROW}b,d\x07g,x\n", "line 3", r"character '\x07'", "class"),
    "newline in concept": (f'{HEADER}{ROW}b,dog,"x\ny"\n', "line 3", r"character '\n'", "Correct"),
    "long concept": (f"{HEADER}{ROW}b,dog,{'x' * 1001}\n", "line 3", "1,000 characters", "Correct"),
    "wide as text": (
        "id,label,concepts,width\na,cat,x,640\nb,dog,y,wide\n",
        "line 3",
        "the width 'wide' is not a size",
        "whole number",
    ),
    "negative height": (
        "id,label,concepts,height\na,cat,x,3\nb,cat,x,-3\n",
        "line 3",
        "the height '-3' is not a size",
        "whole number",
    ),
    "control in split": (
        "id,label,concepts,split\na,cat,x,train\nb,cat,x,tr\x01in\n",
        "line 3",
        "the split holds the control character",
        "Correct",
    ),
    "broken JSON list": (
        HEADER + 'a,cat,"[""sofa""]"\nb,dog,"[\'bed\'"\n',
        "line 3",
        "are not a JSON list",
        '{"concept": "tree"',
    ),
    "score over 1": (
        HEADER + 'a,cat,[]\nb,cat,"[{""concept"": ""sofa"", ""score"": 1.5}]"\n',
        "line 3",
        "the score of a concept is 1.5",
        "from 0 to 1",
    ),
    "box of three": (
        HEADER + 'a,cat,[]\nb,cat,"[{""concept"": ""sofa"", ""box"": [1, 2, 3]}]"\n',
        "line 3",
        "length 4",
        "JSON list",
    ),
    "negative area": (
        HEADER + 'a,cat,[]\nb,cat,"[{""concept"": ""sofa"", ""area"": -1}]"\n',
        "line 3",
        "the area of a concept is -1",
        "negative",
    ),
    "scores missing": (
        "id,label,concepts,scores\na,cat,x|y,0.5|0.6\nb,cat,x|y,0.5\n",
        "line 3",
        "has 1 scores for 2 concepts",
        "one score a concept",
    ),
    "score as text": (
        "id,label,concepts,scores\na,cat,x,1\nb,cat,x|y,0.5|high\n",
        "line 3",
        "a score is not a number",
        "Correct",
    ),
}

FILES = {
    "no rows": (HEADER, None, "has no rows", "a row for each image"),
    "column twice": ("id,label,label\na,b,c\n", "line 1", "two columns are named 'label'", "own"),
    "no id": ("name,label,concepts\na,cat,x\n", None, "looks like the image id", "id_column"),
    "empty header": (",,\na,b,c\n", "line 1", "there is no header", "Name the columns"),
    "odd header": ("id,la\x02bel,c\na,b,c\n", "line 1", "the control character '\\x02'", "another"),
    "header not UTF-8": (b"id,label,caf\xe9\na,b,c\n", "line 1", "0xe9 is not UTF-8", "UTF-8"),
    "long header": (f"id,label,{'c' * 1001}\na,b,c\n", "line 1", "1,000 characters", "another"),
    "header twice": ("id,caf\u00e9,cafe\u0301\na,b,c\n", "line 1", "named 'café'", "own"),
}


@pytest.mark.parametrize("separator", [",", "\t"], ids=["csv", "tsv"])
@pytest.mark.parametrize("case", RECORDS)
def test_malformed_record(case, separator, write, failure):
    content, record, reason, remedy = RECORDS[case]
    if separator == "\t" and "{" not in str(content):
        content = (
            content.replace(b",", b"\t")
            if isinstance(content, bytes)
            else content.replace(",", "\t")
        )
    error = failure(write(content))
    assert error.record == record
    assert reason in error.reason
    assert remedy in render(error.remedy)
    assert "on_error='skip'" in render(error.remedy)


@pytest.mark.parametrize("case", RECORDS)
def test_skipped_record(case, write):
    content, record, reason, _ = RECORDS[case]
    path = write(content)
    annotations = read_annotations(path, ReadOptions(on_error="skip"))
    (message,) = annotations.skipped
    assert message.startswith(f"{path}, {record}: ")
    assert reason in message
    assert "on_error" not in message
    assert annotations.images["id"].tolist()[:1] == ["a"]


def test_named_columns_of_one_concept_hold_0_and_1(write, failure):
    path = write("id,label,sofa,bed\na,cat,1,0\nb,dog,2,0\nc,dog,,1\n")
    options = ReadOptions(concept_columns=("sofa", "bed"))
    error = failure(path, options)
    assert error.reason == "the column 'sofa' holds '2', and no 0 or 1"
    annotations = read_annotations(path, replace(options, on_error="skip"))
    found = [(record.id, record.concepts) for record in annotations.records()]
    assert found == [("a", ("sofa",)), ("b", ()), ("c", ("bed",))]
    assert [(each.column, each.missing) for each in annotations.fields] == [("sofa", 2), ("bed", 0)]


def test_nothing_but_malformed_records(write, failure):
    for content in (HEADER + "a,cat\n", HEADER + "a,,x\n"):
        error = failure(write(content), ReadOptions(on_error="skip"))
        assert "(1 malformed record skipped)" in error.reason


def test_without_a_class_images_have_none_and_the_likely_column_is_named(write):
    annotations = read_annotations(write("id,Class Label,concepts\na,cat,x\nb,dog,x\n"))
    assert annotations.images["class_name"].tolist() == [ALL_IMAGES] * 2
    assert "perhaps 'Class Label'" in " ".join(annotations.notes)


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_malformed_file(case, on_error, write, failure):
    content, record, reason, remedy = FILES[case]
    error = failure(write(content), ReadOptions(on_error=on_error))
    assert error.record == record
    assert reason in error.reason
    assert remedy in render(error.remedy)


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        ({"id_column": "foo"}, "id_column"),
        ({"class_column": "foo"}, "class_column"),
        ({"concepts_column": "foo"}, "concepts_column"),
        ({"concept_columns": ("foo",)}, "concept_columns"),
        ({"uri_column": "foo"}, "uri_column"),
    ],
)
def test_option_names_no_column(option, setting, write, failure):
    error = failure(write(HEADER + ROW), ReadOptions(**option))
    assert error.reason == "there is no column 'foo'"
    assert (
        render(error.remedy)
        == f"Its columns: image_id, label, concepts. Set {setting} to one of them."
    )


def test_same_fault_is_counted(write, failure):
    error = failure(write(HEADER + ROW + "b,,x\nc,,y\nd,,z\n"))
    assert error.record == "line 3"
    assert error.reason == "the class is empty (and 2 more like it)"


def test_line_numbers_count_newlines_in_quotes_and_blank_lines(write, failure):
    content = 'image_id,label,concepts,note\na,cat,x,"one\ntwo"\n\nb,dog,y,z\nc,,y,z\n'
    assert failure(write(content)).record == "line 6"


@pytest.mark.parametrize(
    "content",
    [
        "sep=;\nimage;label;objects\n1.jpg;day;car|sign\n",
        "sep=,\r\nimage,label,objects\r\n1.jpg,day,car|sign\r\n",
        '\ufeff"sep=;"\nimage;label;objects\n1.jpg;day;car|sign\n',
        "sep=\t\nimage\tlabel\tobjects\n1.jpg\tday\tcar|sign\n",
    ],
)
def test_excels_line_of_the_separator_is_no_header(content, write, failure):
    (record,) = read_annotations(write(content)).records()
    assert (record.id, record.class_name, record.concepts) == ("1.jpg", "day", ("car", "sign"))
    mark = content.lstrip('\ufeff"')[4]
    cut = content + mark.join(["2.jpg", "day"]) + "\n"
    assert failure(write(cut)).record == "line 4"


def test_decimal_commas_and_points_of_thousands_are_numbers(write):
    rows = [f"{n}.jpg;oak;{n % 12},5;1.{200 + n},25;{n % 3},{n % 2},1\n" for n in range(48)]
    annotations = read_annotations(write("image;label;height_m;area;codes\n" + "".join(rows)))
    kind_of = {field.column: field.kind for field in annotations.fields}
    assert kind_of == {"height_m": "bins", "area": "ignore", "codes": "list"}
    names = annotations.mentions["concept"].cat.categories
    assert "height: below 3.5 m" in names
    assert {name for name in names if name.startswith("codes")} == {
        "codes: 0", "codes: 1", "codes: 2"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("separator", "cells", "expected"),
    [
        (";", ["2,5", "3"], ["2.5", "3"]),
        (";", ["1.250", "2,5"], ["1250", "2.5"]),
        (";", ["1.250.000", "3"], ["1250000", "3"]),
        (";", ["1.250", "3"], ["1.250", "3"]),
        (";", ["1,2,3", "2,5"], ["1,2,3", "2,5"]),
        ("\t", ["0,5", "2,5"], ["0.5", "2.5"]),
        ("\t", ["1,2", "2,5"], ["1,2", "2,5"]),
        (",", ["0,5", "2,5"], ["0,5", "2,5"]),
    ],
)
def test_which_commas_are_decimal(separator, cells, expected):
    columns = {"height": pa.array(cells, pa.large_string())}
    assert with_decimal_points(columns, separator)["height"].to_pylist() == expected


def test_make_sense_writes_no_header(write):
    path = write("mug,10,20,30,40,desk1.jpg,640,480\npen,200,100,60,8,desk1.jpg,640,480\n")
    annotations = read_annotations(path)
    (record,) = annotations.records()
    assert [(m.concept, m.box) for m in record.mentions] == [
        ("mug", (10, 20, 30, 40)), ("pen", (200, 100, 60, 8))
    ]  # fmt: skip
    assert annotations.images[["width_px", "height_px"]].to_numpy().tolist() == [[640, 480]]


@pytest.mark.parametrize("row", ["1.jpg,hull,0,1,1,2", "hull,1,2,3,3,1.jpg", "1.jpg;hull;3"])
def test_a_row_in_the_place_of_the_header_is_said(row, write, failure):
    error = failure(write(f"{row}\n{row}\n"))
    assert (error.record, error.reason[:18]) == ("line 1", "there is no header")
    assert "image,label,xmin,ymin,xmax,ymax" in render(error.remedy)
