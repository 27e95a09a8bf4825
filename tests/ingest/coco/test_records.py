"""COCO files that cannot be read: each error says where, why and what to do."""

import copy
import json
from dataclasses import replace

import pytest

from cobalance.base.errors import UnknownNameError, render
from cobalance.base.records import ALL_IMAGES
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions

INSTANCES = {
    "images": [
        {"id": 1, "file_name": "1.jpg", "width": 640, "height": 480},
        {"id": 2, "file_name": "2.jpg", "width": 640, "height": 480},
        {"id": 3, "file_name": "3.jpg", "width": 640, "height": 480},
    ],
    "annotations": [
        {"id": 7, "image_id": 1, "category_id": 90, "bbox": [0, 0, 9, 9], "area": 80},
        {"id": 8, "image_id": 1, "category_id": 5, "bbox": [1, 1, 5, 5], "area": 20},
        {"id": 9, "image_id": 2, "category_id": 90, "bbox": [1, 1, 5, 5], "area": 20},
    ],
    "categories": [
        {"id": 90, "name": "cat"},
        {"id": 5, "name": "sofa"},
        {"id": 6, "name": "bed"},
    ],
}
CATS = ReadOptions(class_category={"cat": "cat"})
FAIL = CATS
SKIP = replace(CATS, on_error="skip")

CAPTIONS = {
    "images": INSTANCES["images"],
    "annotations": [
        {"id": 1, "image_id": 1, "caption": "A man on a sofa."},
        {"id": 2, "image_id": 1, "caption": "A man sleeps."},
        {"id": 3, "image_id": 2, "caption": "A woman in bed."},
    ],
}
WORDS = ReadOptions(class_words="coco-gb")
VOCABULARY = ("sofa", "bed")
FAIL_CAPTIONS = replace(WORDS, vocabulary=VOCABULARY)

DROP = object()

# what -> list, entry, changed keys, part of the reason, part of the remedy
IMAGES = {
    "image without id": ("images", 2, {"id": DROP}, "has no id", "Add it"),
    "image id of a wrong type": ("images", 2, {"id": [3]}, "id: expected int | str", "Correct"),
    "image id is true": ("images", 2, {"id": True}, "id: expected int | str, got bool", "Correct"),
    "repeated image id": ("images", 2, {"id": 2}, "the id 2 is taken by images[1]", "of its own"),
    "empty image id": ("images", 2, {"id": ""}, "the id '' is not readable text", "another"),
    "width of 0": ("images", 2, {"width": 0}, "width: 0 is not a size", "Correct"),
    "height as text": ("images", 2, {"height": "big"}, "height: expected int", "Correct"),
    "file name as number": ("images", 2, {"file_name": 3}, "file_name: expected str", "Correct"),
}
ANNOTATIONS = {
    "no category": ("annotations", 1, {"category_id": DROP}, "has no category_id", "Add it"),
    "no image": ("annotations", 1, {"image_id": DROP}, "has no image_id", "Add it"),
    "unknown image": (
        "annotations",
        1,
        {"image_id": 17},
        "image_id 17 is not in images (3 known)",
        "Add the image",
    ),
    "unknown category": (
        "annotations",
        1,
        {"category_id": 91},
        "category_id 91 is not in categories (3 known)",
        "Add the category, or leave such records out with on_error='skip'",
    ),
    "box of three": (
        "annotations",
        1,
        {"bbox": [1, 2, 3]},
        "bbox: expected array of at least",
        "Corr",
    ),
    "box of five": ("annotations", 1, {"bbox": [1] * 5}, "bbox[4]: expected null", "Correct"),
    "box with text": ("annotations", 1, {"bbox": [1, 2, "3", 4]}, "expected float", "Correct"),
    "negative box": ("annotations", 1, {"bbox": [1, 2, -3, 4]}, "a negative width", "[x, y, width"),
    "negative area": ("annotations", 1, {"area": -4}, "area: -4 is negative", "Correct"),
    "area as text": ("annotations", 1, {"area": "4"}, "area: expected float", "Correct"),
    "score of 2": ("annotations", 1, {"score": 2}, "score: 2 is not from 0 to 1", "Scale"),
    "no object": ("annotations", 1, None, "expected object, got null", "Correct"),
    "endless box": ("annotations", 1, {"bbox": [0, 0, "1e999", 1]}, "out of range", "Correct"),
}
CATEGORIES = {
    "category without name": ("categories", 2, {"name": DROP}, "has no name", "Add it"),
    "empty category": ("categories", 2, {"name": " "}, "the name is empty", "readable name"),
    "repeated category id": ("categories", 2, {"id": 5}, "the id 5 is taken by categories[1]", ""),
    "repeated name": (
        "categories",
        2,
        {"name": "cat"},
        "'cat' is taken by categories[0]",
        "a name",
    ),
    "control character": ("categories", 2, {"name": "b\0d"}, "control character", "readable name"),
}
CAPTION_RECORDS = {
    "no caption": ("annotations", 1, {"caption": DROP}, "has no caption", "Add it"),
    "caption as number": ("annotations", 1, {"caption": 5}, "caption: expected str", "Correct"),
    "caption null": ("annotations", 1, {"caption": None}, "caption: expected str", "Correct"),
    "caption as list": ("annotations", 1, {"caption": ["a"]}, "caption: expected str", "Correct"),
    "no image": ("annotations", 1, {"image_id": DROP}, "has no image_id", "Add it"),
    "image null": ("annotations", 1, {"image_id": None}, "image_id: expected int", "Correct"),
    "unknown image": ("annotations", 1, {"image_id": 99}, "image_id 99 is not in images", "Add"),
    "no object": ("annotations", 1, "text", "expected object, got str", "Correct"),
    **IMAGES,
}


