"""Tables in every format become annotations."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import InputError, render
from cobalance.base.records import ALL_IMAGES, ImageRecord, Mention
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions


def records(annotations):
    return list(annotations.records())


def test_csv(write):
    path = write("image_id,label,concepts,split\n007,cat,sofa | bed,train\nNA,dog,null|None,\n")
    annotations = read_annotations(path)
    assert records(annotations) == [
        ImageRecord("007", "cat", (Mention("sofa"), Mention("bed")), "train"),
        ImageRecord("NA", "dog", (Mention("null"), Mention("None"))),
    ]
    assert annotations.notes == (
        f"{path}: id = image_id, class = label, concepts = concepts, split = split, concepts are "
        "split at '|'",
    )


def test_options_name_the_columns_and_the_delimiter(write):
    path = write("a;b;c;d\n1;cat;x/y;0.5/1\n")
    options = ReadOptions(
        id_column="a", class_column="b", concepts_column="c", scores_column="d", delimiter="/"
    )
    annotations = read_annotations(path, replace(options, split="val"))
    assert records(annotations) == [
        ImageRecord("1", "cat", (Mention("x", score=0.5), Mention("y", score=1.0)), "val")
    ]
    assert "concepts are split at '/'" in annotations.notes[0]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["x,y|z", "a"], [["x,y", "z"], ["a"]]),
        (["x,y;z", "a;"], [["x,y", "z"], ["a"]]),
        (["x,y", ""], [["x", "y"], []]),
        (["x y", " "], [["x y"], []]),
        (['["x|y", "z"]', "[]"], [["x|y", "z"], []]),
        (["['x|y', 'z']", "[]"], [["x|y", "z"], []]),
        (["['it\\'s', \"a,b\"]", '["z"]'], [["it's", "a,b"], ["z"]]),
        (["['x' 'y z']", "['a'\n 'b']".replace("\n", "")], [["x", "y z"], ["a", "b"]]),
        (["('x', 'y')", "('a',)"], [["x", "y"], ["a"]]),
        (["{'x'}", "set()"], [["x"], []]),
        (["[{'concept': 'x', 'score': 0.5}]", "['caf\\xe9']"], [["x"], ["café"]]),
    ],
)
def test_delimiter_found_in_the_cells(cells, expected, write):
    lines = "".join(f"i{row}\tcat\t{cell}\n" for row, cell in enumerate(cells))
    annotations = read_annotations(write(f"id\tclass\ttags\n{lines}"))
    assert [[m.concept for m in r.mentions] for r in annotations.records()] == expected


def test_csv_with_concept_objects(write):
    cell = json.dumps([{"concept": "sofa", "score": 0.5, "box": [1, 2, 3, 4], "area": 7}, "bed"])
    quoted = cell.replace('"', '""')
    path = write(f'id,label,objects,width,height\nx,cat,"{quoted}",640,480\n')
    (record,) = records(read_annotations(path))
    sofa = Mention("sofa", score=0.5, area_px2=7.0, box=(1, 2, 3, 4))
    assert record.mentions == (sofa, Mention("bed"))
    assert (record.width_px, record.height_px) == (640, 480)


def test_csv_with_a_column_a_concept(write):
    path = write(
        "image_id,Male,Smiling,Hat,note\n1.jpg,-1,1,1,good\n2.jpg,1,-1,1,\n3.jpg,-1,-1,-1,x\n"
    )
    annotations = read_annotations(path, ReadOptions(class_column="Male"))
    smiling, hat = Mention("Smiling"), Mention("Hat")
    assert records(annotations) == [
        ImageRecord("1.jpg", "not Male", (smiling, hat, Mention("note: good")), uri="1.jpg"),
        ImageRecord("2.jpg", "Male", (hat,), uri="2.jpg"),
        ImageRecord("3.jpg", "not Male", (Mention("note: x"),), uri="3.jpg"),
    ]
    only = ReadOptions(class_column="note", concept_columns=("Hat",))
    with pytest.raises(InputError, match="line 3: the class is empty"):
        read_annotations(path, only)


def test_csv_with_captions(write):
    path = write("img_filename,y,caption\na.jpg,0,A tree and a tree.\nb.jpg,1,Palm trees\n")
    options = ReadOptions(vocabulary=("tree", "palm tree"))
    assert records(read_annotations(path, options)) == [
        ImageRecord("a.jpg", "0", (Mention("tree", "caption"),) * 2, uri="a.jpg"),
        ImageRecord("b.jpg", "1", (Mention("palm tree", "caption"),), uri="b.jpg"),
    ]


def test_csv_with_classes_in_captions(write):
    path = write("file_name,label,caption\na.jpg,x,A boy in a tree\nb.jpg,y,A tree\n")
    options = ReadOptions(class_words="coco-gb", vocabulary=("tree",))
    annotations = read_annotations(path, options)
    assert [(r.id, r.class_name) for r in annotations.records()] == [("a.jpg", "man")]
    assert annotations.set_aside == {"images whose captions name no class": 1}


def test_captions_are_asked_for_and_not_there(write, failure):
    path = write("file_name,label,tags\na.jpg,x,y\n")
    for options in (
        ReadOptions(vocabulary=("tree",)),
        ReadOptions(class_words="coco-gb"),
    ):
        error = failure(path, options)
        assert "no column looks like captions (columns: file_name, label, tags)" in error.reason
        assert "caption_column" in render(error.remedy)


def test_jsonl(write):
    lines = [
        {"image_id": "a", "label": "cat", "concepts": ["sofa", {"concept": "bed", "score": 1}]},
        {"image_id": 8, "label": "dog", "concepts": [], "width": 64},
        {"image_id": "c", "label": 3, "concepts": None},
    ]
    path = write("\ufeff" + "\n\n".join(json.dumps(line) for line in lines))
    assert records(read_annotations(path)) == [
        ImageRecord("a", "cat", (Mention("sofa"), Mention("bed", score=1.0))),
        ImageRecord("8", "dog", width_px=64),
        ImageRecord("c", "3"),
    ]


def test_parquet(tmp_path):
    item = pa.struct(
        [("concept", "string"), ("score", "float32"), ("box", pa.list_(pa.float32(), 4))]
    )
    table = pa.table(
        {
            "image_id": pa.array([7, 8], pa.int64()),
            "label": pa.array(["cat", "dog"]).dictionary_encode(),
            "concepts": pa.array(
                [[{"concept": "sofa", "score": 0.5, "box": [1, 2, 3, 4]}], None], pa.list_(item)
            ),
            "image": pa.array([b"\x89PNG", b""]),
            "width": pa.array([640.0, None]),
        }
    )
    path = tmp_path / "data.json"
    pq.write_table(table, path)
    assert records(read_annotations(path)) == [
        ImageRecord("7", "cat", (Mention("sofa", score=0.5, box=(1, 2, 3, 4)),), width_px=640),
        ImageRecord("8", "dog"),
    ]


def test_parquet_with_a_boolean_column_a_concept(tmp_path):
    table = pa.table({"id": ["a", "b"], "y": [0, 1], "sofa": [True, False], "bed": [1.0, 0.0]})
    path = tmp_path / "data"
    pq.write_table(table, path)
    assert records(read_annotations(path)) == [
        ImageRecord("a", "0", (Mention("sofa"), Mention("bed"))),
        ImageRecord("b", "1"),
    ]


def test_list_attr(write):
    path = write("3\nMale Smiling Hat \n1.jpg -1  1  1\n2.jpg  1 -1  1\n3.jpg -1 -1 -1\n")
    options = ReadOptions(class_column="Male")
    annotations = read_annotations(path, options)
    assert records(annotations) == [
        ImageRecord("1.jpg", "not Male", (Mention("Smiling"), Mention("Hat")), uri="1.jpg"),
        ImageRecord("2.jpg", "Male", (Mention("Hat"),), uri="2.jpg"),
        ImageRecord("3.jpg", "not Male", uri="3.jpg"),
    ]
    assert f"{path}: class 1 is 'Male', and -1 is 'not Male'" in annotations.notes


@pytest.mark.parametrize(
    ("values", "names", "note"),
    [
        ("01", ["not Male", "Male"], "class 1 is 'Male', and 0 is 'not Male'"),
        ("11", ["Male", "Male"], "class 1 is 'Male'"),
        ("00", ["not Male", "not Male"], "class 0 is 'not Male'"),
    ],
)
def test_list_attr_with_zeros(write, values, names, note):
    first, second = values
    path = write(f"2\nMale Hat\n1.jpg {first} 1\n2.jpg {second} 0\n")
    annotations = read_annotations(path, ReadOptions(class_column="Male"))
    assert [record.class_name for record in records(annotations)] == names
    assert f"{path}: {note}" in annotations.notes


def test_names_of_columns_are_cleaned_as_names_in_cells(write):
    path = write("\ufeff\ufeffid, label\u200b ,cafe\u0301,tree\n1,a,1,0\n")
    (record,) = records(read_annotations(path))
    assert record == ImageRecord("1", "a", (Mention("café"),))
    options = ReadOptions(class_column=" label", concept_columns=("cafe\u0301",))
    assert records(read_annotations(path, options)) == [record]


LONG = [("a", "cat", "sofa"), ("b", "dog", "bed"), ("a", "cat", "lamp"), ("c", "dog", "")]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_row_for_each_image_and_concept(form, write, tmp_path):
    if form == "csv":
        lines = "".join(f"{at},{','.join(row)},{at}\n" for at, row in enumerate(LONG))
        path = write(f"row,image_id,label,concept,other\n{lines}")
    else:
        names = ("image_id", "label", "tags")
        rows = [dict(zip(names, row, strict=True)) for row in LONG]
        path = write("".join(f"{json.dumps(row)}\n" for row in rows))
        if form == "parquet":
            path = tmp_path / "rows"
            pq.write_table(pa.Table.from_pylist(rows), path)
    annotations = read_annotations(path)
    assert records(annotations) == [
        ImageRecord("a", "cat", (Mention("sofa"), Mention("lamp"))),
        ImageRecord("b", "dog", (Mention("bed"),)),
        ImageRecord("c", "dog"),
    ]
    assert "1 row adds concepts to images of earlier rows" in annotations.notes[0]


def test_rows_of_an_image_that_disagree(write, failure):
    path = write("id,label,tags,scores\na,cat,sofa,0.5\na,dog,bed,0.5\na,cat,lamp,0.25\n")
    error = failure(path)
    assert error.record == "line 3"
    assert "rows that agree on class, split, path and size" in render(error.remedy)
    annotations = read_annotations(path, ReadOptions(on_error="skip"))
    assert len(annotations.skipped) == 1
    (record,) = records(annotations)
    assert record.mentions == (Mention("sofa", score=0.5), Mention("lamp", score=0.25))


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_bad_row_of_several_is_left_out_alone(bad, write):
    tags = ["sofa", "lamp"]
    tags.insert(bad, "b\x07d")
    path = write("id,label,tags\n" + "".join(f"a,cat,{tag}\n" for tag in tags))
    annotations = read_annotations(path, ReadOptions(on_error="skip"))
    assert len(annotations.skipped) == 1
    assert records(annotations)[0].mentions == (Mention("sofa"), Mention("lamp"))


def test_rows_of_an_image_are_merged_or_images_of_their_own(write):
    path = write("id,label,age,sofa\na.jpg,cat,young,1\na.jpg,cat,old,0\nb.jpg,dog,old,0\n")
    (record, other) = records(read_annotations(path))
    assert record.concepts == ("age: old", "age: young", "sofa")
    assert other.concepts == ("age: old",)
    found = list(read_annotations(path, ReadOptions(each_row=True)).records())
    assert [record.id for record in found] == ["a.jpg#1", "a.jpg#2", "b.jpg"]
    assert [record.uri for record in found] == ["a.jpg", "a.jpg", "b.jpg"]
    assert found[1].concepts == ("age: old",)


@pytest.mark.parametrize(
    ("header", "cells", "expected"),
    [
        ("label", ['"hen, egg"', '"egg, nut"', "hen"], [["egg", "hen"], ["egg", "nut"], ["hen"]]),
        ("label", ["hen|egg", "egg", ""], [["egg", "hen"], ["egg"], []]),
        ("labels", ["hen egg", "egg straw", "hen"], [["egg", "hen"], ["egg", "straw"], ["hen"]]),
        ("labels", ["3 7", "7", "9 3"], [["3", "7"], ["7"], ["3", "9"]]),
        ("labels", ["3;7", "7", "9"], [["3", "7"], ["7"], ["9"]]),
        ("labels", ["stop sign", "road sign", "car"], [["stop sign"], ["road sign"], ["car"]]),
        ("label", ['"{""choices"": [""hen"", ""egg""]}"', "egg", "hen"],
         [["egg", "hen"], ["egg"], ["hen"]]),
    ],
)  # fmt: skip
def test_several_labels_in_a_cell_are_concepts_whatever_the_column_is_called(
    header, cells, expected, write
):
    rows = "".join(f"{row}.jpg,{cell}\n" for row, cell in enumerate(cells))
    annotations = read_annotations(write(f"image,{header}\n{rows}"))
    names = [[name.removeprefix("labels: ") for name in r.concepts] for r in annotations.records()]
    assert names == expected
    assert {record.class_name for record in annotations.records()} == {ALL_IMAGES}


def test_names_with_commas_are_classes(write):
    path = write('image,label\n1.jpg,"tench, Tinca tinca"\n2.jpg,"hen, Gallus gallus"\n')
    classes = {record.class_name for record in read_annotations(path).records()}
    assert classes == {"tench, Tinca tinca", "hen, Gallus gallus"}


def test_rows_of_a_label_each_are_concepts_of_their_image(write):
    path = write("id,image_id,label\n7,a,hen\n9,a,egg\n12,b,hen\n15,c,\n")
    annotations = read_annotations(path)
    assert [(record.id, record.concepts) for record in annotations.records()] == [
        ("a", ("label: egg", "label: hen")), ("b", ("label: hen",)), ("c", ())
    ]  # fmt: skip
    assert "images have rows of several labels, which are concepts" in annotations.notes[0]


def test_two_labels_of_one_image_among_many_are_a_fault(write, failure):
    rows = "".join(f"{row},hen\n" for row in range(50))
    assert failure(write(f"id,label\n{rows}0,egg\n")).record == "line 52"


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("photo", ["1.jpg", "2.png"]),
        ("", ["1.jpg", "2.png"]),
        ("isic_id", ["ISIC_0000001", "ISIC_0000002"]),
        ("hash", ["3f2a9b77c1d2e4f5a0", "9b77c1d2e4f53f2a1c"]),
    ],
)
def test_ids_without_a_usual_name_are_known_by_their_values(header, names, write):
    path = write(f"{header},label\n{names[0]},hen\n{names[1]},egg\n")
    annotations = read_annotations(path)
    assert annotations.images["id"].tolist() == names
    assert annotations.images["class_name"].tolist() == ["hen", "egg"]


def test_rows_that_are_numbered_are_of_the_images_that_they_name(write):
    path = write("id,image,x,y,w,h,label\n1,a.jpg,1,2,3,4,hen\n2,a.jpg,5,6,3,4,egg\n")
    (record,) = read_annotations(path).records()
    assert (record.id, record.concepts) == ("a.jpg", ("egg", "hen"))


def test_numbered_rows_of_several_classes_are_images_that_share_a_picture(write):
    path = write("id,class,concepts,uri\n1,town,cow|road,a.jpg\n2,farm,cow,a.jpg\n3,farm,,b.jpg\n")
    annotations = read_annotations(path)
    assert [(record.id, record.class_name, record.uri) for record in annotations.records()] == [
        ("1", "town", "a.jpg"),
        ("2", "farm", "a.jpg"),
        ("3", "farm", "b.jpg"),
    ]


def test_heights_with_decimals_are_no_sizes_of_images(write):
    rows = "".join(f"{n}.jpg,{n % 13}.5\n" for n in range(20))
    annotations = read_annotations(write(f"image,height\n{rows}"))
    (field,) = annotations.fields
    assert (field.column, field.kind) == ("height", "bins")
    assert annotations.images["height_px"].isna().all()


def test_lists_of_boxes_without_names_are_no_concepts(write):
    path = write("image_id,boxes_string,domain\na,0 0 4 4;2 2 3 3,x\nb,1 1 2 2,y\nc,no_box,y\n")
    assert {field.column: field.kind for field in read_annotations(path).fields} == {
        "boxes_string": "ignore", "domain": "values"
    }  # fmt: skip
