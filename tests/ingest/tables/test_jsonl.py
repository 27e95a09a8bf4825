"""JSON lines that cannot be read: each error says where, why and what to do."""

import json

import pytest

from cobalance.base.errors import render
from cobalance.ingest.load import read_annotations

GOOD = '{"image_id": "a", "label": "cat", "concepts": ["sofa", "bed"]}\n'

# what -> second line, part of the reason, part of the remedy
RECORDS = {
    "cut off": ('{"image_id": "b", "label": "d', "truncated", "one JSON object"),
    "not JSON": ("{'image_id': 'b'}", "malformed", "one JSON object"),
    "a list": ('["b", "dog", "sofa"]', "Expected `object`, got `str`", "one JSON object"),
    "two objects": ('{"image_id": "b"} {"image_id": "c"}', "trailing characters", "each line"),
    "not UTF-8": (b'{"image_id": "b", "label": "caf\xe9"}', "utf-8", "one JSON object"),
    "nested thousands deep": (
        '{"image_id": "b", "label": ' + "[" * 5_000 + "]" * 5_000 + "}",
        "nested too deep",
        "one JSON object",
    ),
    "NaN": ('{"image_id": "b", "label": NaN}', "malformed", "one JSON object"),
    "no id": ('{"label": "dog", "concepts": []}', "the id ''", "printable"),
    "null id": ('{"image_id": null, "label": "dog", "concepts": []}', "the id ''", "printable"),
    "repeated id": ('{"image_id": "a", "label": "dog"}', "'a' is on line 1 already", "one row"),
    "no class": ('{"image_id": "b", "concepts": ["x"]}', "the class is empty", "class"),
    "empty class": ('{"image_id": "b", "label": " "}', "the class is empty", "class"),
    "concepts as text": (
        '{"image_id": "b", "label": "dog", "concepts": "sofa"}',
        "not a JSON list",
        "JSON list of names",
    ),
    "concepts as numbers": (
        '{"image_id": "b", "label": "dog", "concepts": [1, 2]}',
        "Expected `str | object`, got `int`",
        "JSON list of names",
    ),
    "concept without a name": (
        '{"image_id": "b", "label": "dog", "concepts": [{"score": 0.5}]}',
        "missing required field `concept`",
        "JSON list of names",
    ),
    "NUL in a concept": (
        '{"image_id": "b", "label": "dog", "concepts": ["so\\u0000fa"]}',
        r"the control character '\x00'",
        "Correct its name",
    ),
    "negative box": (
        '{"image_id": "b", "label": "dog", "concepts": [{"concept": "x", "box": [0, 0, -1, 1]}]}',
        "the box of a concept is -1",
        "negative sizes",
    ),
}


@pytest.mark.parametrize("case", RECORDS)
def test_malformed_record(case, write, malformed):
    line, reason, remedy = RECORDS[case]
    path = write(GOOD.encode() + (line if isinstance(line, bytes) else line.encode()) + b"\n")
    annotations = malformed(path, "line 2", reason, remedy)
    assert annotations.images["id"].tolist() == ["a"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[\n{"image_id": "a"}\n', "truncated"),
        ('{\n"image_id": "a"\n}', "malformed"),
    ],
    ids=["one list", "one object over many lines"],
)
def test_json_that_is_no_jsonl(content, reason, write, failure):
    error = failure(write(content))
    assert error.record == "line 1"
    assert reason in error.reason or "truncated" in error.reason
    assert "on each line" in render(error.remedy)


def test_ignored_regions_of_crowdhuman_are_no_objects(write):
    person = {"tag": "person", "fbox": [1, 2, 9, 9], "extra": {"box_id": 0}}
    region = {"tag": "mask", "fbox": [1, 2, 3, 3], "extra": {"box_id": 1, "ignore": 1}}
    crowd = {"tag": "person", "fbox": [5, 5, 3, 3], "extra": {"box_id": 2, "ignore": 0}}
    rows = [{"ID": "a", "gtboxes": [person]}, {"ID": "b", "gtboxes": [region, crowd, person]}]

    annotations = read_annotations(write("".join(f"{json.dumps(row)}\n" for row in rows)))
    assert annotations.mentions["concept"].tolist() == ["person"] * 3
    assert annotations.mentions["x_px"].tolist() == [1.0, 5.0, 1.0]


def test_an_object_in_a_column_of_images_or_classes_is_what_it_is_named_by(write):
    """As Hugging Face's datasets writes images that it does not decode."""
    rows = [
        {"image": {"bytes": None, "path": "im/0.jpg"}, "label": {"id": 3, "name": "cat"}, "n": 1},
        {"image": {"file_name": "im/1.jpg", "width": 64}, "label": "dog"},
    ]
    read = read_annotations(write("".join(f"{json.dumps(row)}\n" for row in rows)))
    assert read.images["id"].tolist() == read.images["uri"].tolist() == ["im/0.jpg", "im/1.jpg"]
    assert read.images["class_name"].tolist() == ["cat", "dog"]


def test_what_a_line_says_beside_its_image_may_be_deep(write):
    row = {"file_name": "0.jpg", "label": "a", "concepts": ["x"], "meta": {"a": {"b": {"c": "p"}}}}
    read = read_annotations(write(f"{json.dumps(row)}\n", "deep.jsonl"))
    assert [(r.id, [m.concept for m in r.mentions]) for r in read.records()] == [("0.jpg", ["x"])]
