"""Detection of formats, filters and renaming of what was read."""

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import InputError, OptionError, UnknownNameError, render
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.load import detect_format, read_annotations, refine
from cobalance.ingest.options import ReadOptions
from tests.ingest.coco_files import CAPTIONS, GENDER, INSTANCES


@pytest.mark.parametrize("name", ["data.csv", "data.json", "data.parquet", "data"])
def test_detection_ignores_the_name(name, write):
    for content, expected in (
        ("id,label,tags\na,b,c\n", "csv"),
        ("id;label;tags\na;b;c\n", "csv"),
        ("id\tlabel\ttags, more\na\tb\tc\n", "tsv"),
        ("  \n\n" + '{"id": 1, "label": "a, b"}\n{"id": 2}\n', "jsonl"),
        ('{"id": 1}', "jsonl"),
        ('{"id": 1', "jsonl"),
        ("1\nA B\nx.jpg 1 -1\n", "list-attr"),
        (json.dumps(INSTANCES), "coco-instances"),
        (json.dumps(INSTANCES, indent=1), "coco-instances"),
        (json.dumps(CAPTIONS)[:-9], "coco-captions"),
        (json.dumps({"images": [], "annotations": [], "categories": []}), "coco-instances"),
        (b"PAR1....", "parquet"),
    ):
        assert detect_format(write(content, name)) == expected


def test_forced_format(write, failure):
    path = write("id,label,tags\na,b,c\n")
    with pytest.raises(
        UnknownNameError, match=r"unknown format 'cvs'\. Did you mean 'csv'\? Known: \w"
    ):
        read_annotations(path, input_format="cvs")
    assert "no Parquet file" in failure(path, input_format="parquet").reason
    assert failure(path, input_format="jsonl").record == "line 1"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (ReadOptions(id_column="x"), "options about a table's columns"),
        (ReadOptions(vocabulary=("x",)), "vocabulary"),
        (ReadOptions(class_words="coco-gb"), "class_words"),
    ],
)
def test_options_that_the_format_makes_no_use_of(options, text, write):
    with pytest.raises(OptionError, match=text):
        read_annotations(write(json.dumps(INSTANCES)), options)


def test_class_categories_are_refused_for_tables(write):
    with pytest.raises(OptionError, match=r"class_category.*\(.*lvis, coco-instances, "):
        read_annotations(write("id,label,tags\na,b,c\n"), GENDER)


def test_every_format_says_what_it_is():
    for name, known in FORMATS.items():
        assert known.purpose, name
        assert "\n" not in known.purpose


RECORDS = [
    ImageRecord("a", "0", (Mention("car", score=0.9), Mention("tree", area_px2=50)), "train"),
    ImageRecord("b", "1", (Mention("truck", score=0.4), Mention("car", box=(0, 0, 5, 6))), "train"),
    ImageRecord("c", "1", (Mention("person", score=0.5, area_px2=10),), "test"),
    ImageRecord("d", "2", (), None),
]


def refined(**options):
    read = replace(
        Annotations.from_records(RECORDS), set_aside={"odd ones": 3}, skipped=("one was bad",)
    )
    result = refine(read, ReadOptions(**options), "data.csv")
    assert result.images.index.equals(pd.RangeIndex(len(result.images)))
    assert result.mentions.index.equals(pd.RangeIndex(len(result.mentions)))
    assert result.skipped == ("one was bad",)
    assert result.set_aside["odd ones"] == 3
    for column in (result.images["class_name"], result.images["split"], result.mentions["concept"]):
        assert set(column.cat.categories) == set(column.dropna())
    return result


def concepts(annotations):
    return {r.id: [m.concept for m in r.mentions] for r in annotations.records()}


def test_nothing_asked_keeps_all():
    assert list(refined().records()) == RECORDS


def test_minimum_score_spares_mentions_without_one():
    result = refined(min_score=0.5)
    assert concepts(result) == {"a": ["car", "tree"], "b": ["car"], "c": ["person"], "d": []}
    assert result.notes == ("data.csv: 1 mentions with a score below 0.5 left out",)


def test_minimum_area_takes_the_box_where_the_area_is_unknown():
    result = refined(min_area_px2=30)
    assert concepts(result) == {"a": ["car", "tree"], "b": ["truck", "car"], "c": [], "d": []}
    assert concepts(refined(min_area_px2=31))["b"] == ["truck"]


