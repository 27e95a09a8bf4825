"""JSON of training libraries: OpenMMLab 2 and FiftyOne's labels."""

import pytest
from PIL import Image

from cobalance.base.errors import InputError
from tests.ingest.tool_files import boxes, read_files, rows

METAINFO = {"classes": ["cat", "dog"]}


def openmmlab(*images, metainfo=METAINFO):
    return {"metainfo": metainfo, "data_list": list(images)}


def test_instances_of_openmmlab_have_the_names_of_its_classes(tmp_path):
    instances = [
        {"bbox": [1, 2, 9, 8], "bbox_label": 1, "ignore_flag": 0},
        {"bbox": [0, 0, 9, 9], "bbox_label": 0, "ignore_flag": 1},
    ]
    image = {"img_path": "a.jpg", "width": 60, "height": 40, "instances": instances}
    document = openmmlab(image, {"img_path": "b.jpg", "instances": []})
    data = read_files(tmp_path, {"train.json": document}, "train.json")
    assert rows(data) == {"a.jpg": ["dog"], "b.jpg": []}
    assert boxes(data, "dog") == [[1, 2, 8, 6]]


def test_a_single_label_of_openmmlab_is_the_class(tmp_path):
    document = openmmlab({"img_path": "a.jpg", "gt_label": 0}, {"img_path": "b.jpg", "gt_label": 1})
    data = read_files(tmp_path, {"train.json": document}, "train.json")
    assert data.images["class_name"].tolist() == ["cat", "dog"]


def test_a_label_without_a_name_is_an_error(tmp_path):
    document = openmmlab({"img_path": "a.jpg", "gt_label": 7})
    with pytest.raises(InputError, match="name no label 7"):
        read_files(tmp_path, {"train.json": document}, "train.json")


def test_classes_of_fiftyone_are_read(tmp_path):
    document = {"classes": ["cat", "dog"], "labels": {"a": 1, "b": {"label": "cat"}}}
    files = {"labels.json": document}
    data = read_files(tmp_path, files, "labels.json")
    assert dict(zip(data.images["id"], data.images["class_name"], strict=True)) == {
        "a": "dog",
        "b": "cat",
    }


def test_relative_boxes_of_fiftyone_are_those_of_the_pictures(tmp_path):
    thing = {"label": 0, "bounding_box": [0.1, 0.1, 0.5, 0.5], "confidence": 0.75}
    document = {"classes": ["cat", "dog"], "labels": {"a": [thing], "b": None}}
    (tmp_path / "data").mkdir()
    Image.new("RGB", (60, 40)).save(tmp_path / "data/a.jpg")
    data = read_files(tmp_path, {"labels.json": document})
    assert rows(data) == {"a": ["cat"], "b": []}
    assert boxes(data, "cat") == [[6, 4, 30, 20]]
    assert data.mentions["score"].tolist() == [0.75]
    assert data.images["width_px"].iloc[0] == 60

    alone = read_files(tmp_path, {}, "labels.json")
    assert rows(alone) == {"a": ["cat"], "b": []}
    assert any("boxes of 1 images left out" in note for note in alone.notes)
