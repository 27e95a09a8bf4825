"""A tiny valid file of each format, and what detection makes of files and their names."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graph.errors import InputError, OptionError, UnknownNameError, worded
from graph.records import ImageRecord, Mention
from ingest.formats import FORMATS
from ingest.load import detect_format, read_annotations
from ingest.options import (
    ClassOptions,
    ReadOptions,
    TableOptions,
    VocabularyOptions,
)

INSTANCES = {
    "info": {},
    "images": [
        {"id": 10, "file_name": "a.jpg", "width": 640, "height": 480, "license": 1},
        {"id": 20, "file_name": "b.jpg", "width": 320, "height": 240},
        {"id": 30, "file_name": "c.jpg"},
        {"id": 40, "file_name": "d.jpg"},
    ],
    "annotations": [
        {
            "id": 1,
            "image_id": 10,
            "category_id": 3,
            "bbox": [1, 2.5, 3, 4],
            "area": 9.5,
            "iscrowd": 1,
            "segmentation": {"counts": [1, 2], "size": [3, 4]},
        },
        {"id": 2, "image_id": 10, "category_id": 1, "segmentation": [[1, 2, 3]]},
        {"id": 3, "image_id": 20, "category_id": 2, "score": 0.5},
        {"id": 4, "image_id": 30, "category_id": 1},
        {"id": 5, "image_id": 30, "category_id": 2},
        {"id": 6, "image_id": 20, "category_id": 3, "bbox": [0, 0, 0, 7]},
    ],
    "categories": [
        {"id": 1, "name": "man", "supercategory": "person"},
        {"id": 2, "name": "woman"},
        {"id": 3, "name": "hot dog"},
    ],
}
CAPTIONS = {
    "images": INSTANCES["images"],
    "annotations": [
        {"id": 1, "image_id": 10, "caption": "A man eats hot-dogs."},
        {"id": 2, "image_id": 10, "caption": "Boys with a hot dog and a bench"},
        {"id": 3, "image_id": 20, "caption": "A woman on a bench"},
        {"id": 4, "image_id": 30, "caption": "A man and a woman"},
    ],
}
GENDER = ClassOptions(categories={"man": "m", "woman": "w"})
EXPECTED = [
    ImageRecord(
        "10",
        "m",
        (
            Mention(
                "hot dog",
                area_px2=9.5,
                box=(1, 2.5, 3, 4),
                segmentation='{"counts": [1, 2], "size": [3, 4]}',
                crowd=True,
            ),
        ),
        uri="a.jpg",
        width_px=640,
        height_px=480,
    ),
    ImageRecord(
        "20", "w", (Mention("hot dog", box=(0, 0, 0, 7)),), uri="b.jpg", width_px=320, height_px=240
    ),
]


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
    options = TableOptions(id="a", class_name="b", concepts="c", scores="d", delimiter="/")
    annotations = read_annotations(path, ReadOptions(table=options, split="val"))
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
    annotations = read_annotations(path, ReadOptions(table=TableOptions(class_name="Male")))
    assert records(annotations) == [
        ImageRecord("1.jpg", "not Male", (Mention("Smiling"), Mention("Hat")), uri="1.jpg"),
        ImageRecord("2.jpg", "Male", (Mention("Hat"),), uri="2.jpg"),
        ImageRecord("3.jpg", "not Male", uri="3.jpg"),
    ]
    only = TableOptions(class_name="note", concept_columns=("Hat",))
    with pytest.raises(InputError, match="line 3: the class is empty"):
        read_annotations(path, ReadOptions(table=only))


def test_csv_with_captions(write):
    path = write("img_filename,y,caption\na.jpg,0,A tree and a tree.\nb.jpg,1,Palm trees\n")
    options = ReadOptions(vocabulary=VocabularyOptions(concepts=("tree", "palm tree")))
    assert records(read_annotations(path, options)) == [
        ImageRecord("a.jpg", "0", (Mention("tree", "caption"),) * 2, uri="a.jpg"),
        ImageRecord("b.jpg", "1", (Mention("palm tree", "caption"),), uri="b.jpg"),
    ]


def test_csv_with_classes_in_captions(write):
    path = write("file_name,label,caption\na.jpg,x,A boy in a tree\nb.jpg,y,A tree\n")
    options = ReadOptions(
        classes=ClassOptions(words="coco-gb"), vocabulary=VocabularyOptions(concepts=("tree",))
    )
    annotations = read_annotations(path, options)
    assert [(r.id, r.class_name) for r in annotations.records()] == [("a.jpg", "man")]
    assert annotations.set_aside == {"images whose captions name no class": 1}


def test_captions_are_asked_for_and_not_there(write, failure):
    path = write("file_name,label,tags\na.jpg,x,y\n")
    for options in (
        ReadOptions(vocabulary=VocabularyOptions(concepts=("tree",))),
        ReadOptions(classes=ClassOptions(words="coco-gb")),
    ):
        error = failure(path, options)
        assert "no column looks like captions (columns: file_name, label, tags)" in error.reason
        assert "table.caption" in worded(error.remedy)


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
    options = ReadOptions(table=TableOptions(class_name="Male"))
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
    annotations = read_annotations(path, ReadOptions(table=TableOptions(class_name="Male")))
    assert [record.class_name for record in records(annotations)] == names
    assert f"{path}: {note}" in annotations.notes


def test_coco_instances(write):
    annotations = read_annotations(write(json.dumps(INSTANCES)), ReadOptions(classes=GENDER))
    assert records(annotations) == EXPECTED
    assert annotations.set_aside == {
        "images that show none of the class categories": 1,
        "images that show categories of more than one class": 1,
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_coco_ids_may_be_text(indent, write):
    content = json.loads(json.dumps(INSTANCES))
    for image in content["images"]:
        image["id"] = f"i{image['id']}"
    for annotation in content["annotations"]:
        annotation["image_id"] = f"i{annotation['image_id']}"
    path = write("\ufeff" + json.dumps(content, indent=indent))
    annotations = read_annotations(path, ReadOptions(classes=GENDER))
    assert annotations.images["id"].tolist() == ["i10", "i20"]


def test_coco_class_from_a_table(write):
    data = write(json.dumps(INSTANCES))
    for content in (
        "file_name,class\na.jpg,indoor\nc.jpg,outdoor\nz.jpg,outdoor\n",
        "who\twhat\n10\tindoor\n30\toutdoor\n",
        '{"image_id": 10, "label": "indoor"}\n{"image_id": 30, "label": "outdoor"}\n',
    ):
        table = write(content, "classes.txt")
        options = ReadOptions(classes=ClassOptions(file=table), split="train")
        annotations = read_annotations(data, options)
        assert [(r.id, r.class_name, r.split) for r in annotations.records()] == [
            ("10", "indoor", "train"),
            ("30", "outdoor", "train"),
        ]
        assert annotations.set_aside == {"images without a class in classes.txt": 2}
        assert annotations.mentions["concept"].tolist() == ["hot dog", "man", "man", "woman"]


def test_coco_class_from_captions(write):
    data, captions = write(json.dumps(INSTANCES)), write(json.dumps(CAPTIONS), "captions.json")
    annotations = read_annotations(data, ReadOptions(classes=ClassOptions(captions=captions)))
    assert [(r.id, r.class_name) for r in annotations.records()] == [("10", "man"), ("20", "woman")]
    assert annotations.set_aside == {
        "images whose captions name no class": 1,
        "images whose captions name more than one class": 1,
    }


def test_coco_captions(write):
    options = ReadOptions(
        classes=ClassOptions(words="coco-gb"),
        vocabulary=VocabularyOptions(concepts=("hot dog", "bench")),
    )
    annotations = read_annotations(write(json.dumps(CAPTIONS)), options)
    mention = {name: Mention(name, "caption") for name in ("hot dog", "bench")}
    assert [(r.id, r.class_name, r.mentions) for r in annotations.records()] == [
        ("10", "man", (mention["hot dog"], mention["hot dog"], mention["bench"])),
        ("20", "woman", (mention["bench"],)),
    ]


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


@pytest.mark.parametrize(
    ("content", "reason", "remedy"),
    [
        (b"", "is empty", "Name a file"),
        (b" \n ", "is empty", "Name a file"),
        (b"\xef\xbb\xbf", "is empty", "Name a file"),
        (b"\x1f\x8b\x08\x00rest", "is compressed (gzip)", "gunzip"),
        (b"PK\x03\x04rest", "ZIP archive or a spreadsheet", "as CSV"),
        ("id,label\n".encode("utf-16"), "is UTF-16", "UTF-8"),
        (b"\x89PNG\r\n", "is an image", "with its annotations"),
        (b"one column\nonly\n", "none of the known formats (coco-instances, ", "input_format"),
        (b"\0\1\2, binary", "none of the known formats", "input_format"),
    ],
)
def test_files_of_no_known_format(content, reason, remedy, write, failure):
    error = failure(write(content))
    assert error.record is None
    assert reason in error.reason
    assert remedy in worded(error.remedy)


def test_files_that_are_not_there(tmp_path, failure):
    assert failure(tmp_path / "none.csv").reason == "there is no such file"
    assert failure(tmp_path).reason == "is a folder"
    (tmp_path / "file").write_text("x")
    error = failure(tmp_path / "file" / "below")
    assert error.reason == "cannot be read (Not a directory)"


def test_a_folder_leads_to_the_file_to_name(tmp_path, failure):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "1.jpg").touch()
    remedy = failure(tmp_path).remedy
    assert "write a CSV file with the columns image, class and concepts" in remedy
    line = remedy.partition("such as: ")[2].rstrip(".")
    table = tmp_path / "table.csv"
    table.write_text(f"image,class,concepts\n{line}\n")
    assert records(read_annotations(table)) == [
        ImageRecord("cat/1.jpg", "cat", (Mention("sofa"), Mention("lamp")), None, "cat/1.jpg")
    ]
    for name in ("cat/metadata.jsonl", "metadata.csv", "manifest.parquet"):
        (tmp_path / name).touch()
        assert failure(tmp_path).remedy == f"Name the file with its annotations: {tmp_path / name}."


def test_forced_format(write, failure):
    path = write("id,label,tags\na,b,c\n")
    with pytest.raises(UnknownNameError, match=r"unknown format 'cvs'\. Known: coco-captions, "):
        read_annotations(path, input_format="cvs")
    assert "no Parquet file" in failure(path, input_format="parquet").reason
    assert failure(path, input_format="jsonl").record == "line 1"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (ReadOptions(table=TableOptions(id="x")), "options about columns"),
        (ReadOptions(vocabulary=VocabularyOptions(concepts=("x",))), "vocabulary.file"),
        (ReadOptions(classes=ClassOptions(words="coco-gb")), "classes.words"),
    ],
)
def test_options_that_the_format_makes_no_use_of(options, text, write):
    with pytest.raises(OptionError, match=text):
        read_annotations(write(json.dumps(INSTANCES)), options)


def test_class_categories_are_refused_for_tables(write):
    with pytest.raises(OptionError, match=r"classes.categories.*\(coco-instances\)"):
        read_annotations(write("id,label,tags\na,b,c\n"), ReadOptions(classes=GENDER))


def test_every_format_says_what_it_is():
    for name, reader in FORMATS.items():
        assert reader.description, name
        assert "\n" not in reader.description


def test_progress_reaches_its_total(write):
    seen = []
    data = json.dumps(INSTANCES)
    read_annotations(
        write(data), ReadOptions(classes=GENDER), progress=lambda *step: seen.append(step)
    )
    assert {stage for stage, _, _ in seen} == {"read", "check"}
    assert seen[-1] == ("check", 6, 6)