def test_classes_and_splits_are_kept_by_new_name():
    result = refined(rename_class={"0": "land", "1": "water", "2": "water"}, keep_class=("water",))
    assert result.images["class_name"].tolist() == ["water"] * 3
    assert result.set_aside == {"odd ones": 3, "images of other classes": 1}
    result = refined(rename_class={"0": "1", "1": "0"}, keep_class=("0",), keep_split=("train",))
    assert concepts(result) == {"b": ["truck", "car"]}
    assert result.set_aside["images of other classes"] == 2
    assert result.set_aside["images of other splits"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep_class": ("9",)}, "unknown class '9'. Known: 0, 1, 2."),
        ({"rename_class": {"9": "x"}}, "unknown class '9'. Known: 0, 1, 2."),
        ({"keep_split": ("val",)}, "unknown split 'val'. Known: test, train."),
    ],
)
def test_unknown_names_list_the_known(options, message):
    with pytest.raises(UnknownNameError) as caught:
        refined(**options)
    assert str(caught.value) == message


TABLES = [
    "concept,becomes\ntruck,vehicle\ncar,vehicle\nperson,\n",
    "concept\tbecomes\ntruck\tvehicle\ncar\tvehicle\nperson\t\n",
    'truck = "vehicle"\ncar = "vehicle"\nperson = ""\n',
    '{"truck": "vehicle", "car": "vehicle", "person": null}',
    '{"concept": "truck", "becomes": "vehicle"}\n{"concept": "car", "becomes": "vehicle"}\n'
    '{"concept": "person"}\n',
]


@pytest.mark.parametrize("content", TABLES, ids=["csv", "tsv", "toml", "json", "jsonl"])
def test_concept_table_renames_merges_and_drops(content, write):
    result = refined(concept_table=write(content))
    assert concepts(result) == {
        "a": ["vehicle", "tree"],
        "b": ["vehicle", "vehicle"],
        "c": [],
        "d": [],
    }
    assert result.notes == ("data.csv: 1 mention of dropped concepts left out",)


def test_concept_table_applies_at_once(write):
    result = refined(concept_table=write("concept,becomes\ncar,truck\ntruck,car\n"))
    assert concepts(result)["b"] == ["car", "truck"]


@pytest.mark.parametrize(
    ("content", "record", "reason", "remedy"),
    [
        (
            "concept,becomes\ntre,x\n",
            "line 2",
            "'tre' is not a concept of the data",
            "Did you mean 'tree'",
        ),
        ('zebra = "x"\n', "'zebra'", "'zebra' is not a concept", "Known: car, person, tree, truck"),
        ("concept,becomes\ncar,x\ncar,y\n", "line 3", "'car' is at line 2 already", "Leave one"),
        ("concept,becomes\n,y\n", "line 2", "a name is empty", "concept and becomes"),
        ("concept,becomes\ncar,y\0\n", "line 2", "control character", "concept and becomes"),
        ("concept,becomes\ncar\n", "line 2", "1 fields where the header has 2", "Complete"),
        ("from,to\ncar,y\n", None, "no columns concept and becomes (its columns: from, to)", "CSV"),
        ("car = 3\n", "'car'", "becomes 3, which is no text", "concept and becomes"),
        ('{"car": ["x"]}', "'car'", "becomes ['x'], which is no text", "concept and becomes"),
        ("car\n", None, "is not a table in a known format", "concept and becomes"),
        ("", None, "is empty", "Name a file"),
    ],
)
def test_malformed_concept_table(content, record, reason, remedy, write):
    path = write(content, "table.txt")
    with pytest.raises(InputError) as caught:
        refined(concept_table=path)
    assert caught.value.file == str(path)
    assert caught.value.record == record
    assert reason in caught.value.reason
    assert remedy in render(caught.value.remedy)


def test_nothing_left_says_why(write, failure):
    path = write("id,label,tags,split\na,x,b,train\nc,y,b,test\n")
    wanted = ReadOptions(keep_class=("x",), keep_split=("test",))
    error = failure(path, wanted)
    assert error.reason == (
        "no image is left (1 images of other classes; 1 images of other splits)"
    )


def test_one_class_alone_can_be_read(write):
    """Whether one class is enough is for the analysis to say, not for reading."""
    annotations = read_annotations(write("id,label,tags\na,x,b\n"))
    assert annotations.images["class_name"].tolist() == ["x"]


