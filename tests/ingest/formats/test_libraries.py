"""Datasets that the formats' own libraries wrote, and folders as Hugging Face has them."""

import io
import json
import shutil
from pathlib import Path

import datasets
import pandas as pd
import pyarrow as pa
import pytest
import webdataset
from PIL import Image

from cobalance.base.errors import InputError
from cobalance.base.progress import silent
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.hub_features import name_labels
from tests.ingest.dataset_files import pixels

ROWS = [
    {"id": f"{number:03}.jpg", "label": ("bird", "fish")[number % 2],
     "concepts": ["water", "água"][: number % 3]}
    for number in range(7)
]  # fmt: skip
EXPECTED = {(row["id"], row["label"], tuple(sorted(row["concepts"]))) for row in ROWS}


def seen(annotations, key=lambda id_: id_[-7:]):
    """(image, class, concepts) of all images."""
    by_image = annotations.mentions.groupby("image")["concept"].agg(
        lambda names: sorted(set(names))
    )
    return {
        (key(id_), class_name, tuple(by_image.get(row, ())))
        for row, (id_, class_name) in enumerate(
            annotations.images[["id", "class_name"]].itertuples(index=False)
        )
    }


def hub_rows():
    """Columns with numbered labels, lists of numbered labels, and pictures."""
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "image_id": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["fish", "bird"]),
            "objects": {
                "bbox": datasets.List(datasets.List(datasets.Value("float32"), length=4)),
                "category": datasets.List(datasets.ClassLabel(names=["água", "water"])),
            },
        }
    )
    numbers = {"água": 0, "water": 1}
    return datasets.Dataset.from_dict(
        {
            "image": [{"bytes": pixels(), "path": row["id"]} for row in ROWS],
            "image_id": [row["id"] for row in ROWS],
            "label": [("fish", "bird").index(row["label"]) for row in ROWS],
            "objects": [
                {
                    "bbox": [[1.0, 2.0, 3.0, 4.0]] * len(row["concepts"]),
                    "category": [numbers[name] for name in row["concepts"]],
                }
                for row in ROWS
            ],
        },
        features=features,
    )


def test_a_saved_dataset_gives_names_boxes_and_addresses(tmp_path):
    hub_rows().save_to_disk(tmp_path / "data")
    assert detect_format(tmp_path / "data") == "hub-dataset"
    found = read_annotations(tmp_path / "data")
    assert seen(found) == EXPECTED
    assert found.images["uri"].tolist() == [row["id"] for row in ROWS]
    assert set(found.mentions["w_px"]) == {3.0}


def test_a_parquet_file_with_features_gives_names_boxes_and_addresses(tmp_path):
    weather = datasets.ClassLabel(names=["rainy", "sunny"])
    rows = hub_rows().add_column("weather", [0, 1, 0, 1, 0, 1, 0]).cast_column("weather", weather)
    rows.remove_columns("image_id").to_parquet(tmp_path / "birds.parquet")
    found = read_annotations(tmp_path / "birds.parquet", ReadOptions(concepts_column="objects"))
    assert seen(found, lambda id_: ROWS[int(id_)]["id"]) == EXPECTED
    assert found.images["uri"].tolist() == [row["id"] for row in ROWS]
    assert set(found.mentions["w_px"]) == {3.0}
    table = FORMATS["parquet"].reader.format.load(
        tmp_path / "birds.parquet", Problems("birds"), silent
    )
    assert table.columns["weather"].to_pylist() == ["rainy", "sunny"] * 3 + ["rainy"]


def test_labels_are_named_as_deep_as_features_go():
    label = {"_type": "ClassLabel", "names": ["cow", "sign"]}
    for feature in ([label], {"_type": "Sequence", "feature": label, "length": -1}):
        assert name_labels([1, -1, 0, None], feature) == ["sign", None, "cow", None]
    objects = {"_type": "Sequence", "feature": {"category": label, "area": {"_type": "Value"}}}
    assert name_labels({"category": [0], "area": [5]}, objects) == {
        "category": ["cow"],
        "area": [5],
    }
    assert name_labels([{"category": 1}], [{"category": label}]) == [{"category": "sign"}]
    assert name_labels(1, {"_type": "ClassLabel", "num_classes": 2}) == 1


def test_splits_of_a_saved_dataset_are_kept(tmp_path):
    rows = hub_rows().remove_columns("image_id")
    splits = {"train": rows.select(range(4)), "test": rows.select(range(4, 7))}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "data")
    found = read_annotations(tmp_path / "data")
    assert found.images["id"].tolist()[::4] == ["train-0", "test-0"]
    assert found.images["split"].tolist() == ["train"] * 4 + ["test"] * 3


def test_a_damaged_saved_dataset_is_refused(tmp_path):
    hub_rows().save_to_disk(tmp_path / "data")
    (arrow,) = (tmp_path / "data").glob("*.arrow")
    arrow.write_bytes(arrow.read_bytes()[:200])
    with pytest.raises(InputError, match="load_from_disk"):
        read_annotations(tmp_path / "data")


def test_every_damaged_word_of_a_saved_dataset_is_refused_or_read(tmp_path):
    hub_rows().save_to_disk(tmp_path / "data")
    (arrow,) = (tmp_path / "data").glob("*.arrow")
    content = arrow.read_bytes()
    outcomes = set()
    for at in range(0, len(content), 24):
        arrow.write_bytes(content[:at] + b"\xff\xff\xff\x7f" * 2 + content[at + 8 :])
        try:
            read_annotations(tmp_path / "data")
            outcomes.add("read")  # it was a pixel
        except InputError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("name", ["../secret.arrow", "missing.arrow", 3, None])
