"""Regions of what gives an image its class: kept with the regions, and no concept."""

import json

import pytest

from graph.dataset.contents import image_digests
from ingest.images.regions import copy_regions, read_regions, regions_path, write_regions
from ingest.load import read_annotations
from ingest.options import ClassOptions, ReadOptions, Refinement

SQUARE = [[1, 1, 3, 1, 3, 3, 1, 3]]


@pytest.fixture
def coco(tmp_path):
    """Image 1 shows a cat on a sofa, 2 a dog, 3 both, and 4 a sofa."""
    shown = {1: [1, 3], 2: [2], 3: [1, 2], 4: [3]}
    path = tmp_path / "instances.json"
    path.write_text(
        json.dumps(
            {
                "images": [{"id": i, "file_name": f"{i}.jpg"} for i in shown],
                "categories": [{"id": 1, "name": "tabby"}, {"id": 2, "name": "dog"},
                               {"id": 3, "name": "sofa"}],
                "annotations": [
                    {"image_id": image, "category_id": category, "bbox": [image, category, 2, 3],
                     "segmentation": SQUARE}
                    for image, categories in shown.items() for category in categories
                ],
            }
        )
    )  # fmt: skip
    return path


def options(**refinement):
    classes = ClassOptions(categories={"tabby": "cat", "dog": "dog"})
    return ReadOptions(classes=classes, refine=Refinement(**refinement))


def held(folder):
    regions = read_regions(folder, "pets", ["1", "2", "3", "4"])
    assert regions["segmentation"].tolist() == [json.dumps(SQUARE, separators=(",", ":"))] * len(
        regions
    )
    return list(zip(regions["id"], regions["concept"], regions["y_px"].astype(int), strict=True))


def test_the_class_has_regions_and_is_no_concept(coco, tmp_path):
    annotations = read_annotations(coco, options())
    assert annotations.mentions["concept"].tolist() == ["sofa"]
    assert write_regions(tmp_path, "pets", annotations) == 3
    assert held(tmp_path) == [("1", "sofa", 3), ("1", "cat", 1), ("2", "dog", 2)]


def test_they_follow_the_images_and_the_names_of_their_classes(coco, tmp_path):
    refined = options(class_names={"dog": "hound"}, classes=("hound",), min_area_px2=10**6)
    annotations = read_annotations(coco, refined)
    write_regions(tmp_path, "pets", annotations)
    assert held(tmp_path) == [("2", "hound", 2)]


def test_digests_know_nothing_of_them(coco):
    with_them = read_annotations(coco, options())
    alone = type(with_them)(with_them.images, with_them.mentions)
    assert image_digests(with_them).tolist() == image_digests(alone).tolist()


def test_without_class_categories_there_are_none(coco, tmp_path):
    table = tmp_path / "classes.csv"
    table.write_text("image_id,label\n1,indoor\n2,outdoor\n")
    annotations = read_annotations(coco, ReadOptions(classes=ClassOptions(file=table)))
    assert annotations.objects is None


def test_a_copy_is_the_same(coco, tmp_path):
    write_regions(tmp_path, "pets", read_annotations(coco, options()))
    copy_regions(tmp_path, "pets", "more pets")
    copied = regions_path(tmp_path, "more pets")
    assert copied.read_bytes() == regions_path(tmp_path, "pets").read_bytes()
    before = copied.stat().st_ino
    copy_regions(tmp_path, "pets", "more pets")
    assert copied.stat().st_ino == before
    copy_regions(tmp_path, "nothing", "more pets")
    assert not copied.exists()
    assert list(tmp_path.glob(".*.tmp")) == []


@pytest.mark.parametrize(("no", "yes"), [(0, 1), (0.0, 1.0), ("0", "1"), (None, True)])
def test_crowds_as_tools_write_them(coco, tmp_path, no, yes):
    content = json.loads(coco.read_text())
    for annotation in content["annotations"]:
        annotation["iscrowd"] = yes if annotation["image_id"] == 1 else no
    coco.write_text(json.dumps(content))
    write_regions(tmp_path, "pets", read_annotations(coco, options()))
    regions = read_regions(tmp_path, "pets", ["1", "2"])
    assert regions["crowd"].tolist() == [True, True, False]


def test_crowds_count_as_any_mention_and_are_marked_with_their_regions(coco, tmp_path):
    plain = read_annotations(coco, options())
    content = json.loads(coco.read_text())
    for annotation in content["annotations"]:
        annotation["iscrowd"] = int(annotation["image_id"] == 1)
    coco.write_text(json.dumps(content))
    crowded = read_annotations(coco, options())
    assert image_digests(crowded).tolist() == image_digests(plain).tolist()
    write_regions(tmp_path, "pets", crowded)
    regions = read_regions(tmp_path, "pets", ["1", "2"])
    assert list(zip(regions["concept"], regions["crowd"], strict=True)) == [
        ("sofa", True), ("cat", True), ("dog", False),
    ]  # fmt: skip
