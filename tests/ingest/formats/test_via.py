"""VIA: empty cells name nothing, shapes have an extent, and VIA 3 is read."""

import pytest

from cobalance.base.errors import InputError
from tests.ingest.tool_files import boxes, read_files, rows


def image(name, *regions, **answers):
    regions = [
        {"shape_attributes": shape, "region_attributes": attributes}
        for shape, attributes in regions
    ]
    return {"filename": name, "size": 100, "regions": regions, "file_attributes": answers}


def read(tmp_path, *images):
    document = {f"{one['filename']}100": one for one in images}
    return read_files(tmp_path, {"via.json": document}, "via.json")


RECT = {"name": "rect", "x": 1, "y": 2, "width": 3, "height": 4}


def test_cells_that_nobody_filled_name_nothing(tmp_path):
    cup = (RECT, {"kind": "cup", "damage": "", "flaws": {"crack": False, "chip": True}})
    plate = (RECT, {"kind": "plate", "damage": "crack", "flaws": {}})
    data = read(tmp_path, image("a.jpg", cup, plate, caption=""), image("b.jpg", cup))
    assert rows(data) == {
        "a.jpg": ["damage: crack", "flaws: chip", "kind: cup", "kind: plate"],
        "b.jpg": ["flaws: chip", "kind: cup"],
    }


def test_circles_ellipses_and_points_have_an_extent(tmp_path):
    circle = {"name": "circle", "cx": 10, "cy": 20, "r": 5}
    ellipse = {"name": "ellipse", "cx": 10, "cy": 20, "rx": 5, "ry": 2, "theta": 0}
    point = {"name": "point", "cx": 3, "cy": 4}
    shapes = [(circle, {"k": "coin"}), (ellipse, {"k": "egg"}), (point, {"k": "nose"})]
    data = read(tmp_path, image("a.jpg", *shapes))
    assert boxes(data, "k: coin") == [[5, 15, 10, 10]]
    assert boxes(data, "k: egg") == [[5, 18, 10, 4]]
    assert boxes(data, "k: nose") == [[3, 4, 0, 0]]


def project(kind=2):
    """A project of VIA 3, with two images of a region each and an answer about the first."""
    kinds = {"0": "cup", "1": "plate"}
    flaws = {"0": "crack", "1": "chip"}
    metadata = {
        "1_a": {"vid": "1", "z": [], "xy": [2, 1, 2, 3, 4], "av": {"1": "0", "2": "0,1"}},
        "2_b": {"vid": "2", "z": [], "xy": [7, 0, 0, 4, 0, 4, 4], "av": {"1": "1", "2": ""}},
        "1_c": {"vid": "1", "z": [], "xy": [], "av": {"3": "dusk"}},
        "2_d": {"vid": "2", "z": [], "xy": [], "av": {"3": "noon"}},
    }
    return {
        "project": {"pid": "x", "data_format_version": "3.1.1", "vid_list": ["1", "2"]},
        "config": {"file": {"loc_prefix": {"1": ""}}},
        "attribute": {"1": {"aname": "kind", "type": 4, "options": kinds},
                      "2": {"aname": "flaws", "type": 2, "options": flaws},
                      "3": {"aname": "light", "type": 1, "options": {}}},
        "file": {number: {"fid": number, "fname": f"{number}.jpg", "type": kind}
                 for number in ("1", "2")},
        "metadata": metadata,
        "view": {number: {"fid_list": [number]} for number in ("1", "2")},
    }  # fmt: skip


def test_a_project_of_via_3_is_read(tmp_path):
    data = read_files(tmp_path, {"project.json": project()}, "project.json")
    assert rows(data) == {
        "1.jpg": ["flaws: chip", "flaws: crack", "kind: cup", "light: dusk"],
        "2.jpg": ["kind: plate", "light: noon"],
    }
    assert boxes(data, "kind: cup") == [[1, 2, 3, 4]]
    assert boxes(data, "kind: plate") == [[0, 0, 4, 4]]


def test_videos_of_via_3_are_refused(tmp_path):
    with pytest.raises(InputError, match="video"):
        read_files(tmp_path, {"project.json": project(kind=4)}, "project.json")
