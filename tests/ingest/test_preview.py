"""Preview of a folder's files and of a table's first rows."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import InputError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.preview import (
    category_names,
    find_files,
    first_images,
    images_by_class,
    images_by_concept,
    sample_table,
    skipped_records,
)
from tests.ingest.dataset_files import DATASETS, NAMES, archive


def test_the_files_of_a_folder_and_their_formats(tmp_path):
    files = {
        "a/cars.csv": b"id,label,objects\n1,x,y\n",
        "a/b/c/d/deeper.csv": b"id,label\n",
        "celeba.txt": b"2\nBald Young\n1.jpg 1 -1\n2.jpg -1 -1\n",
        "rows.jsonl": b'{"id": 1}\n',
        "captions.json": b'{"images": [], "annotations": [{"caption": ""}]}',
        "vocabulary.txt": b"sofa\n",
        "packed.json.gz": b"\x1f\x8b",
        "weights.txt": b"\0\1\2",
        "picture.jpg": b"\xff\xd8\xff",
        "code.py": b"a, b = 1, 2\n",
        ".hidden.csv": b"id,label\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert [(file.name, file.format, file.fault) for file in find_files(tmp_path)] == [
        ("a/cars.csv", "csv", ""),
        ("captions.json", "coco-captions", ""),
        ("celeba.txt", "list-attr", ""),
        ("packed.json.gz", None, "is compressed (gzip)"),
        ("rows.jsonl", "jsonl", ""),
        ("vocabulary.txt", None, ""),
    ]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="Name a folder that is there"):
        find_files(tmp_path / "missing")


@pytest.mark.parametrize(
    ("table_format", "content"),
    [
        ("csv", "id,label,objects\n" + "7,cat,sofa|tree\n" * 40_000),
        ("tsv", "id\tlabel\tobjects\n" + "7\tcat\tsofa|tree\n" * 40_000),
        ("jsonl", '{"id": 7, "label": "cat", "objects": "sofa|tree"}\n' * 20_000),
    ],
)
def test_the_start_of_a_long_text(tmp_path, table_format, content):
    path = tmp_path / "table"
    path.write_text(content)
    sample = sample_table(path, table_format)
    assert sample.columns == ["id", "label", "objects"]
    assert sample.rows.iloc[0].tolist() == ["7", "cat", "sofa|tree"]
    assert len(sample.rows) == 200
    roles = {name: guess.roles for name, guess in sample.guesses.items()}
    assert roles == {"id": ("id",), "label": ("class",), "objects": ("concepts",)}


@pytest.mark.parametrize("table_format", ["csv", "jsonl", "parquet"])
def test_a_class_that_a_file_is_sorted_by_is_seen(tmp_path, table_format):
    scenes = [name for name in ("kitchen", "street", "beach") for _ in range(6_000)]
    names = [f"pictures/{number:06}.png" for number in range(len(scenes))]
    frame = pd.DataFrame({"image": names, "scene": scenes, "camera": "A"})
    path = tmp_path / "table"
    if table_format == "csv":
        frame.to_csv(path, index=False)
    elif table_format == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        # Row groups in the midst of the others are not read.
        frame.to_parquet(path, index=False, row_group_size=1_000)
    sample = sample_table(path, table_format)
    assert sample.guesses["scene"].roles == ("class",)
    assert sample.guesses["camera"].why == "'A' in the rows sampled"
    assert sample.rows.iloc[0].tolist() == ["pictures/000000.png", "kitchen", "A"]
    frame.head(90).to_csv(path, index=False)
    assert sample_table(path, "csv").guesses["camera"].why == "'A' in every record"


def test_texts_of_several_lines_are_read_from_the_start(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,label,note\n" + '1,cat,"a\nb,c\nd"\n' * 40_000)
    sample = sample_table(path, "csv")
    assert set(sample.rows["label"]) == {"cat"}
    assert set(sample.rows["note"]) == {"a\nb,c\nd"}


def test_the_start_of_a_list_attr_file(tmp_path):
    path = tmp_path / "list_attr.txt"
    path.write_text("50000\nBald Young\n" + "1.jpg 1 -1\n" * 50_000)
    sample = sample_table(path, "list-attr")
    found = [name for name, guess in sample.guesses.items() if guess.roles == ("field flag",)]
    assert found == ["Bald", "Young"]
    assert sample.rows.iloc[0].tolist() == ["1.jpg", "1", "-1"]


def test_the_start_of_a_parquet_file(tmp_path):
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame({"id": range(1000), "y": 1, "tags": [["a", "b"]] * 1000})
    frame.to_parquet(path)
    sample = sample_table(path, "parquet")
    assert (sample.columns, len(sample.rows)) == (["id", "y", "tags"], 200)
    frame.head(0).to_parquet(path)
    assert sample_table(path, "parquet").columns == ["id", "y", "tags"]
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="is no Parquet file"):
        sample_table(path, "parquet")


def test_labels_of_a_hub_s_parquet_have_their_names(tmp_path):
    weather = {"_type": "ClassLabel", "names": ["sunny", "rainy"]}
    features = json.dumps({"info": {"features": {"weather": weather}}})
    table = pa.table({"weather": [0, 1] * 500}).replace_schema_metadata({"huggingface": features})
    pq.write_table(table, tmp_path / "a.parquet")
    sample = sample_table(tmp_path / "a.parquet", "parquet")
    assert (len(sample.rows), sample.rows["weather"].tolist()[:2]) == (200, ["sunny", "rainy"])
    assert sample.guesses["image_id"].roles == ("id",)


def test_captions_do_not_keep_columns_of_0_and_1_from_being_concepts(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,label,text,cow\n1,cat,on a sofa,1\n2,dog,on a lawn,0\n")
    guesses = sample_table(path, "csv").guesses
    assert guesses["text"].roles == ("caption",)
    assert guesses["cow"].roles == ("field flag",)


def test_the_categories_of_a_file(tmp_path):
    path = tmp_path / "instances.json"
    path.write_text(
        json.dumps({"categories": [{"id": 2, "name": "dog"}, {"id": 1, "name": "cat"}]})
    )
    assert category_names(path, "coco-instances") == ["dog", "cat"]
    path.write_text("[]")
    with pytest.raises(InputError):
        category_names(path, "coco-instances")


def test_a_folder_of_files_comes_first_and_an_archive_is_listed(tmp_path):
    for name, content in DATASETS["pascal-voc"]().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "yolo.zip").write_bytes(archive(DATASETS["yolo"]()))
    found = {file.name: file.format for file in find_files(tmp_path)}
    assert next(iter(found)) == "."
    assert found["."] == "pascal-voc"
    assert found["yolo.zip"] == "yolo"
    assert category_names(tmp_path, "pascal-voc") == list(NAMES)
    assert category_names(tmp_path / "yolo.zip", "yolo") == list(NAMES)


def test_tables_of_what_was_read(tmp_path):
    path = tmp_path / "cars.csv"
    path.write_text("id,label,objects\n1,b,road|cow\n2,a,road\n3,,cow\n4,b,\n")
    annotations = read_annotations(path, ReadOptions(on_error="skip"))
    assert images_by_class(annotations).to_numpy().tolist() == [["a", 1, 0], ["b", 2, 1]]
    assert images_by_concept(annotations).to_numpy().tolist() == [["road", 2], ["cow", 1]]
    assert first_images(annotations, 2)["concepts"].tolist() == [["road", "cow"], ["road"]]
    (skipped,) = skipped_records(annotations).to_dict("records")
    assert skipped == {
        "file": str(path),
        "record": "line 4",
        "reason": "the class is empty",
        "remedy": "Name the image's class.",
    }


def test_tables_without_a_concept():
    annotations = Annotations.from_records([ImageRecord("1", "a"), ImageRecord("2", "b")])
    assert images_by_class(annotations)["without concept"].tolist() == [1, 1]
    assert images_by_concept(annotations).empty
    assert first_images(annotations)["concepts"].tolist() == [[], []]


def test_a_concept_counts_once_an_image():
    twice = ImageRecord("1", "a", (Mention("sofa"), Mention("sofa", "caption")))
    annotations = Annotations.from_records([twice])
    assert images_by_concept(annotations).to_numpy().tolist() == [["sofa", 1]]
