"""YOLO: what data.yaml says otherwise than the folder has it, and labels without either."""

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import detect_format, read_annotations

HULL = "0 0.5 0.5 0.2 0.4\n"
MAST = "1 0.5 0.5 0.2 0.4\n"


def written(folder, yaml, **files):
    """Labels by the paths of their pictures, with ``__`` for ``/``."""
    if yaml is not None:
        (folder / "data.yaml").write_text(yaml)
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.jpg"
        label = folder / f"{name.replace('__', '/').replace('images', 'labels')}.txt"
        for file in (path, label):
            file.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"pixels")
        label.write_text(text)
    return folder


def concepts(annotations):
    return {image.id: sorted(image.concepts) for image in annotations.records()}


def test_names_are_texts_whatever_yaml_takes_them_for(tmp_path):
    yaml = "train: images\nnames: [yes, no, on, 08, 2020-01-01, null]\n"
    lines = "".join(f"{number} 0.5 0.5 0.2 0.4\n" for number in range(6))
    folder = written(tmp_path, yaml, images__1=lines)
    names = ["08", "2020-01-01", "no", "null", "on", "yes"]
    assert concepts(read_annotations(folder)) == {"images/1.jpg": names}


@pytest.mark.parametrize("root", ["/content/ships/", "../ships/", "C:\\\\ships\\\\", ""])
def test_folders_of_another_machine_are_left_out(tmp_path, root):
    slash = "\\\\" if "\\" in root else "/"
    lines = [f"{split}: '{root}images{slash}{split}'\n" for split in ("train", "val")]
    yaml = "".join(lines).replace("\\\\", "\\") + "names: [hull]\n"
    folder = written(tmp_path, yaml, images__train__1=HULL, images__val__2=HULL)
    images = read_annotations(folder).images
    assert images["split"].tolist() == ["train", "val"]
    assert images["uri"].tolist() == ["images/train/1.jpg", "images/val/2.jpg"]


@pytest.mark.parametrize("path", ["/content/ships", "../datasets/ships", "ships", "."])
def test_the_root_may_be_another_machines_or_beside_data_yaml(tmp_path, path):
    yaml = f"path: {path}\ntrain: images/train\nnames: [hull]\n"
    inner = "" if path == "." else "ships__"
    folder = written(tmp_path, yaml, **{f"{inner}images__train__1": HULL})
    assert concepts(read_annotations(folder)) == {"images/train/1.jpg": ["hull"]}


def test_lines_of_a_list_may_have_folders_of_another_machine(tmp_path):
    folder = written(tmp_path, "train: train.txt\nnames: [hull]\n", images__1=HULL)
    (folder / "train.txt").write_text("/home/ann/ships/images/1.jpg\n/home/ann/images/gone.jpg\n")
    assert concepts(read_annotations(folder)) == {
        "images/1.jpg": ["hull"],
        "home/ann/images/gone.jpg": [],
    }


def test_a_folder_of_a_split_by_its_other_name_is_read_with_a_note(tmp_path):
    yaml = "train: ../train/images\nval: ../valid/images\nnames: [hull, mast]\n"
    folder = written(tmp_path, yaml, train__images__1=HULL, val__images__2=MAST)
    annotations = read_annotations(folder)
    assert annotations.images["split"].tolist() == ["train", "val"]
    note = "../valid/images (val in data.yaml) is not here: read val/images in its place"
    assert annotations.notes[0] == f"{folder}: {note}"


def test_a_folder_that_is_missing_is_named(tmp_path):
    yaml = "train: images/train\nval: images/val\nnames: [hull]\n"
    folder = written(tmp_path, yaml, images__train__1=HULL)
    note = "images/val (val in data.yaml) is not here: no image is from there"
    assert read_annotations(folder).notes[0] == f"{folder}: {note}"

    (folder / "data.yaml").write_text("train: ships\nval: boats\nnames: [hull]\n")
    with pytest.raises(InputError, match=r"ships \(train in data.yaml\) is not here.*boats"):
        read_annotations(folder)


