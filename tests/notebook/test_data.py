"""Frames and files in, annotations out, whichever way the concepts are written."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import InputError, OptionError, UnknownNameError

LABELS = ["country", "country", "urban", "urban"]
CONCEPTS = [("cow", "road"), ("cow",), ("road",), ()]


def held(data: cb.Data) -> list[tuple[str, str, set[str]]]:
    return [
        (record.id, record.class_name, {mention.concept for mention in record.mentions})
        for record in data.annotations.records()
    ]


WANTED = [
    (str(at), label, set(names))
    for at, (label, names) in enumerate(zip(LABELS, CONCEPTS, strict=True))
]


@pytest.mark.parametrize(
    "cells",
    [
        [list(names) for names in CONCEPTS],
        CONCEPTS,
        [set(names) for names in CONCEPTS],
        [frozenset(names) for names in CONCEPTS],
        [np.array(names, dtype=object) for names in CONCEPTS],
        ["|".join(names) for names in CONCEPTS],
        ["cow; road", "cow", "road", None],
        ['["cow", "road"]', '["cow"]', '["road"]', "[]"],
        [[{"concept": name, "score": 0.9} for name in names] for names in CONCEPTS],
    ],
    ids=["lists", "tuples", "sets", "frozensets", "arrays", "text", "missing", "json", "objects"],
)
def test_concepts_in_one_column(cells):
    frame = pd.DataFrame({"label": LABELS, "things": pd.Series(cells, dtype=object)})
    assert held(cb.read(frame, concepts_column="things")) == WANTED


@pytest.mark.parametrize("kind", ["bool", "int64", "float64", "boolean", "str"])
def test_a_column_of_0_and_1_for_each_concept(kind):
    frame = pd.DataFrame(
        {"label": LABELS}
        | {name: pd.Series([name in of for of in CONCEPTS]) for name in ("cow", "road")}
    )
    frame[["cow", "road"]] = frame[["cow", "road"]].astype(kind)
    assert held(cb.read(frame, concept_columns=["cow", "road"])) == WANTED
    assert held(cb.read(frame)) == WANTED


def test_a_row_for_each_image_and_concept():
    frame = pd.DataFrame(
        [
            ("b", "urban", "road", 0.5),
            ("a", "country", "cow", 0.7),
            ("c", "urban", None, np.nan),
            ("a", "country", "road", 0.9),
        ],
        columns=["image", "label", "what", "certainty"],
    )
    data = cb.read(frame, concept_column="what")
    assert held(data) == [
        ("b", "urban", {"road"}),
        ("a", "country", {"cow", "road"}),
        ("c", "urban", set()),
    ]


def test_an_image_of_two_classes_in_long_format_is_an_error():
    frame = pd.DataFrame({"image": ["a", "a"], "label": ["x", "y"], "what": ["cow", "road"]})
    with pytest.raises(InputError, match=r"row 1: the image 'a' is of a second class, 'y'"):
        cb.read(frame, concept_column="what")


def test_the_index_is_the_id_where_no_column_is():
    frame = pd.DataFrame({"label": ["x"], "tags": ["cow"]}, index=pd.Index(["p.jpg"], name="key"))
    data = cb.read(frame)
    assert data.images["id"].tolist() == ["p.jpg"]
    assert data.images["uri"].tolist() == ["p.jpg"]


def test_categorical_columns_and_paths():
    frame = pd.DataFrame(
        {
            "label": pd.Categorical(["x", "y"]),
            "tags": pd.Categorical(["cow", "road"]),
            "path": [Path("a/1.jpg"), Path("a/2.jpg")],
        }
    )
    data = cb.read(frame)
    assert data.images["id"].tolist() == ["a/1.jpg", "a/2.jpg"]
    assert data.classes.to_dict() == {"x": 1, "y": 1}


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (pd.DataFrame({"label": ["x"]}), {"field": {"z": "flag"}}, "there is no column 'z'"),
        (pd.DataFrame({"tags": ["x"]}), {"class_column": "kind"}, "there is no column 'kind'"),
        (pd.DataFrame({"label": ["x"], "tags": [[1, 2]]}), {"concepts_column": "tags"}, "list<"),
        (pd.DataFrame([["x", "y"]], columns=["label", "label"]), {}, "named 'label'"),
        (pd.DataFrame({"label": [None], "tags": ["cow"]}), {}, "row 0: the class is empty"),
        (pd.DataFrame({"label": ["x"]}), {"concept_column": "what"}, "no column"),
        (pd.DataFrame(columns=["label", "tags"]), {}, "has no rows"),
    ],
)
def test_a_frame_that_cannot_be_used(frame, options, message):
    with pytest.raises(InputError, match=message):
        cb.read(frame, **options)


def test_an_option_that_there_is_not_and_what_is_no_frame():
    with pytest.raises(OptionError, match=r"'class_colum'\. Did you mean 'class_column'"):
        cb.read(pd.DataFrame(), class_colum="x")
    with pytest.raises(OptionError, match=r"of the type dict, where str \| Path \| DataF"):
        cb.read({"label": ["x"]})
    with pytest.raises(OptionError, match="where Data is needed"):
        cb.imbalances(pd.DataFrame())


def test_json_that_pandas_writes(tmp_path):
    frame = pd.DataFrame({"id": [1, 2, 3], "label": ["x", "", "y"], "tags": [["cow"], [], ["a"]]})
    frame.to_json(file := tmp_path / "cars.json", orient="records")
    with pytest.raises(InputError, match=r"cars\.json, row 2: the class is empty"):
        cb.read(file)
    assert held(cb.read(file, on_error="skip")) == [("1", "x", {"cow"}), ("3", "y", {"a"})]
    frame.to_json(file)
    with pytest.raises(InputError, match=r"as pandas does with orient='records', lines=True"):
        cb.read(file)


def test_columns_named_by_numbers():
    frame = pd.DataFrame({0: ["x", "x", "y"], 1: ["cow", "road", "cow"], "id": [5, 5, 6]})
    for column in (1, "1"):
        long = cb.read(frame, class_column=0, concept_column=column)
        assert held(long) == [("5", "x", {"cow", "road"}), ("6", "y", {"cow"})]
    wide = frame[1:].rename(columns={"id": 7})
    assert held(cb.read(wide, class_column=0, concepts_column=1, id_column=7))[0] == (
        *("5", "x"),
        {"road"},
    )


def test_a_file_with_the_options_of_the_command_line(tmp_path):
    file = tmp_path / "cars.csv"
    file.write_text("key,kind,seen\n1,0,cow/road\n2,1,road\n3,2,cow\n")
    data = cb.read(
        file,
        id_column="key",
        class_column="kind",
        concepts_column="seen",
        delimiter="/",
        rename_class={"0": "country", "1": "urban"},
        keep_class=["country", "urban"],
        split="train",
    )
    assert held(data) == [("1", "country", {"cow", "road"}), ("2", "urban", {"road"})]
    assert set(data.images["split"]) == {"train"}
    assert data.source == "cars.csv"
    assert "set aside 1: images of other classes" in data.notes
    with pytest.raises(InputError, match="no such file"):
        cb.read(tmp_path / "none.csv")
    with pytest.raises(OptionError, match="unknown format"):
        cb.read(file, input_format="xml")


def test_coco_categories_as_classes(tmp_path):
    file = tmp_path / "instances.json"
    file.write_text(
        '{"images": [{"id": 1, "file_name": "1.jpg", "width": 4, "height": 4}],'
        '"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 2, 2]},'
        '{"id": 2, "image_id": 1, "category_id": 2, "bbox": [0, 0, 2, 2]}],'
        '"categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "sofa"}]}'
    )
    (only,) = held(cb.read(file, class_category=["cat"]))
    assert only[1:] == ("cat", {"sofa"})
    (renamed,) = held(cb.read(file, class_category={"cat": "pet"}))
    assert renamed[1] == "pet"


def test_what_data_tells_of_itself():
    frame = pd.DataFrame({"label": LABELS, "tags": CONCEPTS, "split": ["a", "a", "b", "b"]})
    data = cb.read(frame)
    assert len(data) == 4
    assert data.title() == "4 images (country 2, urban 2) with 2 concepts"
    assert data.frame.to_dict("records") == [
        {"concept": "cow", "images": 2, "count_country": 2, "count_urban": 0},
        {"concept": "road", "images": 2, "count_country": 1, "count_urban": 1},
    ]
    assert data.incidence("a").class_sizes().tolist() == [2]
    with pytest.raises(UnknownNameError, match="unknown split 'c'"):
        data.incidence("c")


def test_images_as_rows_of_a_frame_and_as_records():
    frame = pd.DataFrame({"label": LABELS, "tags": CONCEPTS, "split": ["a", "a", "b", "b"]})
    data = cb.read(frame)
    assert held(data) == WANTED
    assert held(data[1:3]) == WANTED[1:3]
    assert held(data[::-1]) == WANTED[::-1]
    assert held(data[data.images["split"] == "b"]) == WANTED[2:]
    assert data[2:].classes.to_dict() == {"urban": 2}
    assert (data[-1].id, data["1"].class_name) == ("3", "country")
    assert [record.concepts for record in data] == CONCEPTS
    rows = data.to_pandas()
    assert rows["concepts"].tolist() == CONCEPTS
    assert held(cb.read(rows)) == WANTED
    assert data.head(2).equals(rows[:2])
    wanted = "country"  # noqa: F841
    assert held(data.query("class_name == @wanted and concepts.str.len() > 1")) == WANTED[:1]
    some = cb.imbalances(cb.read(frame.assign(label=[*"xyyy"]))[:2], common=())
    assert some.frame.equals(
        cb.imbalances(cb.read(frame[:2].assign(label=[*"xy"])), common=()).frame
    )
