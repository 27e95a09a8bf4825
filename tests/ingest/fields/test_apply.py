"""Metadata of any format becomes concepts, classes and splits."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cobalance.base.errors import InputError, OptionError, render
from cobalance.base.records import ALL_IMAGES, Annotations, ImageRecord, Metadata
from cobalance.ingest.fields.apply import apply_fields
from cobalance.ingest.fields.nested_cells import unfold
from cobalance.ingest.frames import TEXT
from cobalance.ingest.load import read_annotations, read_frame
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems

WEATHER = ["rainy", "sunny", "", "sunny", "NA", "rainy", "sunny", "foggy"]


def with_metadata(columns, n=None, image=None, numbers=None):
    """Annotations of images without concepts, and columns of text about them."""
    arrays = {name: pa.array(values, TEXT) for name, values in columns.items()}
    size = len(next(iter(arrays.values())))
    rows = np.arange(size) if image is None else np.array(image)
    read = Annotations.from_records(
        ImageRecord(str(at), ALL_IMAGES) for at in range(n or rows.max() + 1)
    )
    return replace(read, metadata=(Metadata(rows, arrays, numbers or {}),))


def counted(annotations):
    """Images with each concept, counted from the records."""
    return Counter(name for record in annotations.records() for name in record.concepts)


def applied(columns, options=None, **more):
    return apply_fields(with_metadata(columns, **more), options or ReadOptions(), "a.csv")


def kinds(annotations):
    return {each.column: each.kind for each in annotations.fields}


def test_values_become_concepts_of_the_columns_category_and_missing_ones_are_counted():
    found = applied({"weather": WEATHER})
    assert counted(found) == {"weather: rainy": 2, "weather: sunny": 3, "weather: foggy": 1}
    (told,) = found.fields
    assert (told.kind, told.concepts, told.images, told.missing) == ("values", 3, 6, 2)
    assert found.notes == (
        "a.csv: columns that are concepts, with how many: weather (3)",
        "a.csv: the class is perhaps 'weather'",
    )
    assert found.metadata == ()


@pytest.mark.parametrize(
    ("present", "absent"),
    [("1", "0"), ("1.0", "0.0"), ("True", "False"), ("1", "-1"), ("yes", "no")],
)
def test_flags_are_one_concept_or_two(present, absent):
    cells = {"smiling": [present, absent, absent, "", present, absent]}
    assert counted(applied(cells)) == {"smiling": 2}
    assert counted(applied(cells, ReadOptions(concept_columns=("smiling",)))) == {"smiling": 2}
    two = applied(cells, ReadOptions(field={"smiling": "two"}))
    assert counted(two) == {"smiling": 2, "no smiling": 3}
    assert two.fields[0].missing == 1


def test_beside_0_and_1_minus_1_says_neither():
    cells = {"Edema": ["1.0", "0.0", "-1.0", "", "1.0"]}
    found = applied(cells, ReadOptions(field={"Edema": "two"}))
    assert counted(found) == {"Edema": 2, "no Edema": 1}
    assert counted(applied(cells)) == {"Edema": 2}
    assert found.fields[0].missing == 2


def test_codes_are_named_and_said_to_be_codes_where_they_are_not():
    cells = {"place": ["0", "1", "1", "0"], "kind": ["2", "0", "1", "0"]}
    found = applied(cells)
    assert counted(found) == {"place": 2, "kind: 0": 2, "kind: 1": 1, "kind: 2": 1}
    said = " ".join(found.notes)
    assert (
        "1 shows the concept in place; were these codes, name them: names place:0=...,1=..." in said
    )
    assert "numbers are codes in kind; name them: names kind:0=...,1=..." in said
    names = {"place": {"0": "land", "1": "water"}, "kind": {"2": "owl"}}
    named = applied(cells, ReadOptions(names=names))
    assert counted(named) == {
        "place: land": 2, "place: water": 2, "kind: 0": 2, "kind: 1": 1, "kind: owl": 1
    }  # fmt: skip
    assert "name them" not in " ".join(named.notes)


def test_numbers_are_binned_by_counts_widths_or_edges():
    ages = np.random.default_rng(0).integers(1, 90, 400)
    cells = {"age": [*map(str, ages), "unknown"]}
    options = ReadOptions(field={"age": "bins:18,30:years"})
    assert counted(applied(cells, options)) == {
        "age: below 18 years": (ages < 18).sum(),
        "age: 18 to 30 years": ((ages >= 18) & (ages < 30)).sum(),
        "age: 30 years and above": (ages >= 30).sum(),
    }
    found = applied(cells)
    assert (found.fields[0].kind, found.fields[0].missing) == ("bins", 1)
    assert all(abs(n - 100) <= 16 for n in counted(found).values())
    assert len(counted(found)) == 4
    wide = applied(cells, ReadOptions(field={"age": "widths:2"}))
    half = (ages.min() + ages.max()) / 2
    assert sorted(counted(wide).values()) == sorted([(ages < half).sum(), (ages >= half).sum()])


def test_a_unit_in_a_columns_name_goes_to_its_bins():
    found = applied({"height_cm": [str(10.5 * at) for at in range(40)]})
    assert all(name.startswith("height: ") and " cm" in name for name in counted(found))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("year", {"taken: 2023": 1, "taken: 2024": 2}),
        ("month", {"taken: May": 2, "taken: June": 1}),
        ("weekday", {"taken: Wednesday": 1, "taken: Saturday": 1, "taken: Monday": 1}),
        ("hour", {"taken: 23:00": 1, "taken: 00:00": 1, "taken: 07:00": 1}),
    ],
)
def test_dates_are_left_out_unless_a_part_is_asked_for(part, expected):
    cells = {
        "taken": ["2024-05-01 23:10:00", "2024:06:01 00:00:01", "2023-05-15T07:30:00+02:00", ""]
    }
    assert kinds(applied(cells)) == {"taken": "ignore"}
    found = applied(cells, ReadOptions(field={"taken": part}))
    assert counted(found) == expected
    assert found.fields[0].missing == 1


def test_what_says_nothing_of_images_is_left_out_with_the_reason():
    n = 60
    left = {
        "observation": [f"obs-{at:05}" for at in range(n)],
        "mask": [f"masks/{at % 7}.png" for at in range(n)],
        "page": [f"https://a.example/{at % 7}" for at in range(n)],
        "row": [str(at) for at in range(n)],
        "user_id": [str(7919 * (at % 30)) for at in range(n)],
        "remark": [f"a long remark of the number {at // 2}" for at in range(n)],
        "version": ["1.2b"] * n,
        "empty": [""] * n,
        "shape": ["[[1, 2], [3, 4]]"] * n,
    }
    found = applied({**left, "weather": ["rainy", "sunny"] * (n // 2)})
    assert kinds(found) == {**dict.fromkeys(left, "ignore"), "weather": "values"}
    assert all(each.why for each in found.fields if each.kind == "ignore")
    assert "version ('1.2b' in every record)" in found.notes[1]
    many = applied({"user": [f"u{at % 150}" for at in range(400)]})
    assert many.fields[0].why == "150 different values in 400 records"
    assert kinds(applied({"user": [f"u{at % 150}" for at in range(4000)]})) == {"user": "values"}


@pytest.mark.parametrize(
    "cells",
    [
        ["sun|rain", "rain", "", "sun"],
        ['["sun", "rain"]', '["rain"]', "[]", '["sun"]'],
        ["['sun', 'rain']", "['rain']", "", "['sun']"],
    ],
)
def test_lists_are_concepts_of_each_thing(cells):
    assert counted(applied({"sky": cells})) == {"sky: sun": 2, "sky: rain": 2}
    assert counted(applied({"tags": cells})) == {"sun": 2, "rain": 2}


def test_lists_of_objects_keep_their_boxes():
    cells = [json.dumps([{"category": "cow", "bbox": [1, 2, 3, 4]}, {"category": "dog"}]), None]
    found = applied({"seen": cells})
    first, second = found.mentions[["concept", "x_px", "h_px"]].to_dict("records")
    assert first == {"concept": "cow", "x_px": 1.0, "h_px": 4.0}
    assert (second["concept"], np.isnan(second["x_px"])) == ("dog", True)


def test_a_json_cell_that_says_where_is_the_box_of_its_record():
    cells = {
        "bounding_box": ['{"x": 1, "y": 2, "width": 30, "height": 40}'] * 2 + [""],
        "hair": ["dark", "fair", "dark"],
        "attributes": ['{"hat": true, "pose": {"yaw": 3}}', '{"hat": false}', '{"hat": true}'],
    }
    found = applied(cells, image=[0, 0, 1])
    assert counted(found) == {"hair: dark": 2, "hair: fair": 1, "hat": 2}
    widths = found.mentions.set_index("concept")["w_px"]
    assert widths["hair: fair"] == 30.0
    assert widths["hat"].tolist()[0] == 30.0
    assert np.isnan(widths["hat"].tolist()[1])
    part = with_metadata(cells, image=[0, 0, 1]).metadata[0]
    assert set(unfold(part, Problems("a")).columns) == {"hair", "hat", "pose"}


def test_equal_rows_of_an_image_are_one_mention():
    found = applied({"weather": ["rainy", "rainy", "sunny", "sunny"]}, image=[0, 0, 0, 1])
    assert len(found.mentions) == 3
    assert counted(found) == {"weather: rainy": 1, "weather: sunny": 2}


def test_class_and_split_come_from_metadata_of_any_format(write):
    images = [
        {"id": at, "file_name": f"{at}.jpg", "weather": weather, "part": part}
        for at, (weather, part) in enumerate(zip(WEATHER, "ababaabb", strict=True))
    ]
    path = write(json.dumps({"images": images, "annotations": [], "categories": []}))
    options = ReadOptions(
        class_column="weather", split_column="part", names={"part": {"a": "train", "b": "val"}}
    )
    found = read_annotations(path, replace(options, rename_class={"foggy": "rainy"}))
    kept = [at for at, weather in enumerate(WEATHER) if weather not in ("", "NA")]
    assert found.images["id"].tolist() == [str(at) for at in kept]
    expected = ["rainy" if WEATHER[at] == "foggy" else WEATHER[at] for at in kept]
    assert found.images["class_name"].tolist() == expected
    assert found.images["split"].tolist() == [
        "train" if "ababaabb"[at] == "a" else "val" for at in kept
    ]
    assert found.set_aside == {"images without a class": 2}
    assert kinds(found) == {"weather": "class", "part": "split"}
    assert not any("no image has one" in note for note in found.notes)


def test_images_whose_records_name_several_classes_are_set_aside():
    cells = {"kind": ["a", "b", "a", "a", ""]}
    found = applied(cells, ReadOptions(class_column="kind"), image=[0, 0, 1, 1, 2])
    assert found.images["id"].tolist() == ["1"]
    assert found.set_aside == {
        "images without a class": 1, "images of more than one class": 1
    }  # fmt: skip


def test_tables_are_read_without_options_and_without_concepts(write):
    path = write("file,weather,camera\n1.jpg,rainy,A\n2.jpg,sunny,B\n3.jpg,sunny,A\n4.jpg,,A\n")
    found = read_annotations(path)
    assert counted(found) == {
        "weather: rainy": 1,
        "weather: sunny": 2,
        "camera: A": 3,
        "camera: B": 1,
    }
    assert set(found.images["class_name"]) == {ALL_IMAGES}
    assert "perhaps 'weather'" in " ".join(found.notes)
    empty = read_annotations(write("id,label\na,cat\nb,dog\n"))
    assert (len(empty.images), len(empty.mentions)) == (2, 0)
    assert "no column became a concept" in " ".join(empty.notes)


def test_columns_beside_the_concepts_count_unless_options_name_the_concepts(write):
    path = write("id,label,objects,weather,hat\na,cat,sofa,rainy,1\nb,dog,bed,sunny,0\n")
    assert counted(read_annotations(path)) == {
        "sofa": 1, "bed": 1, "weather: rainy": 1, "weather: sunny": 1, "hat": 1
    }  # fmt: skip
    only = ReadOptions(concepts_column="objects")
    assert counted(read_annotations(path, only)) == {"sofa": 1, "bed": 1}
    with_hat = replace(only, field={"hat": "two"})
    assert counted(read_annotations(path, with_hat)) == {"sofa": 1, "bed": 1, "hat": 1, "no hat": 1}


def test_names_serve_classes_and_splits_of_tables(write):
    path = write("img,y,split,place\n1,0,0,1\n2,1,2,0\n3,1,0,0\n")
    names = {
        "y": {"0": "landbird", "1": "waterbird"},
        "split": {"0": "train", "2": "test"},
        "place": {"0": "land", "1": "water"},
    }
    found = read_annotations(path, ReadOptions(names=names, rename_class={"landbird": "land bird"}))
    assert found.images["class_name"].tolist() == ["land bird", "waterbird", "waterbird"]
    assert found.images["split"].tolist() == ["train", "test", "train"]
    assert counted(found) == {"place: water": 1, "place: land": 2}
    frame = pd.DataFrame({"y": [0.0, 1.0], "place": [0, 1]})
    del names["split"]
    found = read_frame(frame, ReadOptions(names=names))
    assert found.images["class_name"].tolist() == ["landbird", "waterbird"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"field": {"wether": "values"}}, "there is no column 'wether'"),
        ({"names": {"z": {"0": "a"}}}, "there is no column 'z'"),
        ({"class_column": "z"}, "there is no column 'z'"),
        ({"field": {"weather": "bins"}}, "holds 'rainy', and no number"),
        ({"field": {"weather": "flag"}}, "holds 'rainy', and no 0 or 1"),
        ({"field": {"weather": "month"}}, "holds 'rainy', and no date"),
    ],
)
def test_options_that_do_not_fit_the_columns(options, message):
    with pytest.raises(InputError, match=message) as caught:
        applied({"weather": WEATHER}, ReadOptions(**options))
    assert next(iter(options)) in render(caught.value.remedy) or "field" in render(
        caught.value.remedy
    )


@pytest.mark.parametrize(
    "kind", ["bin", "flag:3", "widths:1", "counts:x", "bins:3,2", "bins:3,x", ""]
)
def test_kinds_that_there_are_not(kind):
    with pytest.raises(OptionError, match="What the column 'weather' becomes"):
        applied({"weather": WEATHER}, ReadOptions(field={"weather": kind}))


def test_a_few_whole_numbers_are_levels_however_few_the_records_are():
    levels = applied({"level": ["0", "0", "1", "4"]})
    assert counted(levels) == {"level: 0": 2, "level: 1": 1, "level: 4": 1}
    weights = applied({"weight": ["0.5", "0.5", "1.5", "2.75"]})
    assert kinds(weights) == {"weight": "bins"}


def test_what_a_tool_or_a_database_writes_of_itself_is_no_concept():
    own = {
        "annotator": ["1", "2", "1"],
        "lead_time": ["1.5", "2.5", "1.5"],
        "track_id": ["3", "3", "1"],
        "Unnamed: 0": ["5", "9", "9"],
        "image_md5": ["ab12", "cd34", "ab12"],
        "noisy_labels_5": ["tench", "radio", "tench"],
        "user_uuid": ["8c9d1e2f3a4b5c6d", "8c9d1e2f3a4b5c6d", "0123456789abcdef"],
        "frame": ["1", "2", "2"],
    }
    columns = applied({**own, "class_id": ["0", "1", "0"]})
    assert kinds(columns) == {**dict.fromkeys(own, "ignore"), "class_id": "flag"}
    asked = applied(own, ReadOptions(field={"annotator": "values"}))
    assert counted(asked) == {"annotator: 1": 2, "annotator: 2": 1}
    picture_frames = applied({"frame": ["gold", "none", "gold"]})
    assert counted(picture_frames) == {"frame: gold": 2, "frame: none": 1}


def test_lists_of_ids_are_concepts_each():
    columns = applied(
        {"attribute_ids": ["3 7", "7", "3 9 7", "9"], "other": ["3 7", "7", "9", "1"]}
    )
    assert columns.fields[0].kind == "list"
    assert {*counted(columns)} == {
        "attribute_ids: 3", "attribute_ids: 7", "attribute_ids: 9"
    }  # fmt: skip
