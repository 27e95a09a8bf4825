"""COCO instances become annotations; objects of the class keep their regions."""

import json
from dataclasses import replace

import pytest

from cobalance.base.errors import render
from cobalance.base.records import ImageRecord, Mention
from cobalance.graph.dataset.image_contents import image_digests
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.vision.images.region_rows import region_files
from cobalance.vision.images.regions import read_regions, write_regions
from tests.ingest.coco_files import CAPTIONS, GENDER, INSTANCES

EXPECTED = [
    ImageRecord(
        "10",
        "m",
        (
            Mention(
                "hot dog",
                area_px2=9.5,
                box=(1, 2.5, 3, 4),
                segmentation='{"counts": [1, 2], "size": [3, 4]}',
                crowd=True,
            ),
        ),
        uri="a.jpg",
        width_px=640,
        height_px=480,
    ),
    ImageRecord(
        "20", "w", (Mention("hot dog", box=(0, 0, 0, 7)),), uri="b.jpg", width_px=320, height_px=240
    ),
]


def test_coco_instances(write):
    annotations = read_annotations(write(json.dumps(INSTANCES)), GENDER)
    assert list(annotations.records()) == EXPECTED
    assert annotations.set_aside == {
        "images that show none of the class categories": 1,
        "images that show categories of more than one class": 1,
    }


def test_all_but_outlines_may_be_read(write):
    annotations = read_annotations(write(json.dumps(INSTANCES)), replace(GENDER, outlines=False))
    bare = [
        replace(
            image, mentions=tuple(replace(mention, segmentation=None) for mention in image.mentions)
        )
        for image in EXPECTED
    ]
    assert list(annotations.records()) == bare
    assert annotations.objects["segmentation"].isna().all()


@pytest.mark.parametrize("indent", [None, 2])
def test_coco_ids_may_be_text(indent, write):
    content = json.loads(json.dumps(INSTANCES))
    for image in content["images"]:
        image["id"] = f"i{image['id']}"
    for annotation in content["annotations"]:
        annotation["image_id"] = f"i{annotation['image_id']}"
    path = write("\ufeff" + json.dumps(content, indent=indent))
    annotations = read_annotations(path, GENDER)
    assert annotations.images["id"].tolist() == ["i10", "i20"]


def test_coco_class_from_a_table(write):
    data = write(json.dumps(INSTANCES))
    for content in (
        "file_name,class\na.jpg,indoor\nc.jpg,outdoor\nz.jpg,outdoor\n",
        "who\twhat\n10\tindoor\n30\toutdoor\n",
        '{"image_id": 10, "label": "indoor"}\n{"image_id": 30, "label": "outdoor"}\n',
    ):
        table = write(content, "classes.txt")
        options = ReadOptions(class_file=table, split="train")
        annotations = read_annotations(data, options)
        assert [(r.id, r.class_name, r.split) for r in annotations.records()] == [
            ("10", "indoor", "train"),
            ("30", "outdoor", "train"),
        ]
        assert annotations.set_aside == {"images without a class in classes.txt": 2}
        assert annotations.mentions["concept"].tolist() == ["hot dog", "man", "man", "woman"]


def test_coco_class_from_captions(write):
    data, captions = write(json.dumps(INSTANCES)), write(json.dumps(CAPTIONS), "captions.json")
    annotations = read_annotations(data, ReadOptions(class_captions=captions))
    assert [(r.id, r.class_name) for r in annotations.records()] == [("10", "man"), ("20", "woman")]
    assert annotations.set_aside == {
        "images whose captions name no class": 1,
        "images whose captions name more than one class": 1,
    }


def test_progress_reaches_its_total(write):
    seen = []
    data = json.dumps(INSTANCES)
    read_annotations(write(data), GENDER, progress=lambda *step: seen.append(step))
    assert {stage for stage, _, _ in seen} == {"read", "check"}
    assert seen[-1] == ("check", 6, 6)


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
    return ReadOptions(class_category={"tabby": "cat", "dog": "dog"}, **refinement)


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
    refined = options(rename_class={"dog": "hound"}, keep_class=("hound",), min_area_px2=10**6)
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
    annotations = read_annotations(coco, ReadOptions(class_file=table))
    assert annotations.objects is None


def test_a_copy_is_the_same(coco, tmp_path):
    write_regions(tmp_path, "pets", read_annotations(coco, options()))
    region_files(tmp_path).copy("pets", "more pets")
    copied = region_files(tmp_path).path("more pets")
    assert copied.read_bytes() == region_files(tmp_path).path("pets").read_bytes()
    before = copied.stat().st_ino
    region_files(tmp_path).copy("pets", "more pets")
    assert copied.stat().st_ino == before
    region_files(tmp_path).copy("nothing", "more pets")
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


@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_limits_on_records(on_error, write, failure):
    content = json.loads(json.dumps(INSTANCES))
    if on_error == "skip":
        content["images"].append({"id": []})
    path = write(json.dumps(content))
    images, annotations = len(content["images"]), len(content["annotations"])
    few = ReadOptions(on_error=on_error, max_rows=images - 1)
    assert failure(path, few).reason == f"has more than {images - 1} images"
    few = ReadOptions(on_error=on_error, max_mentions=annotations - 1)
    error = failure(path, few)
    assert error.reason == f"has more than {annotations - 1} annotations"
    assert render(error.remedy) == "If that is meant, set max_mentions higher."


def test_what_is_flagged_as_ignored_is_not_seen(tmp_path):
    document = {
        "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
        "categories": [{"id": 1, "name": "rider"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "ignore": 1},
            {"id": 2, "image_id": 2, "category_id": 1, "bbox": [1, 2, 3, 4], "ignore": 0},
        ],
    }
    path = tmp_path / "ignored.json"
    path.write_text(json.dumps(document))
    annotations = read_annotations(path)
    assert [image.concepts for image in annotations.records()] == [(), ("rider",)]
    assert annotations.set_aside["annotations flagged as ignored"] == 1


def test_a_root_category_may_be_called_as_another(tmp_path):
    names = {0: "tie", 1: "shirt", 2: "tie"}
    document = {
        "images": [{"id": 1, "file_name": "a.jpg"}],
        "categories": [{"id": id_, "name": name} for id_, name in names.items()],
        "annotations": [
            {"id": id_, "image_id": 1, "category_id": id_, "bbox": [1, 2, 3, 4]} for id_ in (1, 2)
        ],
    }
    path = tmp_path / "_annotations.coco.json"
    path.write_text(json.dumps(document))
    (image,) = read_annotations(path).records()
    assert sorted(image.concepts) == ["shirt", "tie"]
