"""Objects of several parts keep all of them, and the holes that their publisher has."""

import json

import numpy as np
import pytest

from cobalance.ingest.load import read_annotations
from cobalance.vision.images.masks import mask

SIZE = (40, 30)
RECTANGLES = {  # left, top, right, bottom
    "apart": [(2, 2, 10, 8), (20, 12, 30, 25)],
    "a hole": [(2, 2, 22, 22), (6, 6, 16, 16)],
    "an island in a hole": [(2, 2, 22, 22), (6, 6, 16, 16), (9, 9, 12, 12)],
    "the hole first": [(6, 6, 16, 16), (2, 2, 22, 22)],
    "two holes and one apart": [(0, 0, 20, 20), (2, 2, 6, 6), (10, 10, 14, 14), (30, 5, 38, 9)],
    "one": [(3, 3, 9, 9)],
}


def corners(rectangle):
    left, top, right, bottom = rectangle
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def darwin(parts):
    paths = [[{"x": x, "y": y} for x, y in corners(part)] for part in parts]
    slot = {"width": SIZE[0], "height": SIZE[1]}
    thing = {"name": "thing", "polygon": {"paths": paths}}
    return {"item": {"name": "a.png", "slots": [slot]}, "annotations": [thing]}


def scalabel(parts):
    shapes = [{"vertices": corners(part), "types": "LLLL", "closed": True} for part in parts]
    label = {"category": "thing", "poly2d": shapes}
    size = {"width": SIZE[0], "height": SIZE[1]}
    empty = {"category": "other", "box2d": {"x1": 0, "y1": 0, "x2": 1, "y2": 1}}
    return {"frames": [{"name": "a.png", "size": size, "labels": [label, empty]}]}


@pytest.mark.parametrize("shape", RECTANGLES)
@pytest.mark.parametrize(("write", "cuts_holes"), [(darwin, True), (scalabel, False)])
def test_all_parts_are_read(tmp_path, write, cuts_holes, shape):
    parts = RECTANGLES[shape]
    layers = np.zeros((SIZE[1], SIZE[0]), dtype=int)
    for left, top, right, bottom in parts:
        layers[top:bottom, left:right] += 1
    wanted = layers % 2 == 1 if cuts_holes else layers > 0

    file = tmp_path / "a.json"
    file.write_text(json.dumps(write(parts)))
    mentions = read_annotations(file).mentions
    thing = mentions[mentions["concept"] == "thing"].iloc[0]
    assert (mask(thing["segmentation"], *SIZE) == wanted).all()
    left, top, right, bottom = np.array(parts).T
    box = [min(left), min(top), max(right) - min(left), max(bottom) - min(top)]
    assert thing[["x_px", "y_px", "w_px", "h_px"]].tolist() == box


def test_lines_of_scalabel_have_a_box_alone(tmp_path):
    document = scalabel([(2, 2, 10, 8), (20, 12, 30, 25)])
    for shape in document["frames"][0]["labels"][0]["poly2d"]:
        shape["closed"] = False
    file = tmp_path / "a.json"
    file.write_text(json.dumps(document))
    thing = read_annotations(file).mentions.iloc[0]
    assert thing["segmentation"] is None
    assert thing[["x_px", "y_px", "w_px", "h_px"]].tolist() == [2, 2, 28, 23]
