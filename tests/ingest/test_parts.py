"""Datasets of several annotation files, and folders whose annotation file cannot be used."""

import json
import zipfile

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.preview import category_names, find_files, sample_table
from tests.ingest.dataset_files import pixels


def coco(split, n=2):
    return json.dumps(
        {
            "images": [{"id": at, "file_name": f"{split}_{at}.jpg"} for at in range(n)],
            "annotations": [{"image_id": at, "category_id": at % 2} for at in range(n)],
            "categories": [{"id": 0, "name": "cat"}, {"id": 1, "name": "dog"}],
        }
    )


def written(path, files):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        data = pixels() if content is None else content.encode()
        (path / name).write_bytes(data)
    return path


PICTURES = {f"{split}2017/{split}_{at}.jpg": None for split in ("train", "val") for at in (0, 1)}


def test_coco_of_two_splits_in_a_folder_and_in_an_archive(tmp_path):
    path = written(
        tmp_path / "coco",
        PICTURES
        | {f"annotations/instances_{split}2017.json": coco(split) for split in ("train", "val")}
        | {"annotations/person_keypoints_val2017.json": coco("val")},
    )
    packed = tmp_path / "coco.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in path.rglob("*.*"):
            archive.write(file, file.relative_to(path))
    for place in (path, packed):
        assert detect_format(place) == "coco-instances"
        found = read_annotations(place)
        assert found.images["id"].tolist() == ["train/0", "train/1", "val/0", "val/1"]
        assert found.images["uri"].tolist() == list(PICTURES)
        assert found.images["split"].tolist() == ["train", "train", "val", "val"]
        assert [record.concepts for record in found.records()] == [("cat",), ("dog",)] * 2
        assert "not read: annotations/person_keypoints_val2017.json" in found.notes[-1]
        assert category_names(place, "coco-instances") == ["cat", "dog"]
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("annotations/instances_test2017.json", coco("val")[:-40])
    with pytest.raises(InputError) as caught:
        read_annotations(packed)
    assert caught.value.file == f"{packed}/annotations/instances_test2017.json"


def test_tables_of_splits_and_shards(tmp_path):
    rows = "id,label,tags,camera\n1,x,a,p\n2,y,b,q\n"
    path = written(tmp_path, {f"data/{s}-0000{n}.csv": rows for s in ("train", "test")
                              for n in (0, 1)})  # fmt: skip
    found = read_annotations(path)
    assert len(found.images) == 8
    assert found.images["id"].is_unique
    assert found.images["split"].value_counts().to_dict() == {"train": 4, "test": 4}
    assert {record.concepts for record in found.records()} == {
        ("a", "camera: p"), ("b", "camera: q"),
    }  # fmt: skip
    assert find_files(path)[0].name == "."
    assert sample_table(path, "csv").columns == ["id", "label", "tags", "camera"]
    with pytest.raises(InputError, match="more than 7 rows"):
        read_annotations(path, ReadOptions(max_rows=7))


def test_files_about_the_same_images_are_to_be_joined(tmp_path):
    path = written(tmp_path, {"a.csv": "id,label,tags\n1,x,a\n", "b.csv": "id,place\n1,sea\n"})
    with pytest.raises(InputError, match=r"a\.csv: has the image '1', as b\.csv has") as caught:
        read_annotations(path)
    assert "join" in str(caught.value)


CLASSES = {f"{kind}/{kind}_{at}.jpg": None for kind in ("cat", "dog") for at in (1, 2)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", "<boxes><image name='cat_1.jpg'/></boxes>"),
        ("a.json", '{"cat_1.jpg": 1}'),
        ("a.json", json.dumps({"images": [{"id": 1, "file_name": "cat_1.jpg"}]}) + "]"),
        ("data.yaml", "train: cat\nnc: 2\n"),
    ],
)
def test_a_folder_with_annotations_is_never_read_as_folders_of_classes(tmp_path, name, content):
    path = written(tmp_path, CLASSES | {name: content})
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        read_annotations(path)
    assert len(read_annotations(path, input_format="image-folder").images) == 4


