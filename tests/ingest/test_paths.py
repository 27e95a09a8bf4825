"""Classes, splits and metadata from the paths of images."""

from dataclasses import replace

import pytest

from cobalance.base.errors import InputError, OptionError
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from tests.ingest.dataset_files import pixels


def folder(path, *names):
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(pixels())
    return path


def table(annotations):
    """(class, split, concepts) by address."""
    return {
        record.uri: (record.class_name, record.split, record.concepts)
        for record in annotations.records()
    }


def test_a_pattern_is_of_the_end_of_a_path_and_usual_splits_get_their_names(tmp_path):
    names = [f"a/valid/{place}/{kind}/1.jpg" for place in ("rock", "sand") for kind in ("x", "y")]
    options = ReadOptions(path_pattern="{split}/{context}/{class}/*")
    found = table(read_annotations(folder(tmp_path, *names), options))
    assert found == {
        name: (name.split("/")[3], "val", (f"context: {name.split('/')[2]}",)) for name in names
    }


def test_levels_of_any_number_clusters_and_parts_of_names(tmp_path):
    names = ["p1/a/b/dog_old.jpg", "p2/cat_new.jpg"]
    options = ReadOptions(path_pattern="{cluster}/**/{class}_{age}.jpg")
    found = read_annotations(folder(tmp_path, *names), options)
    assert found.images["cluster"].tolist() == ["p1", "p2"]
    assert [row[0] for row in table(found).values()] == ["dog", "cat"]
    assert {row[2] for row in table(found).values()} == {("age: old",), ("age: new",)}


def test_a_name_twice_has_to_agree_and_the_path_that_does_not_match_is_named(tmp_path):
    path = folder(tmp_path, "cat/cat(sofa)/1.jpg", "dog/dog(bench)/1.jpg", "dog/cat(sofa)/2.jpg")
    options = ReadOptions(path_pattern="{class}/{class}({context})/*")
    with pytest.raises(InputError, match=r"dog/cat\(sofa\)/2\.jpg.*does not match.*\{class\}"):
        read_annotations(path, options)
    found = read_annotations(path, replace(options, on_error="skip"))
    assert [row[0] for row in table(found).values()] == ["cat", "dog"]
    assert len(found.skipped) == 1


def test_a_column_of_paths_is_read_too(tmp_path):
    (tmp_path / "a.csv").write_text("path,tags\nC:\\x\\dog\\1.jpg,a|b\ny/cat/2.jpg,a\n")
    found = read_annotations(tmp_path / "a.csv", ReadOptions(path_pattern="{class}/*"))
    assert [record.class_name for record in found.records()] == ["dog", "cat"]


@pytest.mark.parametrize("pattern", ["", "*/*", "{class/*", "{}/{class}", "class}"])
def test_a_pattern_that_names_nothing_is_refused(tmp_path, pattern):
    with pytest.raises(OptionError, match="names no part of a path"):
        read_annotations(folder(tmp_path, "a/1.jpg"), ReadOptions(path_pattern=pattern))


@pytest.mark.parametrize(
    ("levels", "classes"),
    [
        ("patient0000{}/study{}/view1.jpg", {"all images"}),
        ("imgs_{}/sa_{}.jpg", {"all images"}),
        ("train/n0144000{}/images/{}.JPEG", {"n01440001", "n01440002"}),
        ("{}/{}.png", {"1", "2"}),
        ("00{}.Auk/{}.jpg", {"001.Auk", "002.Auk"}),
        ("Type_{}/{}.jpg", {"Type_1", "Type_2"}),
        ("000{}/{}.jpg", {"0001", "0002"}),
    ],
)
def test_numbered_folders_are_no_classes(tmp_path, levels, classes):
    names = [levels.format(one, two) for one in (1, 2) for two in (1, 2)]
    found = read_annotations(folder(tmp_path, *names))
    if "Auk" in levels:
        classes = {"all images"}  # numbers and one word
    assert set(found.images["class_name"]) == classes


