"""Kili's raw export: jobs of images and objects, answers within answers, and videos."""

import pytest

from cobalance.base.errors import InputError
from tests.ingest.tool_files import boxes, read_files, rows


def category(name, **children):
    return {"name": name, "confidence": 100, "children": children}


def vertices(*points):
    return [{"normalizedVertices": [{"x": x, "y": y} for x, y in points]}]


def asset(name, jobs, **more):
    label = {"labelType": "DEFAULT", "isLatestLabelForUser": True, "jsonResponse": jobs}
    size = {"width": 100, "height": 50}
    return {"id": "1", "externalId": name, "resolution": size, "latestLabel": label, **more}


def test_objects_and_answers_are_read(tmp_path):
    corners = vertices((0.1, 0.2), (0.1, 0.6), (0.5, 0.6), (0.5, 0.2))
    colours = {"COLOUR": {"categories": [category("red")]}}
    cart = {"type": "rectangle", "boundingPoly": corners, "categories": [{"name": "cart"}],
            "children": colours}  # fmt: skip
    roof = {"type": "polygon", "boundingPoly": corners, "categories": [{"name": "roof"}]}
    nose = {"type": "marker", "point": {"x": 0.5, "y": 0.5}, "categories": [{"name": "nose"}]}
    indoors = category("indoors", ROOM={"categories": [category("kitchen")]})
    data = read_files(
        tmp_path,
        {
            "export.json": [
                asset("a.jpg", {"PLACE": {"categories": [indoors]},
                                "THINGS": {"annotations": [cart, roof, nose]}}),
                asset("b.jpg", {"PLACE": {"categories": [category("outdoors")]}}),
            ]
        },
        "export.json",
    )  # fmt: skip
    assert rows(data) == {
        "a.jpg": ["COLOUR: red", "PLACE: indoors", "ROOM: kitchen", "cart", "nose", "roof"],
        "b.jpg": ["PLACE: outdoors"],
    }
    assert boxes(data, "cart") == [[10, 10, 40, 20]]
    assert boxes(data, "nose") == [[50, 25, 0, 0]]
    outlined = data.mentions["segmentation"].notna()
    assert data.mentions["concept"][outlined].tolist() == ["roof"]


def test_a_video_is_its_frames(tmp_path):
    cart = {"type": "rectangle", "categories": [{"name": "cart"}],
            "boundingPoly": vertices((0, 0), (1, 1))}  # fmt: skip
    frames = {"0": {}, "1": {"THINGS": {"annotations": [cart]}}}
    data = read_files(tmp_path, {"export.json": [asset("road.mp4", frames)]}, "export.json")
    assert list(rows(data).values()) == [[], ["cart"]]
    assert data.images["uri"][1] == "road.mp4#frame=1"


def test_documents_are_refused(tmp_path):
    document = asset("a.pdf", {}, pageResolutions=[{"width": 1, "height": 1}])
    with pytest.raises(InputError, match="is a document"):
        read_files(tmp_path, {"export.json": [document]}, "export.json")
