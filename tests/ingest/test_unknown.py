"""Files of no known format are refused by what they are."""

import json
from pathlib import Path

import pytest

import cobalance as cb


def refusal(folder: Path, document: object) -> str:
    file = folder / "labels.json"
    file.write_text(json.dumps(document))
    with pytest.raises(cb.CobalanceError) as error:
        cb.read(file)
    return str(error.value)


def test_json_of_no_known_format_is_named_by_its_keys(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"project": {"id": 3}, "frames_of": {"a": {"b": {"c": 1}}}})
    assert "is JSON of none of the known formats; its keys are frames_of, project" in message
    assert "id_column" not in message


def test_the_nearest_format_is_named_with_the_key_that_is_missing(tmp_path: Path) -> None:
    message = refusal(tmp_path, {"shapes": [{"label": "cup"}], "imageHeight": 8})
    assert "The nearest is labelme, which has 'imagePath' as well" in message


def test_one_object_is_no_table_unless_it_names_an_image(tmp_path: Path) -> None:
    assert "its keys are settings, version" in refusal(tmp_path, {"version": 1, "settings": "x, y"})

    file = tmp_path / "row.json"
    file.write_text('{"image": "a.jpg", "label": "cat"}')
    assert cb.read(file).to_pandas()["class_name"].tolist() == ["cat"]


def test_a_folder_of_json_alone_is_refused_by_the_keys_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "street.json").write_text('{"width": 8, "things": [{"name": "car"}]}')
    with pytest.raises(cb.CobalanceError, match=r"street\.json: is JSON .* are things, width"):
        cb.read(tmp_path)


def test_a_file_in_a_folder_of_images_is_refused_by_its_keys(tmp_path: Path) -> None:
    for folder in ("cat", "dog"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "picture_of_it.jpg").write_bytes(b"")
    (tmp_path / "notes.json").write_text('{"files": {"picture_of_it.jpg": {"note": "good"}}}')
    with pytest.raises(cb.CobalanceError, match=r"notes\.json: is JSON of none .* keys are files"):
        cb.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"images": [', "ends in the middle of a value"),
        (b'{"shapes": [1,, 2]}', "is not valid JSON"),
        (b'{"note": "\xff"}', "is not UTF-8"),
    ],
)
def test_broken_json_is_called_broken(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "labels.json").write_bytes(content)
    with pytest.raises(cb.CobalanceError, match=reason):
        cb.read(tmp_path / "labels.json")


def test_a_folder_of_other_files_is_refused_with_their_names(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Two boats and a gull.\n")
    with pytest.raises(cb.CobalanceError, match=r"folder without annotations .*: notes\.md"):
        cb.read(tmp_path)


def test_pictures_alone_are_refused_by_what_is_missing(tmp_path: Path) -> None:
    for name in ("1.jpg", "2.jpg"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(cb.CobalanceError, match="has 2 pictures, and neither folders nor a file"):
        cb.read(tmp_path)


def test_a_folder_with_instances_and_panoptic_is_read_by_its_instances(tmp_path: Path) -> None:
    images = [{"id": 7, "file_name": "7.jpg", "width": 8, "height": 8}]
    categories = [{"id": 1, "name": "kite"}, {"id": 2, "name": "sky"}]
    instances = [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [1, 1, 2, 2]}]
    segments = [{"id": 3, "category_id": 2, "bbox": [0, 0, 8, 8]}]
    panoptic = [{"image_id": 7, "file_name": "7.png", "segments_info": segments}]
    for name, annotations in (("instances", instances), ("panoptic", panoptic)):
        document = {"images": images, "annotations": annotations, "categories": categories}
        (tmp_path / f"{name}_val2017.json").write_text(json.dumps(document))

    data = cb.read(tmp_path)
    assert data.mentions["concept"].tolist() == ["kite"]
    assert any("not read: panoptic_val2017.json" in note for note in data.notes)


def test_of_the_settings_of_a_dataset_its_folder_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "data.yaml"
    file.write_text("train: images/train\nnames: [cat, dog]\n")
    with pytest.raises(cb.CobalanceError, match="Name the folder that they are in") as error:
        cb.read(file)
    assert str(error.value).endswith(f"{tmp_path}.")
