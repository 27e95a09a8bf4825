"""The same dataset in every format of a folder, an archive or one JSON file is read alike."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions
from tests.ingest.dataset_files import CLASSES, DATASETS, HEIGHT, ONE_FILE, PICTURES, WIDTH, archive

OPTIONS = ReadOptions(class_category=CLASSES)
WITHOUT = {
    "label-studio": {"split"},
    "lvis": {"split"},
    "open-images": {"box", "size"},
    "visual-genome": {"split"},
}
"""What a format does not say."""


def written(folder, name):
    """Write a format's files; gives the path to read."""
    files = DATASETS[name]()
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder / ONE_FILE.get(name, "")


def check(found, name):
    images, mentions = found.images, found.mentions
    got = {}
    for row in range(len(images)):
        own = mentions[mentions["image"] == row]
        stem = (images["uri"][row] if images["uri"].notna().all() else images["id"][row])[-7:]
        got[stem.removesuffix(".jpg")[-3:]] = (
            images["class_name"][row],
            sorted(own["concept"]),
        )
    assert got == {
        picture.file[:-4]: (
            picture.objects[0].name,
            sorted(one.name for one in picture.objects[1:]),
        )
        for picture in PICTURES
    }
    if "split" not in WITHOUT.get(name, ()):
        assert sorted(images["split"]) == sorted(picture.split for picture in PICTURES)
    if "size" not in WITHOUT.get(name, ()):
        assert set(images["width_px"]) == {WIDTH}
        assert set(images["height_px"]) == {HEIGHT}
    boxes = mentions[["x_px", "y_px", "w_px", "h_px"]].to_numpy()
    if "box" in WITHOUT.get(name, ()):
        assert (boxes != boxes).all()
    else:
        assert abs(boxes - (8, 12, 16, 24)).max() < 1e-9
        objects = found.objects
        assert len(objects) == len(PICTURES)


@pytest.mark.parametrize("name", DATASETS)
def test_every_format_is_known_and_read_alike(tmp_path, name):
    path = written(tmp_path, name)
    assert detect_format(path) == name
    check(read_annotations(path, OPTIONS), name)


@pytest.mark.parametrize("name", ["cvat", "fiftyone", "open-images", "pascal-voc", "yolo"])
def test_archives_with_a_folder_around_all_are_read_alike(tmp_path, name):
    path = tmp_path / "data.bin"
    path.write_bytes(archive({f"birds/{file}": it for file, it in DATASETS[name]().items()}))
    assert detect_format(path) == name
    check(read_annotations(path, OPTIONS), name)


SPOILED = {
    "cvat": ("annotations.xml", b'label="bird"', b'label=""', "image 1, object 1"),
    "fiftyone": ("samples.json", b'"label": "bird"', b'"label": [1]', "sample 1"),
    "label-studio": ("tasks.json", b'"x": 12.5', b'"x": "12.5"', "[0]"),
    "labelme": ("val/000.json", b'"label": "bird"', b'"name": "bird"', "val/000.json, [0]"),
    "lvis": ("lvis.json", b'"category_id": 1', b'"category_id": 99', "annotations[0]"),
    "open-images": ("train-annotations-bbox.csv", b"xclick,/m/01,1", b"xclick,/m/01,2", "line 2"),
    "pascal-voc": ("Annotations/000.xml", b">bird<", b"><", "object 1"),
    "scalabel": ("val.json", b'"x1": 8', b'"x1": "8"', "val.json, [0]"),
    "visual-genome": ("objects.json", b'"w": 16', b'"w": -16', "[0], object 1"),
    "yolo": ("labels/val/000.txt", b"0 ", b"99 ", "line 1"),
}


@pytest.mark.parametrize("name", DATASETS)
def test_a_malformed_record_is_named_and_can_be_skipped(tmp_path, name):
    path = written(tmp_path, name)
    file, old, new, place = SPOILED[name]
    content = (tmp_path / file).read_bytes()
    assert old in content
    (tmp_path / file).write_bytes(content.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_annotations(path, OPTIONS)
    assert place in str(caught.value)
    skipping = replace(OPTIONS, on_error="skip")
    found = read_annotations(path, skipping)
    assert len(found.skipped) == 1
    assert place in found.skipped[0]
    assert len(found.images) >= len(PICTURES) - 1


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("fiftyone", "samples.json", b"{"),
        ("fiftyone", "samples.json", b'{"samples": 3}'),
        ("fiftyone", "samples.json", b"[" * 100_000),
        ("visual-genome", "objects.json", b'[{"objects": [{"names": 3, "synsets": []}]}]'),
        ("visual-genome", "image_data.json", b"{}"),
        ("open-images", "train-annotations-bbox.csv", b"ImageID,LabelName,Confidence\n\xff,\xfe,1"),
        ("open-images", "train-annotations-bbox.csv", b"ImageID,LabelName,Confidence\n\xff,b,1,9"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, name, file, content):
    path = written(tmp_path, name)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(InputError):
        read_annotations(path, OPTIONS, name)


@pytest.mark.parametrize(
    ("val", "both", "only"),
    [("images/train", 5, 0), ("./images/train/", 5, 0), ("some.txt", 1, 3)],
)
def test_yolo_images_of_two_splits_count_as_the_first(tmp_path, val, both, only):
    """As in coco8 and coco128, whose `val` is the folder `train`."""
    path = written(tmp_path, "yolo")
    text = (path / "data.yaml").read_text()
    (path / "data.yaml").write_text(text.replace("val: images/val", f"val: {val}"))
    of_val = [f"./images/val/{one.file}" for one in PICTURES if one.split == "val"]
    (path / "some.txt").write_text("\n".join([*of_val, "./images/train/001.jpg"]))
    found = read_annotations(path, OPTIONS)
    assert sorted(found.images["split"]) == ["train"] * 5 + ["val"] * only
    assert found.notes[0] == (
        f"{path}: train and val share {both} image{'s' * (both > 1)}, counted as train"
    )
    if only:
        check(found, "yolo")


def test_the_table_of_formats_has_all():
    page = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()
    table = page.split("\n\n| format |")[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall("`(.+?)`", row)} == set(FORMATS)
