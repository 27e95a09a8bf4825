"""Labelbox: answers within answers, points, frames, and the JSON of before 2023."""

import json

import pytest

from cobalance.base.errors import InputError
from tests.ingest.tool_files import boxes, read_files, rows


def radio(question, answer, *within):
    return {"name": question, "radio_answer": {"name": answer, "classifications": list(within)}}


def checklist(question, *answers):
    return {"name": question, "checklist_answers": [{"name": answer} for answer in answers]}


def row(name, annotations, **media):
    project = {"labels": [{"annotations": annotations}]}
    media = {"width": 60, "height": 40, **media}
    about = {"id": "1", "external_id": name}
    return {"data_row": about, "media_attributes": media, "projects": {"p": project}}


def read(tmp_path, *lines):
    text = "\n".join(map(json.dumps, lines))
    return read_files(tmp_path, {"export.ndjson": text}, "export.ndjson")


def test_answers_within_answers_are_read(tmp_path):
    person = {
        "name": "person",
        "bounding_box": {"top": 1, "left": 2, "height": 5, "width": 6},
        "classifications": [radio("role", "worker", checklist("gear", "helmet", "vest"))],
    }
    place = radio("place", "indoors", radio("room", "kitchen"))
    visitor = {**person, "classifications": [radio("role", "visitor", checklist("gear", "vest"))]}
    data = read(
        tmp_path,
        row("a.jpg", {"objects": [person], "classifications": [place]}),
        row("b.jpg", {"objects": [visitor], "classifications": [radio("place", "outdoors")]}),
    )  # fmt: skip
    assert rows(data) == {
        "a.jpg": ["gear: helmet", "gear: vest", "person", "place: indoors", "role: worker",
                  "room: kitchen"],
        "b.jpg": ["gear: vest", "person", "place: outdoors", "role: visitor"],
    }  # fmt: skip
    assert boxes(data, "gear: helmet") == [[2, 1, 6, 5]]


def test_points_have_an_extent_and_masks_a_name(tmp_path):
    objects = [{"name": "nose", "point": {"x": 3, "y": 4}}, {"name": "sky", "mask": {"url": "x"}}]
    data = read(tmp_path, row("a.jpg", {"objects": objects}))
    assert rows(data) == {"a.jpg": ["nose", "sky"]}
    assert boxes(data, "nose") == [[3, 4, 0, 0]]


def test_an_image_that_nobody_labelled_shows_nothing(tmp_path):
    unlabelled = row("b.jpg", {})
    unlabelled["projects"]["p"]["labels"] = []
    nose = {"name": "nose", "point": {"x": 3, "y": 4}}
    assert rows(read(tmp_path, row("a.jpg", {"objects": [nose]}), unlabelled))["b.jpg"] == []


def test_a_video_is_its_frames(tmp_path):
    box = {"top": 1, "left": 2, "height": 5, "width": 6}
    frames = {"2": {"objects": {"id": {"name": "cart", "bounding_box": box}}}}
    data = read(tmp_path, row("road.mp4", {"frames": frames}, frame_count=3))
    assert list(rows(data).values()) == [[], ["cart"], []]
    assert data.images["uri"][1] == "road.mp4#frame=1"


def test_the_json_of_before_is_read(tmp_path):
    cart = {
        "title": "cart",
        "value": "cart",
        "bbox": {"top": 1, "left": 2, "height": 5, "width": 6},
    }
    sky = {"title": "sky", "value": "sky", "answer": {"title": "blue", "value": "blue"}}
    label = {"objects": [cart], "classifications": [sky]}
    former = {"ID": "1", "DataRow ID": "2", "Labeled Data": "https://x.org/a.jpg",
              "External ID": "a.jpg", "Label": label}  # fmt: skip
    grey = {"classifications": [{**sky, "answer": {"title": "grey"}}], "objects": []}
    second = {**former, "External ID": "b.jpg", "Label": grey}
    data = read_files(tmp_path, {"export.json": [former, second]}, "export.json")
    assert rows(data) == {"a.jpg": ["cart", "sky: blue"], "b.jpg": ["sky: grey"]}
    assert boxes(data, "cart") == [[2, 1, 6, 5]]


def test_former_videos_are_their_frames(tmp_path):
    cart = {"title": "cart", "bbox": {"top": 1, "left": 2, "height": 5, "width": 6}}
    label = [{"frameNumber": 3, "objects": [cart], "classifications": []}]
    former = {"ID": "1", "DataRow ID": "2", "Labeled Data": "https://x.org/road.mp4",
              "External ID": "road.mp4", "Label": label}  # fmt: skip
    data = read_files(tmp_path, {"export.json": [former]}, "export.json")
    assert data.images["uri"].tolist() == ["road.mp4#frame=2"]
    assert rows(data) == {"road.mp4/frame_000002.png": ["cart"]}


def test_documents_are_refused(tmp_path):
    with pytest.raises(InputError, match="is no image"):
        read(tmp_path, row("a.txt", {"objects": []}, asset_type="text"))