def changed(content, part, entry, changes):
    result = copy.deepcopy(content)
    if not isinstance(changes, dict):
        result[part][entry] = changes
    else:
        result[part][entry].update(changes)
        result[part][entry] = {k: v for k, v in result[part][entry].items() if v is not DROP}
    return json.dumps(result).replace('"1e999"', "1e999")


@pytest.mark.parametrize("case", [*IMAGES, *ANNOTATIONS, *CATEGORIES])
def test_malformed_instances(case, write, malformed):
    part, entry, changes, reason, remedy = (IMAGES | ANNOTATIONS | CATEGORIES)[case]
    path = write(changed(INSTANCES, part, entry, changes))
    annotations = malformed(path, f"{part}[{entry}]", reason, remedy, FAIL)
    assert annotations.images["id"].tolist() == ["1", "2"]
    assert annotations.mentions["concept"].tolist() == ["sofa"] * (part != "annotations")


@pytest.mark.parametrize("case", CAPTION_RECORDS)
def test_malformed_captions(case, write, malformed):
    part, entry, changes, reason, remedy = CAPTION_RECORDS[case]
    path = write(changed(CAPTIONS, part, entry, changes))
    annotations = malformed(path, f"{part}[{entry}]", reason, remedy, FAIL_CAPTIONS)
    assert annotations.images["class_name"].tolist() == ["man", "woman"]