def test_what_data_yaml_and_the_folder_disagree_in_is_said(tmp_path):
    yaml = "train: images/train\nnc: 3\nnames: [hull, mast]\n"
    folder = written(tmp_path, yaml, images__train__1=HULL, images__val__2=MAST)
    (folder / "labels" / "train" / "3.txt").write_text(MAST)
    annotations = read_annotations(folder)
    assert concepts(annotations) == {"images/train/1.jpg": ["hull"]}
    for note in (
        "1 picture with labels left out, as no split has them, such as images/val/2.jpg",
        "1 file of labels left out, as they have no picture, such as labels/train/3.txt",
        "data.yaml has 2 names, and nc is 3",
    ):
        assert f"{folder}: {note}" in annotations.notes


def test_labels_of_label_studio_without_pictures_have_no_boxes(tmp_path):
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "p1.txt").write_text(HULL)
    (tmp_path / "labels" / "p2.txt").write_text(MAST)
    (tmp_path / "classes.txt").write_text("hull\nmast\n")
    (tmp_path / "notes.json").write_text('{"categories": [{"id": 0, "name": "hull"}], "info": {}}')
    annotations = read_annotations(tmp_path)
    assert concepts(annotations) == {"images/p1.jpg": ["hull"], "images/p2.jpg": ["mast"]}
    assert annotations.mentions["x_px"].isna().all()
    assert "boxes of 2 images left out" in annotations.notes[0]
    assert "put them into images/" in annotations.notes[1]


def test_labels_without_names_have_the_numbers_of_their_classes(tmp_path):
    folder = written(tmp_path, None, images__train__1=HULL, images__train__2=MAST)
    assert detect_format(folder) == "yolo"
    annotations = read_annotations(folder)
    assert list(concepts(annotations).values()) == [["class 0"], ["class 1"]]
    assert "put classes.txt" in annotations.notes[1]


def test_labels_may_lie_in_a_folder_of_annotations(tmp_path):
    for folder in ("Images", "Annotations"):
        (tmp_path / folder).mkdir()
    (tmp_path / "Images" / "1.jpg").write_bytes(b"pixels")
    (tmp_path / "Annotations" / "1.txt").write_text(HULL)
    (tmp_path / "obj.names").write_text("hull\n")
    assert concepts(read_annotations(tmp_path)) == {"Images/1.jpg": ["hull"]}


def test_lists_beside_names_may_begin_with_data_and_a_capital(tmp_path):
    for split in ("Train", "Validation"):
        folder = tmp_path / f"obj_{split}_data"
        folder.mkdir()
        (folder / f"{split}1.jpg").write_bytes(b"pixels")
        (folder / f"{split}1.txt").write_text(HULL)
        line = f"data/obj_{split}_data/{split}1.jpg\n"
        (tmp_path / f"{split}.txt").write_text(line)
    (tmp_path / "obj.names").write_text("hull\n")
    images = read_annotations(tmp_path).images
    assert images["id"].tolist() == [
        "obj_Train_data/Train1.jpg",
        "obj_Validation_data/Validation1.jpg",
    ]
    assert images["split"].tolist() == ["train", "val"]


def test_names_in_the_folders_of_splits_are_of_all_of_them(tmp_path):
    """As Roboflow exports for Darknet."""
    for split, text in (("train", HULL), ("valid", MAST)):
        (tmp_path / split).mkdir()
        (tmp_path / split / "1.jpg").write_bytes(b"pixels")
        (tmp_path / split / "1.txt").write_text(text)
        (tmp_path / split / "_darknet.labels").write_text("hull\nmast\n")
    annotations = read_annotations(tmp_path)
    assert concepts(annotations) == {"train/1.jpg": ["hull"], "valid/1.jpg": ["mast"]}
    assert annotations.images["split"].tolist() == ["train", "val"]
