"""Lists without a header: names with spaces, ids without suffixes, and what is no such list."""

import pytest

from cobalance.ingest.load import read_annotations
from cobalance.ingest.tables import TABLES


@pytest.mark.parametrize(
    ("content", "ids", "classes"),
    [
        ("1025794 707-320\n34309 Cessna 172\n", ["1025794", "34309"], ["707-320", "Cessna 172"]),
        ("1.jpg great owl\n2.jpg hen\n", ["1.jpg", "2.jpg"], ["great owl", "hen"]),
        ("a/7_1 3\nb/7_2 4\n", ["a/7_1", "b/7_2"], ["3", "4"]),
    ],
)
def test_lists_of_a_split_name_ids_and_classes(content, ids, classes, tmp_path):
    path = tmp_path / "images_variant_train.txt"
    path.write_text(content)
    annotations = read_annotations(path)
    assert annotations.images["id"].tolist() == ids
    assert annotations.images["class_name"].tolist() == classes


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train_7.txt", "0 0.5 0.5 0.2 0.2\n1 0.5 0.5 0.1 0.1\n"),
        ("train.txt", "1 3 144 998 431\n"),
        ("train.txt", "hull,1,2,3,3,1.jpg\n"),
        ("notes.txt", "7 of them\n"),
    ],
)
def test_what_is_no_list(name, content, tmp_path):
    assert not TABLES["list"].detects(tmp_path / name, content.encode())


def test_decimal_commas_in_a_list_are_numbers(tmp_path):
    path = tmp_path / "beauty.txt"
    path.write_text("".join(f"{n}.jpg {n},5\n" for n in range(20)))
    annotations = read_annotations(path)
    (field,) = annotations.fields
    assert (field.column, field.kind, field.concepts) == ("beauty", "bins", 4)
