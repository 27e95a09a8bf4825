"""LabelMe and its kin, Create ML, VoTT and SuperAnnotate."""

import pytest

from cobalance.base.errors import InputError
from tests.ingest.tool_files import boxes, read_files, rows


def labelme(name, *shapes):
    shapes = [{"flags": {}, "group_id": None, **shape} for shape in shapes]
    return {"version": "5.5.0", "flags": {}, "shapes": shapes, "imagePath": name,
            "imageHeight": 40, "imageWidth": 60}  # fmt: skip


def shape(label, kind, points, **more):
    return {"label": label, "shape_type": kind, "points": points, **more}


def test_shapes_of_labelme_have_an_extent(tmp_path):
    data = read_files(
        tmp_path,
        {
            "a.json": labelme(
                "a.jpg",
                shape("coin", "circle", [[30, 20], [30, 25]]),
                shape("nose", "point", [[3, 4]]),
                shape("wire", "linestrip", [[1, 1], [5, 2], [9, 1]]),
                shape("ship", "rotation", [[5, 0], [10, 5], [5, 10], [0, 5]]),
                shape("weed", "mask", [[2, 3], [8, 9]], mask="iVBO"),
            )
        },
    )
    assert boxes(data, "coin") == [[25, 15, 10, 10]]
    assert boxes(data, "nose") == [[3, 4, 0, 0]]
    assert boxes(data, "wire") == [[1, 1, 8, 1]]
    assert boxes(data, "ship") == [[0, 0, 10, 10]]
    assert boxes(data, "weed") == [[2, 3, 6, 6]]
    outlined = data.mentions["segmentation"].notna()
    assert data.mentions["concept"][outlined].tolist() == ["coin", "ship"]


def test_attributes_and_scores_of_shapes_are_read(tmp_path):
    corners = [[1, 1], [9, 9]]
    person = shape("person", "rectangle", corners, score=0.5, attributes={"posture": "sitting"})
    other = shape("person", "rectangle", corners, score=None, attributes={"posture": "standing"},
                  difficult=True, description="")  # fmt: skip
    files = {"a.json": labelme("a.jpg", person), "b.json": labelme("b.jpg", other)}
    data = read_files(tmp_path, files)
    assert rows(data) == {
        "a.jpg": ["person", "posture: sitting"],
        "b.jpg": ["difficult", "person", "posture: standing"],
    }
    scores = data.mentions.loc[data.mentions["concept"] == "person", "score"]
    assert scores.fillna(-1).tolist() == [0.5, -1]


def test_both_spellings_of_create_ml_are_read(tmp_path):
    spoon = {"label": "spoon", "coordinates": {"x": 50, "y": 40, "width": 20, "height": 10}}
    document = [
        {"imagefilename": "a.png", "annotation": [spoon]},
        {"imagefilename": "b.png", "annotation": []},
        {"image": "c.png", "annotations": [spoon]},
    ]
    data = read_files(tmp_path, {"tray.json": document}, "tray.json")
    assert rows(data) == {"a.png": ["spoon"], "b.png": [], "c.png": ["spoon"]}
    assert boxes(data, "spoon") == [[40, 35, 20, 10]] * 2


def test_assets_of_vott_are_read(tmp_path):
    corners = [{"x": 1, "y": 2}, {"x": 4, "y": 2}, {"x": 4, "y": 6}]
    box = {"left": 1, "top": 2, "width": 3, "height": 4}
    region = {"type": "POLYGON", "tags": ["cart", "red"], "boundingBox": box, "points": corners}
    asset = {"name": "a%20b.jpg", "path": "file:/x/a%20b.jpg", "size": {"width": 60, "height": 40}}
    document = {"name": "farm", "assets": {"1": {"asset": asset, "regions": [region]}}}
    data = read_files(tmp_path, {"farm.json": document}, "farm.json")
    assert rows(data) == {"a b.jpg": ["cart", "red"]}
    assert boxes(data, "cart") == [[1, 2, 3, 4]]


def superannotate(name, *instances, tags=()):
    instances = [{"classId": 1, "attributes": [], **instance} for instance in instances]
    about = {"name": name, "width": 60, "height": 40, "status": "Completed"}
    return {"metadata": about, "instances": instances, "tags": list(tags), "comments": []}


CRANE = {
    "type": "bbox", "className": "crane", "points": {"x1": 1, "x2": 9, "y1": 2, "y2": 8},
    "attributes": [{"name": "red", "groupName": "colour"}],
}  # fmt: skip


def test_superannotate_is_read_as_one_file_or_one_an_image(tmp_path):
    ship = {"type": "polygon", "className": "ship", "points": [1, 1, 9, 1, 9, 9],
            "attributes": [{"name": "blue", "groupName": "colour"}]}  # fmt: skip
    mast = {"type": "ellipse", "className": "mast", "cx": 9, "cy": 9, "rx": 2, "ry": 4, "angle": 0}
    images = [
        superannotate("a.jpg", CRANE, tags=["dusk"]),
        superannotate("b.jpg", ship, mast, {"type": "tag", "className": "fog"}),
    ]
    expected = {
        "a.jpg": ["colour: red", "crane", "dusk"],
        "b.jpg": ["colour: blue", "fog", "mast", "ship"],
    }
    whole = read_files(tmp_path / "one", {"annotations.json": images}, "annotations.json")
    each = read_files(
        tmp_path / "many", {f"{image['metadata']['name']}.json": image for image in images}
    )
    for data in (whole, each):
        assert rows(data) == expected
        assert boxes(data, "crane") == [[1, 2, 8, 6]]
        assert boxes(data, "mast") == [[7, 5, 4, 8]]


def test_a_video_of_superannotate_is_refused(tmp_path):
    video = superannotate("road.mp4", {"type": "tag", "className": "fog"})
    video["metadata"]["duration"] = 3_000_000
    with pytest.raises(InputError, match="is a video"):
        read_files(tmp_path, {"annotations.json": [video]}, "annotations.json")


def test_a_box_beyond_all_numbers_is_an_error(tmp_path):
    far = shape("coin", "polygon", [[1, 1], [10**400, 1], [1, 5]])
    with pytest.raises(InputError, match="a side that is negative or no number"):
        read_files(tmp_path, {"a.json": labelme("a.jpg", far)})


def test_an_image_of_create_ml_without_a_name_is_an_error(tmp_path):
    spoon = {"label": "spoon", "coordinates": {"x": 5, "y": 4, "width": 2, "height": 1}}
    document = [{"image": "a.png", "annotations": [spoon]}, {"annotations": []}]
    with pytest.raises(InputError, match="names no image"):
        read_files(tmp_path, {"tray.json": document}, "tray.json")
