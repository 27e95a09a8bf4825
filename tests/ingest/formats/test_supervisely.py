"""Supervisely: repeated tags, masks and turned boxes, and videos."""

import base64
import io
import math
import zlib

from PIL import Image

from tests.ingest.tool_files import boxes, read_files, rows


def annotation(objects, *tags, **more):
    size = {"height": 40, "width": 60}
    listed = [{"name": name, "value": value} for name, value in tags]
    return {"description": "", "tags": listed, "size": size, "objects": objects, **more}


def figure(title, kind, points, *tags, **more):
    """An object of an image."""
    return {"classTitle": title, "geometryType": kind, "points": {"exterior": points},
            "tags": [{"name": name, "value": value} for name, value in tags], **more}  # fmt: skip


CORNERS = [[1, 1], [9, 5]]


def test_a_tag_that_is_there_twice_has_both_values(tmp_path):
    boat = figure("boat", "rectangle", CORNERS, ("flag", "red"), ("flag", "blue"))
    files = {
        "ds/ann/a.jpg.json": annotation([boat], ("seen", "rope"), ("seen", "gull")),
        "ds/ann/b.jpg.json": annotation([], ("seen", "gull")),
    }
    assert list(rows(read_files(tmp_path, files)).values()) == [
        ["boat", "flag: blue", "flag: red", "seen: gull", "seen: rope"],
        ["seen: gull"],
    ]


def test_a_mask_has_the_box_of_its_picture(tmp_path):
    file = io.BytesIO()
    Image.new("1", (7, 3)).save(file, "PNG")
    packed = base64.b64encode(zlib.compress(file.getvalue())).decode()
    weed = figure("weed", "bitmap", [], bitmap={"data": packed, "origin": [10, 20]})
    data = read_files(tmp_path, {"ds/ann/a.jpg.json": annotation([weed])})
    assert boxes(data, "weed") == [[10, 20, 7, 3]]


def test_turned_boxes_skeletons_and_holes(tmp_path):
    turned = figure("ship", "oriented_bbox", [[0, 0], [8, 4]], angle=math.pi / 2)
    nodes = {"a": {"loc": [1, 2]}, "b": {"loc": [5, 9]}}
    skeleton = {"classTitle": "cat", "geometryType": "graph", "nodes": nodes, "tags": []}
    ring = figure("ring", "polygon", [[0, 0], [9, 0], [9, 9], [0, 9]])
    ring["points"]["interior"] = [[[3, 3], [6, 3], [6, 6]]]
    data = read_files(tmp_path, {"ds/ann/a.jpg.json": annotation([turned, skeleton, ring])})
    assert boxes(data, "ship") == [[2, -2, 4, 8]]
    assert boxes(data, "cat") == [[1, 2, 4, 7]]
    outline = data.mentions["segmentation"].iloc[2]
    assert outline.count(b"3, 3") == 2  # there and back, so that the hole is cut


def test_a_video_is_its_frames(tmp_path):
    def at_frame(index, *keys):
        geometry = {"points": {"exterior": CORNERS}}
        figures = [
            {"objectKey": key, "geometryType": "rectangle", "geometry": geometry} for key in keys
        ]
        return {"index": index, "figures": figures}

    objects = [{"key": "k1", "classTitle": "car", "tags": []},
               {"key": "k2", "classTitle": "bus", "tags": []}]  # fmt: skip
    frames = [at_frame(0, "k1"), at_frame(2, "k1", "k2")]
    video = annotation(objects, frames=frames, framesCount=4)
    video["tags"] = [{"name": "night", "value": None, "frameRange": [2, 3]}]
    data = read_files(tmp_path, {"ds/ann/road.mp4.json": video})
    assert list(rows(data).values()) == [["car"], [], ["bus", "car", "night"], ["night"]]
    assert boxes(data, "bus") == [[1, 1, 8, 4]]
    assert data.images["uri"][2].endswith("road.mp4#frame=2")