def test_other_files_beside_class_folders_do_not_hinder(tmp_path):
    others = {
        "README.md": "cat/cat_1.jpg",
        "classes.txt": "cat\ndog\n",
        "log.csv": "epoch,a\n1,2\n",
        "ids.json": '{"cat": 0}',
        "train.txt": "cat/cat_1.jpg\n",
        "annos.mat": "MATLAB 5.0 MAT-file",
    }
    found = read_annotations(written(tmp_path, CLASSES | others))
    assert found.images["class_name"].value_counts().to_dict() == {"cat": 2, "dog": 2}
    assert found.images["split"].isna().all()
    assert any(note.endswith("no reader knows its kind: annos.mat") for note in found.notes)


def test_a_table_above_the_splits_gives_them_by_its_file_names(tmp_path):
    files = ["train/1.jpg", "train/2.jpg", "test/3.jpg"]
    rows = "".join(f"{file},cat,sofa\n" for file in files)
    written(tmp_path, {"labels.csv": "file,class,concepts\n" + rows} | dict.fromkeys(files))
    assert read_annotations(tmp_path).images["split"].tolist() == ["train", "train", "test"]

    vehicles = ["bus/4.jpg", "car/5.jpg", "train/6.jpg"]  # these are classes
    rows = "".join(f"{file},{file[:3]},road\n" for file in vehicles)
    table = {"labels.csv": "file,class,concepts\n" + rows}
    path = written(tmp_path / "vehicles", table | dict.fromkeys(vehicles))
    assert read_annotations(path).images["split"].isna().all()


def concepts_of_coco(path, things):
    """Concepts of pictures in class folders; the COCO file has its images after its outlines."""
    names = sorted({*things.values()})
    annotations = [
        {"image_id": n, "category_id": names.index(thing), "segmentation": [[0.5] * 20_000]}
        for n, thing in enumerate(things.values())
    ]
    document = {
        "annotations": annotations,
        "categories": [{"id": n, "name": name} for n, name in enumerate(names)],
        "images": [{"id": n, "file_name": file.partition("/")[2]} for n, file in enumerate(things)],
    }
    files = {f"images/{file}": None for file in things}
    written(path, {**files, "annotations.json": json.dumps(document)})
    return read_annotations(path).mentions["concept"].tolist()


def test_annotations_before_the_images_are_found_beside_class_folders(tmp_path):
    assert concepts_of_coco(tmp_path, {"farm/p00001.jpg": "hen", "town/p00002.jpg": "cart"}) == [
        "hen",
        "cart",
    ]


def test_pictures_with_spaces_in_their_names_are_found_beside_class_folders(tmp_path):
    assert concepts_of_coco(tmp_path, {"farm/IMG 1.jpg": "hen", "town/IMG 2.jpg": "cart"}) == [
        "hen",
        "cart",
    ]


def test_a_table_of_pictures_with_spaces_in_their_names_gives_their_classes(tmp_path):
    table = "filename,label\nIMG 1.jpg,hen\nIMG 2.jpg,cart\n"
    written(tmp_path, {"a/IMG 1.jpg": None, "b/IMG 2.jpg": None, "labels.csv": table})
    assert read_annotations(tmp_path).images["class_name"].tolist() == ["hen", "cart"]


def test_the_folder_of_celeba_has_attributes_and_splits_and_names_the_other_lists(tmp_path):
    lists = {
        "list_attr_celeba": "2\nBald Smiling\n000001.jpg -1 1\n000002.jpg 1 -1\n",
        "list_bbox_celeba": "2\nimage_id x_1 y_1 width height\n000001.jpg 95 71 226 313\n"
        "000002.jpg 72 94 221 306\n",
        "list_eval_partition": "000001.jpg 0\n000002.jpg 2\n",
        "list_landmarks_align_celeba": "2\nlefteye_x lefteye_y\n000001.jpg 69 71\n000002.jpg 6 7\n",
    }
    files = {f"{name}.txt": content for name, content in lists.items()}
    pictures = ["img_align_celeba/000001.jpg", "img_align_celeba/000002.jpg"]

    annotations = read_annotations(written(tmp_path, files | dict.fromkeys(pictures)))
    assert [record.concepts for record in annotations.records()] == [("Smiling",), ("Bald",)]
    assert annotations.images["split"].tolist() == ["train", "test"]
    (note,) = [note for note in annotations.notes if "not read" in note]
    assert note.endswith("not read: list_bbox_celeba.txt, list_landmarks_align_celeba.txt")
