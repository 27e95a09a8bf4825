"""CelebA's list_attr files that cannot be read: each error says where, why and what to do."""

import pytest

from cobalance.base.errors import InputError, render
from cobalance.base.progress import silent
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.preview import sample_table
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables import TABLES

GOOD = "2\nMale Smiling Hat\n1.jpg 1 -1 1\n"
OPTIONS = ReadOptions(class_column="Male")

# what -> third line, part of the reason, part of the remedy
RECORDS = {
    "a value too few": ("2.jpg -1 1", "has 2 values for 3 attributes", "one value an attribute"),
    "a value too many": ("2.jpg -1 1 1 1", "has 4 values", "one value an attribute"),
    "space in the name": ("2 2.jpg -1 1 1", "has 4 values", "a file name without spaces"),
    "not -1 or 1": ("2.jpg -1 7 1", "the column 'Smiling' holds '7'", "-1 or 1"),
    "text": ("2.jpg -1 maybe 1", "the column 'Smiling' holds 'maybe'", "-1 or 1"),
    "repeated": ("1.jpg -1 1 1", "'1.jpg' is on line 3 already", "one row"),
    "not UTF-8": (b"\xe9.jpg -1 1 1", "0xe9 is not UTF-8", "UTF-8"),
    "NUL": ("2\0.jpg -1 1 1", "not readable text", "printable"),
    "long name": ("2" * 1001 + " -1 1 1", "not readable text", "printable"),
}

FILES = {
    "too few images": ("3\nMale Hat\n1.jpg 1 -1\n", "line 1", "announces 3", "Correct the number"),
    "too many images": (
        "1\nMale Hat\n1.jpg 1 -1\n2.jpg 1 1\n",
        "line 1",
        "announces 1 images, and 2 follow",
        "Correct the number",
    ),
    "attribute twice": ("1\nMale Male\n1.jpg 1 -1\n", "line 2", "two columns are named", "own"),
    "no such attribute": ("1\nHat Bag\n1.jpg 1 -1\n", None, "no column 'Male'", "class_column"),
    "no images": ("0\nMale Hat\n\n", None, "has no rows", "a row for each image"),
}


@pytest.mark.parametrize("case", RECORDS)
def test_malformed_record(case, write, malformed):
    line, reason, remedy = RECORDS[case]
    path = write(GOOD.encode() + (line if isinstance(line, bytes) else line.encode()) + b"\n")
    annotations = malformed(path, "line 4", reason, remedy, OPTIONS)
    assert annotations.images["id"].tolist() == ["1.jpg"]


@pytest.mark.parametrize("case", FILES)
def test_malformed_file(case, write, failure):
    content, record, reason, remedy = FILES[case]
    error = failure(write(content), OPTIONS, "list-attr")
    assert error.record == record
    assert reason in error.reason
    assert remedy in render(error.remedy)


def test_count_missing(write, failure):
    error = failure(write("Male Hat\n1.jpg 1 -1\n"), OPTIONS, "list-attr")
    assert str(error.record) == "line 1"
    assert "should be the number of images, and is 'Male Hat'" in error.reason


def test_names_missing(write, failure):
    error = failure(write("1\n\n1.jpg 1 -1\n"), OPTIONS, "list-attr")
    assert str(error.record) == "line 2"
    assert "names of the attributes" in error.reason


def test_names_that_are_not_utf8(write, failure):
    path = write(b"1\nMale caf\xe9\n1.jpg 1 -1\n")
    error = failure(path, OPTIONS, "list-attr")
    assert (error.record, error.reason) == ("line 2", "the byte 0xe9 is not UTF-8")
    with pytest.raises(InputError, match="0xe9 is not UTF-8"):
        sample_table(path, "list-attr")


def test_values_under_one_name_are_a_list(write):
    path = write("2\nimage_name  attribute_labels\na/1.jpg  1 -1  1\na/2.jpg 0 0 0\n")
    table = TABLES["list-attr"].load(path, Problems("a"), silent)
    assert table.columns["image_id"].to_pylist() == ["a/1.jpg", "a/2.jpg"]
    assert table.columns["attribute_labels"].to_pylist() == ['["1", "3"]', "[]"]


def test_named_columns_hold_any_values(write):
    path = write("1\nimage_name item_id evaluation_status\na/1.jpg id_02 train\n")
    table = TABLES["list-attr"].load(path, Problems("a"), silent)
    assert {name: column.to_pylist() for name, column in table.columns.items()} == {
        "image_id": ["a/1.jpg"], "item_id": ["id_02"], "evaluation_status": ["train"]
    }  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        "2\nlefteye_x lefteye_y\n1.jpg 69 109\n2.jpg 68 111\n",
        "2\nAnn_Lee\t1\t2\nBo_Ray\t1\t3\nAnn_Lee\t1\tBo_Ray\t2\n",
        "2\nAnn_Lee\t1\nBo_Ray\t1\n",
        "10\n601\nAnn_Lee\t1\nBo_Ray\t1\n",
    ],
)
def test_landmarks_and_lists_of_faces_are_no_attributes(content, tmp_path):
    assert not TABLES["list-attr"].detects(tmp_path / "list.txt", content.encode())
    assert TABLES["list-attr"].detects(tmp_path / "list.txt", GOOD.encode())