def test_a_concept_may_be_named_like_a_class(write):
    annotations = read_annotations(write("id,label,tags\na,cat,cat|sofa\n"))
    assert concepts(annotations) == {"a": ["cat", "sofa"]}


def test_class_file_faults_name_the_class_file(write):
    data = write("id,tags\na,x\nb,y\n")
    for content, place, reason in (
        ("image_id,label\na,x\nb,\n", ", line 3", "the class is empty"),
        ("image_id,label\na,x\na,y\n", ", line 3", "the image 'a' has a class already"),
        ("image_id,kind,more\na,x,y\n", "", "there is no column 'label'"),
        ("image_id,label\nq,x\n", "", "has none of the images of"),
        ("image_id,label\n", "", "has no rows"),
        ("nothing", "", "has none of the images of"),
    ):
        path = write(content, "classes.csv")
        with pytest.raises(InputError) as caught:
            read_annotations(data, ReadOptions(class_file=path))
        assert str(caught.value).startswith(f"{path}{place}: {reason}")


def test_skipping_counts_over_both_files(write):
    data = write("id,tags\na,x\nb,y\n,z\n")
    path = write("image_id,label\na,x\nb,\n", "classes.csv")
    options = ReadOptions(class_file=path, on_error="skip")
    annotations = read_annotations(data, options)
    assert annotations.images["id"].tolist() == ["a"]
    assert [message.split(":")[0] for message in annotations.skipped] == [
        f"{data}, line 4",
        f"{path}, line 3",
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ReadOptions(delimiter=""),
        lambda: ReadOptions(concepts_column="a", concept_columns=("b",)),
        lambda: ReadOptions(scores_column="a", concept_columns=("b",)),
        lambda: ReadOptions(class_category={"a": "b"}, class_words="coco-gb"),
        lambda: ReadOptions(match="letters"),
        lambda: ReadOptions(min_score=1.5),
        lambda: ReadOptions(min_area_px2=np.nan),
        lambda: ReadOptions(on_error="ignore"),
        lambda: ReadOptions(split=" "),
    ],
)
def test_impossible_options(make):
    with pytest.raises(OptionError):
        make()


def test_columns_without_a_value_take_no_memory(write):
    """Six columns of missing numbers and one of outlines were four fifths of a plain table."""
    rows = "".join(f"{n},x,c{n % 9}|d{n % 7}|e{n % 5}|f\n" for n in range(5_000))
    path = write("id,label,concepts\n" + rows)
    read_annotations(path)  # what is imported and cached once
    tracemalloc.start()
    try:
        annotations = read_annotations(path)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    mentions = annotations.mentions
    assert len(mentions) == 20_000
    assert mentions[["score", "w_px", "segmentation"]].isna().all(axis=None)
    assert kept < 40 * len(mentions)


@pytest.mark.parametrize(
    ("areas", "kept"),
    [((0.0, None), ("large", "thin")), ((0.0, 900.0), ("large",)), ((900.0, 900.0), ())],
)
def test_an_area_of_0_with_a_box_is_unknown(areas, kept):
    boxes = {"large": (1, 1, 40, 40), "small": (1, 1, 3, 3), "thin": (1, 1, 1200, 1)}
    first, last = areas
    area_of = {"large": first, "small": first, "thin": last}
    mentions = tuple(Mention(name, box=box, area_px2=area_of[name]) for name, box in boxes.items())
    found = refine(
        Annotations.from_records([ImageRecord("a", "cat", mentions)]),
        ReadOptions(min_area_px2=1000),
        "a.json",
    )
    assert tuple(found.mentions["concept"]) == kept


def test_two_coco_images_of_one_file_are_noted(write):
    document = {
        "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "a.jpg"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": at, "image_id": at, "category_id": 1} for at in (1, 2)],
    }
    found = read_annotations(write(json.dumps(document)))
    assert len(found.images) == 2
    assert any("1 file of several images each, such as a.jpg" in note for note in found.notes)


def test_what_the_system_does_not_let_read_is_said_in_a_sentence(tmp_path, failure):
    """As a folder without the right to look into it; a test may run as one who has all rights."""
    error = failure(tmp_path / f"{'x' * 300}.csv")
    assert error.reason == "cannot be read (File name too long)"
    assert render(error.remedy) == "Check its permissions."
