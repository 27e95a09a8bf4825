"""Outlines of JSON documents: keys and their places, however long the values between them are."""

import io
import json
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.ingest.outline import Outline, read_outline

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


def outline(document: object, **options: Any) -> Outline:
    return read_outline(io.BytesIO(json.dumps(document, **options).encode()))


def paths_of(value: object, within: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """All places of keys, by plain recursion."""
    paths = set()
    if isinstance(value, list):
        for item in value:
            paths |= paths_of(item, within)
    elif isinstance(value, dict):
        for key, item in value.items():
            paths |= {(*within, key)} | paths_of(item, (*within, key))
    return paths


@given(JSON, st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=300)
def test_an_outline_has_all_keys_at_their_places(
    document: object, indent: int | None, is_ascii: bool
) -> None:
    result = outline(document, indent=indent, ensure_ascii=is_ascii)
    if isinstance(document, dict | list):
        expected = {path for path in paths_of(document) if len(path) <= 8}
        assert result.paths == expected
        assert result.root == ("object" if isinstance(document, dict) else "list")
    else:
        assert (result.root, result.paths) == ("", set())


def test_a_key_after_a_long_outline_and_a_picture_in_base64_is_seen() -> None:
    document = {
        "shapes": [{"points": [[x, x + 0.5] for x in range(30_000)]}],
        "imageData": "A" * 3_000_000,
        "imagePath": "a.jpg",
    }
    assert outline(document, indent=2).has("/shapes.points", "/imageData", "/imagePath")


def test_values_are_no_keys() -> None:
    result = outline({"note": "images", "text": '{"annotations": []}', "more": ["categories", ":"]})
    assert result.top == ("more", "note", "text")


def test_the_key_after_a_long_list_of_records_is_seen() -> None:
    images = [{"id": n, "file_name": f"{n}.jpg"} for n in range(5_000)]
    annotations = [{"image_id": n, "bbox": [1, 2, 3, 4]} for n in range(5_000)]
    result = outline({"images": images, "annotations": annotations, "categories": [{"id": 1}]})
    assert result.has("/images.file_name", "/annotations.bbox", "/categories.id")


def test_lists_within_records_are_not_taken_for_the_end_of_their_list() -> None:
    tasks = [{"result": [{"value": n}], "done": True} for n in range(1_050)]
    result = outline({"tasks": tasks, "config": {"size": 3}})
    assert "done" not in result.top
    assert result.has("/tasks.done")
    assert {"tasks"} <= {*result.top} <= {"tasks", "config"}


def test_a_record_a_line_is_told_from_one_document() -> None:
    lines = b'{"id": 1, "box": {"x": 2}}\n{"id": 2, "name": "a"}\n'
    result = read_outline(io.BytesIO(lines))
    assert (result.root, result.top) == ("lines", ("box", "id", "name"))


@pytest.mark.parametrize("content", [b"", b"image,label\n1,2\n", b"<annotation/>", b"\xff\xfe{"])
def test_other_text_has_no_outline(content: bytes) -> None:
    assert read_outline(io.BytesIO(content)).root == ""


@pytest.mark.parametrize("content", [b'{"a": [', b'{"a": "b', b'{"a": ]}', b'[{"a": 1]', b'{"a"'])
def test_broken_json_ends_without_an_error(content: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(content)
    assert read_outline(io.BytesIO(content)).root in ("object", "list")


def test_marks_name_a_key_anywhere_at_the_top_or_one_of_several() -> None:
    result = outline({"project": {"files": {"a.jpg": {"regions": [{"shape": 1}]}}}})
    assert result.has("regions.shape", "/project.files", "nothing|shape")
    assert not result.has("/regions")
    assert not result.has("regions.project")


def test_a_document_of_many_keys_takes_little_memory() -> None:
    document = {f"image {n}.jpg": {"regions": [{"name": n}]} for n in range(100_000)}
    content = io.BytesIO(json.dumps(document).encode())
    tracemalloc.start()
    result = read_outline(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.has("regions.name")
    assert peak < 50_000_000