WHOLE = json.dumps(INSTANCES)
FILES = {
    "cut off": (WHOLE[:300], "byte 300", "ends in the middle", "whole file again"),
    "trailing text": (WHOLE + " x", "byte", "trailing characters", "Correct it"),
    "missing comma": (
        WHOLE.replace(', "categories"', ' "categories"'),
        "byte",
        "valid JSON",
        "Corr",
    ),
    "NaN": (WHOLE.replace("80}", "NaN}"), "byte", "no NaN and no Infinity", "null"),
    "Infinity": (WHOLE.replace("80}", "-Infinity}"), "byte", "no NaN and no Infinity", "null"),
    "not UTF-8": (
        WHOLE.encode().replace(b"sofa", b"caf\xe9"),
        f"byte {WHOLE.index('sofa') + 3}",
        "0xe9 is not UTF-8",
        "UTF-8",
    ),
    "no categories": (
        json.dumps(INSTANCES | {"categories": DROP}, default=lambda _: None),
        None,
        "categories: expected array, got null",
        "COCO file",
    ),
    "no images": (json.dumps(INSTANCES | {"images": []}), None, "has no images", "has entries"),
    "images is an object": (
        json.dumps(INSTANCES | {"images": {"1": {}}}),
        None,
        "images: expected array, got object",
        "COCO file",
    ),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_malformed_file(case, on_error, write, failure):
    content, record, reason, remedy = FILES[case]
    options = replace(CATS, on_error=on_error)
    error = failure(write(content), options, "coco-instances")
    assert (error.record or "").startswith(record or "")
    assert reason in error.reason
    assert remedy in render(error.remedy)


@pytest.mark.parametrize("missing", ["images", "annotations", "categories"])
def test_missing_list_beside_a_bad_record(missing, write, failure):
    content = copy.deepcopy(INSTANCES)
    content["images"][0]["id"] = content["annotations"][0]["image_id"] = [1]
    content["categories"][0]["name"] = 3
    del content[missing]
    error = failure(write(json.dumps(content)), SKIP, "coco-instances")
    assert error.reason == f"has no list {missing!r}"
    for given in (None, {}, 3):
        error = failure(write(json.dumps(content | {missing: given})), SKIP, "coco-instances")
        assert error.reason.startswith(f"{missing}: expected array")


@pytest.mark.parametrize("on_error", ["fail", "skip"])
@pytest.mark.parametrize("place", ["top", "image", "segmentation"])
def test_nested_thousands_deep(place, on_error, write, failure):
    deep = "[" * 5_000 + "]" * 5_000
    content = copy.deepcopy(INSTANCES)
    if place == "top":
        content["info"] = "DEEP"
    elif place == "segmentation":
        content["annotations"][1]["segmentation"] = "DEEP"
    else:
        content["images"][1][place] = "DEEP"
    path = write(json.dumps(content).replace('"DEEP"', deep))
    error = failure(path, replace(CATS, on_error=on_error))
    assert "nested too deep" in error.reason


def test_class_categories_are_cleaned_as_the_names_in_the_file(write):
    content = copy.deepcopy(INSTANCES)
    content["categories"][0]["name"] = "caf\u00e9"
    options = ReadOptions(class_category={" cafe\u0301": " cafe\u0301 "})
    annotations = read_annotations(write(json.dumps(content)), options)
    assert {record.class_name for record in annotations.records()} == {"caf\u00e9"}


def test_categories_spelled_alike_are_one_concept(write):
    content = copy.deepcopy(INSTANCES)
    content["categories"][1]["name"] = "caf\u00e9"
    content["categories"][2]["name"] = " cafe\u0301"
    content["annotations"].append({"id": 10, "image_id": 2, "category_id": 6})
    annotations = read_annotations(write(json.dumps(content)), FAIL)
    assert [[m.concept for m in r.mentions] for r in annotations.records()] == [["café"], ["café"]]


def test_missing_list(write, failure):
    content = {name: values for name, values in INSTANCES.items() if name != "categories"}
    error = failure(write(json.dumps(content)), FAIL)
    assert error.reason == "has no list 'categories'"
    assert "input_format" in render(error.remedy)


def test_top_level_is_a_list(write, failure):
    error = failure(write("[1, 2]"), FAIL, "coco-instances")
    assert error.reason == "the top level: expected object, got array"


def test_captions_given_as_instances(write, failure):
    error = failure(write(json.dumps(CAPTIONS)), FAIL, "coco-instances")
    assert "captions" in error.reason
    assert "input_format='coco-captions'" in render(error.remedy)


def test_instances_given_as_captions(write, failure):
    error = failure(write(json.dumps(INSTANCES)), FAIL_CAPTIONS, "coco-captions")
    assert "instances" in error.reason
    assert "input_format='coco-instances'" in render(error.remedy)


def test_without_a_class_every_image_and_object_stays(write):
    annotations = read_annotations(write(WHOLE), ReadOptions())
    assert annotations.images["class_name"].tolist() == [ALL_IMAGES] * len(INSTANCES["images"])
    assert len(annotations.mentions) == len(INSTANCES["annotations"])
    assert annotations.set_aside == {}
    assert "no image has one" in annotations.notes[0]


def test_unknown_class_category_lists_the_known(write):
    options = ReadOptions(class_category={"dog": "dog"})
    with pytest.raises(UnknownNameError, match=r"unknown category 'dog'\. Known: bed, cat, sofa"):
        read_annotations(write(WHOLE), options)


def test_no_vocabulary(write, failure):
    error = failure(write(json.dumps(CAPTIONS)), WORDS)
    assert "no vocabulary" in error.reason
    assert "vocabulary" in render(error.remedy)


def test_annotations_of_skipped_records_are_counted(write):
    path = write(changed(INSTANCES, "categories", 1, {"name": ""}))
    annotations = read_annotations(path, SKIP)
    assert len(annotations.skipped) == 1
    assert annotations.set_aside["annotations of skipped categories"] == 1
    path = write(changed(INSTANCES, "images", 1, {"width": -1}))
    annotations = read_annotations(path, SKIP)
    assert len(annotations.skipped) == 1
    assert annotations.set_aside["annotations of skipped images"] == 1
