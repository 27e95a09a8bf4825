"""Exports as the tools that they are for load them, and as we ingest them again ourselves."""

import gc
import importlib
import json
import logging
import warnings
from dataclasses import replace
from io import BytesIO

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from generation.export import EXPORTERS, ExportOptions, export
from generation.export.images.file_names import split_names
from ingest.images.masks import mask
from ingest.load import detect_format, read_annotations
from ingest.options import ClassOptions, ReadOptions

TRAIN = 11  # images of the split train: 7 real ones and 4 generated
OTHER = split_names(["a/b: c"])["a/b: c"]


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """The libraries' caches in a folder of the test, and no network."""
    for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf"


def imported(name):
    """Import a library; what it warns of meanwhile is its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


# pycocotools is compiled for an older NumPy than ours.
of_pycocotools = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"
)


def shown(record):
    return sorted({mention.concept for mention in record.mentions})


def rows_of(sample):
    """Id, class, concepts and split of each image, from the frames themselves."""
    real, made = sample.dataset.real, sample.dataset.generated
    found = {
        row["id"]: (row["class"], row["concepts"], row["split"]) for row in real.to_dict("records")
    }
    for row in made.to_dict("records"):
        source = row["source_image"]
        split = found[source][2] if source in found else "train"
        found[row["candidate"]] = (row["class"], sorted(row["concepts"]), split)
    return found


def test_imagefolder_loads_with_datasets(sample, tmp_path, offline):
    export(sample.dataset, "imagefolder", tmp_path / "out")
    datasets = imported("datasets")
    datasets.disable_progress_bars()
    for path, more in (("imagefolder", {"data_dir": str(tmp_path / "out")}), ("out", {})):
        place = path if more else str(tmp_path / "out")
        loaded = datasets.load_dataset(place, cache_dir=str(offline / place[-3:]), **more)
        splits = {"train"} if more else {"train", OTHER}
        assert set(loaded) == splits
        assert len(loaded["train"]) == TRAIN
        found = rows_of(sample)
        for row in loaded["train"]:
            assert row["image"].size == (16, 12)
            assert (row["label"], row["concepts"], "train") == found[row["image_id"]]
            assert row["synthetic"] == (row["prompt"] is not None)
        boxes = [len(row["objects"]["bbox"]) for row in loaded["train"]]
        assert max(boxes) == 2


def test_imagefolder_without_splits_is_all_train(sample, tmp_path, offline):
    plain = replace(sample.dataset, real=sample.dataset.real.assign(split=None))
    export(plain, "imagefolder", tmp_path / "out")
    datasets = imported("datasets")
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(
        "imagefolder", data_dir=str(tmp_path / "out"), cache_dir=str(offline)
    )
    assert {name: len(split) for name, split in loaded.items()} == {"train": 15}


@pytest.mark.parametrize("size", [{}, {"shard_images": 3}, {"shard_bytes": 1}])
def test_webdataset_loads(sample, tmp_path, offline, size):
    report = export(
        sample.dataset, "webdataset", tmp_path / "out", ExportOptions(format_options=size)
    )
    webdataset = imported("webdataset")
    shards = sorted((tmp_path / "out" / "shards").glob("train-*.tar"))
    expected = {"": 1, "shard_images": 4, "shard_bytes": TRAIN}["".join(size)]
    assert len(shards) == expected
    assert report.counts["shards"] == len(list((tmp_path / "out" / "shards").iterdir()))
    classes = json.loads((tmp_path / "out" / "classes.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # webdataset closes no shard
        loaded = webdataset.WebDataset([str(path) for path in shards], shardshuffle=False)
        samples = list(loaded.decode("pil"))
        del loaded
        gc.collect()
    assert len(samples) == TRAIN
    found = rows_of(sample)
    for one in samples:
        about = one["json"]
        assert (about["class"], about["concepts"], about["split"]) == found.pop(about["id"])
        assert classes[one["cls"]] == about["class"]
        picture = one.get("png", one.get("jpg"))
        assert picture.size == (about["width"], about["height"])
        if about["synthetic"]:
            assert about["generated"]["prompt"] == 'a "photo", of\nwood'
            (where,) = about["objects"]
            outline = json.dumps(where["segmentation"])
            assert mask(outline, 16, 12).sum() == 42


def test_webdataset_mixes_real_and_generated_images(sample, tmp_path):
    export(sample.dataset, "webdataset", tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    synthetic = table["synthetic"].tolist()
    assert synthetic != sorted(synthetic)


def load_coco(path, capsys):
    coco = imported("pycocotools.coco").COCO(str(path))
    capsys.readouterr()
    return coco


@of_pycocotools
def test_coco_loads_with_pycocotools(sample, tmp_path, capsys):
    report = export(sample.dataset, "coco", tmp_path / "out")
    coco = load_coco(tmp_path / "out" / "annotations" / "instances_train.json", capsys)
    images = coco.loadImgs(coco.getImgIds())
    assert len(images) == TRAIN
    names = {entry["name"] for entry in coco.loadCats(coco.getCatIds())}
    assert names == set(sample.dataset.real["concepts"].sum()) | {"wood"}
    found = rows_of(sample)
    for image in images:
        about = image["cobalance"]
        assert (about["class"], about["concepts"], about["split"]) == found[about["id"]]
        with Image.open(tmp_path / "out" / image["file_name"]) as picture:
            assert picture.size == (image["width"], image["height"])
    n_regions = 0
    for split in ("train", OTHER):
        coco = load_coco(tmp_path / "out" / "annotations" / f"instances_{split}.json", capsys)
        n_regions += len(coco.anns)
        for annotation in coco.anns.values():
            if annotation["segmentation"]:
                pixels = coco.annToMask(annotation).astype(bool)
                outline = json.dumps(annotation["segmentation"])
                assert (pixels == mask(outline, 16, 12)).all()
            x, y, width, height = annotation["bbox"]
            assert (x >= 0, y >= 0, width > 0, height > 0, annotation["area"] > 0) == (True,) * 5
    regions = sample.dataset.regions(sample.dataset.real["id"].tolist())
    assert n_regions == len(regions) == report.counts["regions"]


@of_pycocotools
def test_coco_has_the_objects_of_generated_images(sample, tmp_path, capsys):
    del sample.stores.generated["5f1c/masks/1.png"]
    report = export(sample.dataset, "coco", tmp_path / "out")
    coco = load_coco(tmp_path / "out" / "annotations" / "objects_train.json", capsys)
    assert len(coco.imgs) == len(coco.anns) == 3
    assert report.counts["objects"] == 4
    with Image.open(BytesIO(sample.stores.generated["5f1c/masks/0.png"])) as picture:
        expected = np.asarray(picture)
    for annotation in coco.anns.values():
        assert (coco.annToMask(annotation).astype(bool) == expected).all()
        assert annotation["bbox"] == [4, 3, 7, 6]
        assert annotation["area"] == 42
        category = coco.loadCats(annotation["category_id"])[0]
        about = coco.imgs[annotation["image_id"]]["cobalance"]
        assert category["name"] == about["class"]


def test_coco_keeps_ids_that_are_whole_numbers(numbered, tmp_path, capsys):
    export(numbered.dataset, "coco", tmp_path / "out")
    kept = {}
    for split in ("train", OTHER):
        coco = load_coco(tmp_path / "out" / "annotations" / f"instances_{split}.json", capsys)
        kept |= {image["cobalance"]["id"]: number for number, image in coco.imgs.items()}
    real = {name: int(name) for name in numbered.dataset.real["id"]}
    made = {name: 98 + at for at, name in enumerate(numbered.dataset.generated["candidate"])}
    assert kept == real | made


def test_coco_is_ingested_again(sample, tmp_path):
    export(sample.dataset, "coco", tmp_path / "out")
    classes = ClassOptions(file=tmp_path / "out" / "classes.csv")
    annotations = tmp_path / "out" / "annotations"
    found = rows_of(sample)
    regions = sample.dataset.regions(sample.dataset.real["id"].tolist())
    seen, boxes = set(), 0
    for split, name in (("train", "train"), ("a/b: c", OTHER)):
        path = annotations / f"instances_{name}.json"
        assert detect_format(path) == "coco-instances"
        about = {
            str(image["id"]): image["cobalance"]["id"]
            for image in json.loads(path.read_text())["images"]
        }
        for record in read_annotations(path, ReadOptions(classes=classes, split=split)).records():
            image = about[record.id]
            seen.add(image)
            assert (record.class_name, record.split) == (found[image][0], found[image][2])
            assert (tmp_path / "out" / record.uri).exists()
            placed = sorted(regions["concept"][regions["id"] == image])
            assert sorted(mention.concept for mention in record.mentions) == placed
            boxes += len(placed)
    assert seen == set(found)
    assert boxes == len(regions) > 0


@pytest.mark.parametrize("name", sorted(set(EXPORTERS) - {"weights"}))
def test_the_table_of_images_is_ingested_again(name, sample, tmp_path):
    export(sample.dataset, name, tmp_path / "out")
    path = tmp_path / "out" / "manifest.parquet"
    assert detect_format(path) == "parquet"
    records = list(read_annotations(path).records())
    found = rows_of(sample)
    assert {record.id for record in records} == set(found)
    for record in records:
        assert (record.class_name, shown(record), record.split) == found[record.id]
        assert (record.width_px, record.height_px) == (16, 12)
        if name != "webdataset":
            assert (tmp_path / "out" / record.uri).exists()


@pytest.mark.filterwarnings(
    "ignore:ConjunctiveGraph is deprecated:DeprecationWarning", "ignore:The inplace keyword"
)
@pytest.mark.parametrize("name", list(EXPORTERS))
def test_croissant_validates_and_gives_records(name, sample, tmp_path, offline, caplog):
    export(sample.dataset, name, tmp_path / "out")
    mlcroissant = imported("mlcroissant")
    caplog.set_level(logging.CRITICAL, "absl")
    path = tmp_path / "out" / "croissant.json"
    dataset = mlcroissant.Dataset(jsonld=str(path))  # raises what is wrong with it
    assert dataset.metadata.ctx.issues.errors == set()
    assert dataset.metadata.name == sample.dataset.name
    listed = {entry.id for entry in dataset.metadata.file_objects}
    images = dataset.metadata.file_sets
    files = {
        file.relative_to(tmp_path / "out").as_posix()
        for file in (tmp_path / "out").rglob("*")
        if file.is_file()
    }
    said = {"croissant.json", "README.md", "SHA256SUMS", "cobalance-export.json"}
    in_sets = set()
    for entry in images:
        (pattern,) = entry.includes
        in_sets |= {p.relative_to(tmp_path / "out").as_posix() for p in path.parent.glob(pattern)}
    assert listed | in_sets | said == files
    record_set, n_images = ("weights", 10) if name == "weights" else ("manifest", 15)
    records = list(dataset.records(record_set))
    assert len(records) == n_images
    found = rows_of(sample)
    for record in records:
        image = record[f"{record_set}/image_id"].decode()
        assert record[f"{record_set}/label"].decode() == found[image][0]
        if name != "weights":
            concepts = [concept.decode() for concept in record["manifest/concepts"]]
            assert concepts == found[image][1]
    if name != "weights":
        assert len(list(dataset.records("generated"))) == 5
