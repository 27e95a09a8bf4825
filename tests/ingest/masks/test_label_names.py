"""Names of colours, in the files that tools and publishers write."""

import json

import pytest

from cobalance.ingest.fields.code_files import read_code_names
from cobalance.ingest.fields.colour_files import parse_codes, read_colour_names

COLOURS = {"128,64,128": "road", "70,70,70": "tall building"}


@pytest.mark.parametrize(
    "text",
    [
        "128 64 128\troad\n70 70 70\ttall building\n",
        "# label:color_rgb:parts:actions\nroad:128,64,128::\ntall building:70,70,70::\n",
        "name,r,g,b\nroad,128,64,128\ntall building,70,70,70\n",
        "class_name,class_color\nroad,128 64 128\ntall building,70 70 70\n",
        "class;red;green;blue\nroad;128;64;128\ntall building;70;70;70\n",
        '{"road": [128, 64, 128], "tall building": [70, 70, 70]}',
    ],
)
def test_files_of_colours(tmp_path, text):
    (tmp_path / "names").write_text(text)
    assert read_code_names(tmp_path / "names") == COLOURS


@pytest.mark.parametrize(
    "document",
    [
        {"label_map": {"0": "road", "1": "tall building"},
         "segmentation_colors": [[128, 64, 128], [70, 70, 70]]},
        {"labels": [{"name": "road", "color": [128, 64, 128]},
                    {"name": "tall building", "color": [70, 70, 70]}]},
        [{"id": 0, "name": "road", "color": "#804080"},
         {"id": 1, "name": "tall building", "color": "#464646"}],
    ],
)  # fmt: skip
def test_json_of_codes_and_colours(document):
    names = {"0": "road", "1": "tall building"}
    assert read_colour_names(json.dumps(document)) == names | COLOURS


def test_a_table_of_codes_by_its_header():
    text = "Idx\tRatio\tName\n1\t0.15\twall\n2\t0.1\tbuilding, edifice\n"
    assert read_colour_names(text) == {"1": "wall", "2": "building, edifice"}
    assert read_colour_names("Pixel Value, Class\n0, sky\n1, sea\n") == {"0": "sky", "1": "sea"}


@pytest.mark.parametrize("text", ["road\ncar\n", "a,b\n1,2\n", "{", "[1, 2]", "0 land\n1 sea"])
def test_other_files_are_none_of_colours(text):
    assert read_colour_names(text) is None


def test_codes_of_options():
    names = {"7": "a", "(1, 2, 3)": "b", "#00ff00": "c", 9: "d", "x": "e"}
    assert parse_codes(names) == ({7: "a", 9: "d"}, {0x010203: "b", 0x00FF00: "c"})