def test_a_saved_dataset_names_files_of_its_own(tmp_path, name):
    hub_rows().save_to_disk(tmp_path / "data")
    (arrow,) = (tmp_path / "data").glob("*.arrow")
    (tmp_path / "secret.arrow").write_bytes(arrow.read_bytes())
    (tmp_path / "data" / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(InputError, match="it names the file"):
        read_annotations(tmp_path / "data")


def test_an_archive_of_a_saved_dataset(tmp_path):
    splits = {"train": hub_rows().select(range(4)), "test": hub_rows().select(range(4, 7))}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "data" / "birds")
    archive = Path(shutil.make_archive(str(tmp_path / "birds"), "zip", tmp_path / "data"))
    assert detect_format(archive) == "hub-dataset"
    found = read_annotations(archive)
    assert seen(found) == EXPECTED
    assert found.images["split"].tolist() == ["train"] * 4 + ["test"] * 3


def test_nested_nothing_is_within_the_limits(tmp_path):
    few = datasets.Dataset.from_dict({"image_id": ["a"], "label": ["x"], "tags": [["y"]]})
    few.save_to_disk(tmp_path / "data")
    (arrow,) = (tmp_path / "data").glob("*.arrow")
    nothing = pa.ListArray.from_arrays([0, 2**30], pa.nulls(2**30))
    table = pa.table({"image_id": ["a"], "label": ["x"], "tags": nothing})
    with pa.OSFile(str(arrow), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    with pytest.raises(InputError, match="MB of memory"):
        read_annotations(tmp_path / "data")


def test_shards_of_webdataset(tmp_path):
    pattern = str(tmp_path / "birds-%03d.tar")
    with webdataset.ShardWriter(pattern, maxcount=3, verbose=0) as writer:
        for row in ROWS:
            writer.write(
                {
                    "__key__": row["id"][:-4],
                    "jpg": Image.new("RGB", (8, 8)),
                    "cls": ("fish", "bird").index(row["label"]),
                    "json": {"concepts": row["concepts"], "width": 8, "height": 8},
                }
            )
    (tmp_path / "classes.json").write_text('["fish", "bird"]')
    assert detect_format(tmp_path) == "webdataset"
    found = read_annotations(tmp_path)
    assert seen(found, lambda id_: f"{id_}.jpg") == EXPECTED
    assert found.images["uri"][4] == "birds-001.tar/004.jpg"
    one = read_annotations(tmp_path / "birds-000.tar")
    assert one.images["class_name"].tolist() == ["1", "0", "1"]


def folder(path, metadata=None):
    for row in ROWS:
        file = path / "train" / row["label"] / row["id"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pixels())
    for name, content in (metadata or {}).items():
        (path / "train" / name).write_bytes(content)
    return path


def metadata(kind):
    rows = [
        {"file_name": f"{row['label']}/{row['id']}", "objects": {"categories": row["concepts"]}}
        for row in ROWS
    ]
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    plain = pd.DataFrame(
        {"file_name": [row["file_name"] for row in rows], "tags": [row["concepts"] for row in ROWS]}
    )
    if kind == "parquet":
        file = io.BytesIO()
        plain.to_parquet(file)
        return file.getvalue()
    return plain.assign(tags=plain["tags"].map("|".join)).to_csv(index=False).encode()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_an_image_folder_with_metadata(tmp_path, kind):
    path = folder(tmp_path, {f"metadata.{kind}": metadata(kind)})
    assert detect_format(path) == kind
    found = read_annotations(path)
    assert seen(found) == EXPECTED
    assert found.images["id"][0] == "train/bird/000.jpg"
    assert set(found.images["split"]) == {"train"}


def test_an_image_folder_alone_has_classes_and_no_concepts(tmp_path):
    path = folder(tmp_path)
    assert detect_format(path) == "image-folder"
    found = read_annotations(path)
    assert seen(found) == {(name, label, ()) for name, label, _ in EXPECTED}
    assert "no file names concepts" in found.notes[0]


def test_columns_of_metadata_can_be_chosen(tmp_path):
    rows = [{"file_name": row["id"], "kind": row["label"], "seen": row["concepts"]} for row in ROWS]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = folder(tmp_path, {"metadata.jsonl": content})
    options = ReadOptions(class_column="kind", concepts_column="seen")
    assert seen(read_annotations(path, options)) == EXPECTED


@pytest.mark.parametrize("line", [b"{", b"[1]", b"\xff", b"[" * 10_000])
def test_a_malformed_line_of_metadata_is_named(tmp_path, line):
    content = metadata("jsonl") + line + b"\n"
    path = folder(tmp_path, {"metadata.jsonl": content})
    with pytest.raises(InputError, match="line 8"):
        read_annotations(path)
    found = read_annotations(path, ReadOptions(on_error="skip"))
    assert seen(found) == EXPECTED
    assert len(found.skipped) == 1


def test_a_sample_of_two_pictures_has_the_plainer_one_and_is_noted(tmp_path):
    picture = Image.new("RGB", (8, 8))
    with webdataset.TarWriter(str(tmp_path / "birds.tar")) as writer:
        for key in ("a", "b"):
            mask = {"seg.png": picture} if key == "a" else {}
            told = {"label": "bird", "concepts": ["sea"]}
            writer.write({"__key__": key, "png": picture, "json": told, **mask})
    found = read_annotations(tmp_path / "birds.tar")
    assert found.images["uri"].tolist() == ["birds.tar/a.png", "birds.tar/b.png"]
    (note,) = (note for note in found.notes if "several pictures" in note)
    assert note.endswith("of 1 sample with several pictures one is taken, such as birds.tar/a.png")
