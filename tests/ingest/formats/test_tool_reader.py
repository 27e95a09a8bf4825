"""Identity of images, and words for faults, in all readers of tools' files."""

import json

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import read_annotations

SIDES = {"x": 5, "y": 5, "width": 2, "height": 2}


def labelme(path, name, label="hull"):
    shape = {"label": label, "points": [[1, 1], [4, 1], [4, 3]], "shape_type": "polygon"}
    record = {"version": "5.4.1", "flags": {}, "shapes": [shape], "imagePath": name}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**record, "imageHeight": 9, "imageWidth": 9}))


def darwin(path, folder, name):
    item = {"name": name, "path": folder, "slots": [{"width": 9, "height": 9}]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": "2.0", "item": item, "annotations": []}))


def test_images_of_one_name_in_several_folders_are_several(tmp_path):
    for folder in ("north", "south"):
        labelme(tmp_path / folder / "1.json", "1.jpg")
        (tmp_path / folder / "1.jpg").write_bytes(b"pixels")
    images = read_annotations(tmp_path).images
    assert images["id"].tolist() == images["uri"].tolist() == ["north/1.jpg", "south/1.jpg"]


def test_names_that_do_not_repeat_stay_as_they_are(tmp_path):
    for folder, name in (("north", "1"), ("south", "2")):
        labelme(tmp_path / folder / f"{name}.json", f"{name}.jpg")
    assert read_annotations(tmp_path).images["id"].tolist() == ["1.jpg", "2.jpg"]


def test_an_image_named_twice_in_a_folder_is_an_error(tmp_path):
    for name in ("1", "1 copy"):
        labelme(tmp_path / f"{name}.json", "1.jpg")
    with pytest.raises(InputError, match=r"the image '1.jpg' is at 1 copy.json"):
        read_annotations(tmp_path)


def test_the_folder_of_an_item_tells_it_apart(tmp_path):
    darwin(tmp_path / "a.json", "/north", "1.png")
    darwin(tmp_path / "b.json", "/south", "1.png")
    (tmp_path / "images" / "south").mkdir(parents=True)
    (tmp_path / "images" / "south" / "1.png").write_bytes(b"pixels")
    images = read_annotations(tmp_path).images
    assert images["id"].tolist() == ["north/1.png", "south/1.png"]
    assert images["uri"].tolist() == ["north/1.png", "images/south/1.png"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"imagePath": "1.jpg"', '"imagePath": 1', "a value of another kind"),
        ('"imageWidth": 9', '"imageWidth": "wide"', "has 'wide' where a number belongs"),
        ('"points": [[1, 1]', '"points": [[1]', "a list with more or fewer values"),
        ('"label": "hull"', '"name": "hull"', "has no 'label'"),
    ],
)
def test_a_fault_is_said_in_words(tmp_path, old, new, words):
    labelme(tmp_path / "1.json", "1.jpg")
    text = (tmp_path / "1.json").read_text()
    assert old in text
    (tmp_path / "1.json").write_text(text.replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        read_annotations(tmp_path)
    assert "Error" not in str(caught.value)
    assert "Correct the record" in str(caught.value)


def test_files_of_two_splits_in_one_folder_may_name_images_alike(tmp_path):
    for split in ("train", "val"):
        record = {"image": "1.jpg", "annotations": [{"label": split, "coordinates": SIDES}]}
        (tmp_path / f"boxes_{split}.json").write_text(json.dumps([record]))
    images = read_annotations(tmp_path).images
    assert images["id"].tolist() == ["train/1.jpg", "val/1.jpg"]
    assert images["split"].tolist() == ["train", "val"]