def test_levels_above_the_classes_are_offered(tmp_path):
    names = [f"train/{a}/{b}/1.jpg" for a in ("rock", "sand") for b in ("cat", "dog")]
    found = read_annotations(folder(tmp_path, *names))
    assert set(found.images["class_name"]) == {"cat", "dog"}
    assert any('rock, sand: the path pattern is "{context}/{class}/*"' in n for n in found.notes)
    other = folder(tmp_path / "b", *[f"pet/{a}/1.jpg" for a in ("cat", "dog")], "car/bus/1.jpg")
    assert any('"{group}/{class}/*"' in note for note in read_annotations(other).notes)


@pytest.mark.parametrize(
    ("folders", "classes", "splits"),
    [
        ("bus car train tram", "bus car train tram", ""),
        ("bus train", "bus train", ""),
        ("exam homework test", "exam homework test", ""),
        ("dev ops qa", "dev ops qa", ""),
        ("train/bus train/train test/bus test/train", "bus train", "train test"),
        ("train/train train/bus", "bus train", "train"),
        ("train/cat train/dog valid/cat valid/dog", "cat dog", "train val"),
        ("train/cat train/dog extra/cat extra/dog", "cat dog", "train"),
        ("cat/train cat/test dog/train dog/test", "cat dog", "train test"),
        ("train/day train/night bus/day bus/night car/day car/night", "day night", ""),
    ],
)
def test_a_folder_called_as_a_split_may_be_a_class(tmp_path, folders, classes, splits):
    for number, name in enumerate(folders.split()):
        folder_of_pictures = tmp_path / name
        folder_of_pictures.mkdir(parents=True)
        for at in range(3):
            (folder_of_pictures / f"{number}_{at}.jpg").write_bytes(pixels())
    found = read_annotations(tmp_path).images
    assert set(found["class_name"].dropna()) == {*classes.split()}
    assert set(found["split"].dropna()) == {*splits.split()}
    if not splits:
        assert len(found) == 3 * len(folders.split())


@pytest.mark.parametrize(
    ("folders", "classes", "splits"),
    [
        ("cars_train cars_test", "", "train test"),
        ("WIDER_train WIDER_val WIDER_test", "", "train val test"),
        ("train_images val_images", "", "train val"),
        ("training testing", "", "train test"),
        ("cars_train/bmw cars_train/vw cars_test/bmw cars_test/vw", "bmw vw", "train test"),
        (
            "seg_train/seg_train/sea seg_train/seg_train/ice "
            "seg_test/seg_test/sea seg_pred/seg_pred",
            "sea ice",
            "train test",
        ),
        ("freight_train sailing_boat", "freight_train sailing_boat", ""),
        ("a/abbey a/attic b/barn", "abbey attic barn", ""),
        (
            "a/abbey b/barn c/church/outdoor c/church/indoor",
            "abbey barn church/outdoor church/indoor",
            "",
        ),
        ("train/abbey train/barn train/church/indoor", "abbey barn church/indoor", "train"),
        ("oak/leaf oak/bark elm/leaf elm/bark", "leaf bark", ""),
    ],
)  # fmt: skip
def test_splits_by_a_word_and_classes_of_two_levels(tmp_path, folders, classes, splits):
    for folder_of_pictures in folders.split():
        names = [f"{folder_of_pictures}/{at}_{len(folder_of_pictures)}.jpg" for at in range(3)]
        folder(tmp_path, *names)
    found = read_annotations(tmp_path)
    assert set(found.images["class_name"].dropna()) == {*(classes.split() or ["all images"])}
    assert set(found.images["split"].dropna()) == {*splits.split()}
    if "church" in classes:
        assert any("one or two levels, such as church/indoor" in note for note in found.notes)


def test_masks_are_no_class_and_class_folders_beside_them_are(tmp_path):
    names = ["train/good/0.png", "test/good/0.png", "test/dent/0.png", "test/dent/1.png"]
    masks = ["ground_truth/dent/0_mask.png", "ground_truth/dent/1_mask.png"]
    found = read_annotations(folder(tmp_path, *names, *masks))
    assert found.images["class_name"].value_counts().to_dict() == {"good": 2, "dent": 2}
    assert found.images["split"].value_counts().to_dict() == {"test": 3, "train": 1}
    assert any("2 pictures in ground_truth are masks" in note for note in found.notes)
