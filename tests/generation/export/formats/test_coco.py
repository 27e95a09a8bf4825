"""COCO exports in pycocotools: places of every kind, crowds, and objects apart from concepts."""

import contextlib
import io
import json
from dataclasses import replace
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.export import ExportDataset, ExportOptions, export
from cobalance.generation.output.manifest import manifest_frame
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.vision.images.masks import mask
from cobalance.vision.images.regions import read_regions, write_regions
from tests.generation.export.conftest import (
    OTHER,
    TRAIN,
    Sample,
    Stores,
    generated_row,
    imported,
    picture,
    real_frame,
    rows_of,
)

# pycocotools is compiled for an older NumPy than ours.
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"
)

SIZE = (64, 48)
TRIANGLE = "[[0,0,40,0,0,40]]"
CROWD = '{"size":[48,64],"counts":[100,5,43,5,2919]}'


def exported(folder, mentions, size=SIZE, class_name="cat", **options):
    """Export an image of class cat with these mentions, and give its instances as pycocotools."""
    record = ImageRecord("7", class_name, tuple(mentions), "train", "7.png", *size)
    annotations = Annotations.from_records([record])
    write_regions(folder / "regions", "pets", annotations)
    stores = Stores({"7.png": picture(7, size=SIZE)})
    dataset = ExportDataset(
        "pets",
        real_frame(annotations),
        manifest_frame([]),
        stores.read_real,
        stores.read_generated,
        lambda ids: read_regions(folder / "regions", "pets", ids),
    )
    export(dataset, "coco", folder / "out", ExportOptions(**options))
    return opened(folder / "out" / "annotations" / "instances_train.json")


def opened(path):
    with contextlib.redirect_stdout(io.StringIO()):
        return imported("pycocotools.coco").COCO(str(path))


@pytest.mark.parametrize(
    ("size", "reference"), [(SIZE, False), ((None, None), False), ((None, None), True)]
)
@pytest.mark.parametrize("outline", [TRIANGLE, CROWD, "[[1,1,7,1,7,6,1,6],[20,20,30,20,30,30]]"])
@pytest.mark.parametrize("box", [None, (0.0, 0.0, 60.0, 44.0)])
def test_the_area_is_that_of_the_outline(outline, box, size, reference, tmp_path):
    coco = exported(
        tmp_path, [Mention("sofa", box=box, segmentation=outline)], size, reference=reference
    )
    (annotation,) = coco.anns.values()
    coco.imgs[7] |= {"height": SIZE[1], "width": SIZE[0]}
    area = imported("pycocotools.mask").area(coco.annToRLE(annotation))
    assert annotation["area"] == area
    if outline == TRIANGLE:
        assert area == 780
    if box is not None:
        assert annotation["bbox"] == list(box)


def test_an_area_that_is_known_stays(tmp_path):
    coco = exported(tmp_path, [Mention("sofa", area_px2=12.5, segmentation=TRIANGLE)])
    assert [annotation["area"] for annotation in coco.anns.values()] == [12.5]


PLACES = [
    Mention("sofa", box=(5.0, 6.0, 20.0, 10.0)),
    Mention("sofa", box=(30.0, 6.0, 20.0, 30.0), segmentation="[[30,6,50,6,50,36,30,36]]"),
    Mention("grass", segmentation=TRIANGLE),
    Mention("grass", segmentation=CROWD, crowd=True),
]
BROKEN = [
    Mention("sofa", box=(1.0, 2.0, 0.0, 5.0)),
    Mention("sofa", box=(1.0, 2.0, 3.0, 4.0), segmentation="[[1,2,3,4]]"),
    Mention("sofa", box=(1.0, 2.0, 3.0, 4.0), segmentation="[[1,2,3]]"),
    Mention("sofa", box=(1.0, 2.0, 3.0, 4.0), segmentation='{"size":[48,64],"counts":[1,2]}'),
    Mention("sofa", segmentation="[[1,2],[10,10,20,10,20,20]]"),
    Mention("sofa", segmentation="[[],[10,10,20,10,20,20]]"),
]


@pytest.mark.parametrize("mentions", [PLACES, *[[broken] for broken in BROKEN]])
def test_every_annotation_gives_a_mask(mentions, tmp_path):
    coco = exported(tmp_path, mentions)
    assert len(coco.anns) == len(mentions)
    for annotation, mention in zip(coco.anns.values(), mentions, strict=True):
        pixels = coco.annToMask(annotation)
        assert pixels.shape == (SIZE[1], SIZE[0])
        if mention.box is not None:
            x, y, width, height = map(round, mention.box)
            expected = np.zeros_like(pixels)
            expected[y : y + height, x : x + width] = 1
            assert (pixels == expected).all()
            assert annotation["area"] == width * height


@pytest.mark.parametrize("kind", ["bbox", "segm"])
def test_a_detector_that_finds_all_of_it_is_perfect(kind, tmp_path):
    coco = exported(tmp_path, PLACES)
    found = [
        {
            "image_id": annotation["image_id"],
            "category_id": annotation["category_id"],
            "bbox": annotation["bbox"],
            "segmentation": coco.annToRLE(annotation),
            "score": 0.9,
        }
        for annotation in coco.anns.values()
    ]
    if kind == "bbox":
        found = [{name: one[name] for name in one if name != "segmentation"} for one in found]
    with contextlib.redirect_stdout(io.StringIO()):
        results = coco.loadRes(found)
        judge = imported("pycocotools.cocoeval").COCOeval(coco, results, kind)
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    assert judge.stats[0] == pytest.approx(1.0)


def test_crowds_are_said_to_be_crowds(tmp_path):
    coco = exported(tmp_path, PLACES)
    assert [annotation["iscrowd"] for annotation in coco.anns.values()] == [0, 0, 0, 1]
    (crowd,) = coco.loadAnns(coco.getAnnIds(iscrowd=True))
    assert crowd["segmentation"] == json.loads(CROWD)
    assert crowd["area"] == 10
    table = pd.read_parquet(tmp_path / "out" / "manifest.parquet")
    assert [region["crowd"] for region in table["regions"][0]] == [False, False, False, True]


def pets(folder):
    """Six real images, in three of which the cat or dog is outlined, and two generated ones."""
    sofa, grass = (Mention(name, box=(1.0, 2.0, 30.0, 20.0)) for name in ("sofa", "grass"))
    cat = Mention("cat", segmentation=TRIANGLE)
    shown = [(sofa,), (sofa, grass), (), (grass, sofa), (grass, sofa), (sofa,)]
    records = [
        ImageRecord(
            str(at + 1),
            "cat" if at < 4 else "dog",
            mentions,
            "train" if at % 2 else "val",
            f"{at}.png",
            *SIZE,
        )
        for at, mentions in enumerate(shown)
    ]
    annotations = Annotations.from_records(records)
    # As ingest keeps what gives an image its class: among the regions alone.
    objects = Annotations.from_records(
        [
            replace(record, mentions=(replace(cat, concept=record.class_name),) if at < 3 else ())
            for at, record in enumerate(records)
        ]
    )
    own = objects.mentions.drop(columns=["concept", "source"])
    write_regions(folder / "regions", "pets", replace(annotations, objects=own))
    stores = Stores({f"{at}.png": picture(at, size=SIZE) for at in range(len(records))})
    rows = [
        generated_row(index, stores, **{"class": "cat", "concepts": ["grass"]})
        | {"source_image": "1"}
        for index in range(2)
    ]
    dataset = ExportDataset(
        "pets",
        real_frame(annotations),
        manifest_frame(rows),
        stores.read_real,
        stores.read_generated,
        lambda ids: read_regions(folder / "regions", "pets", ids),
    )
    return Sample(dataset, stores)


def names_in(coco):
    """The categories of the annotations of each image, by the image's own id."""
    return {
        image["cobalance"]["id"]: sorted(
            coco.cats[annotation["category_id"]]["name"] for annotation in coco.imgToAnns[number]
        )
        for number, image in coco.imgs.items()
    }


@pytest.mark.parametrize("reference", [False, True])
def test_objects_of_real_images_are_with_those_of_generated_ones(reference, tmp_path):
    sample = pets(tmp_path)
    report = export(sample.dataset, "coco", tmp_path / "out", ExportOptions(reference=reference))
    annotations = tmp_path / "out" / "annotations"
    found, objects = {}, {}
    for split in ("train", "val"):
        coco = opened(annotations / f"instances_{split}.json")
        assert {category["name"] for category in coco.cats.values()} == {"sofa", "grass"}
        found |= names_in(coco)
        coco = opened(annotations / f"objects_{split}.json")
        assert {category["name"] for category in coco.cats.values()} == {"cat"}
        objects |= names_in(coco)
        for annotation in coco.anns.values():
            assert coco.annToMask(annotation).any()
    real = dict(zip(sample.dataset.real["id"], sample.dataset.real["concepts"], strict=True))
    made = sample.dataset.generated["candidate"].tolist()
    assert found == real | {image: [] for image in made}
    assert objects == {image: ["cat"] for image in ("1", "2", "3", *made)}
    assert report.counts["real images with objects"] == 3
    assert report.counts["generated images with objects"] == 2
    card = (tmp_path / "out" / "README.md").read_text()
    assert "- 3 real images with objects" in card
    assert "- 2 generated images with objects" in card
    assert "have no such" not in card


def test_the_card_says_when_no_real_image_has_objects(sample, tmp_path):
    export(sample.dataset, "coco", tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "- 0 real images with objects" in card
    assert "- 5 generated images with objects" in card


def test_ingested_again_concepts_are_the_same(tmp_path):
    sample = pets(tmp_path)
    export(sample.dataset, "coco", tmp_path / "out")
    classes = tmp_path / "out" / "classes.csv"
    found = {}
    for split in ("train", "val"):
        path = tmp_path / "out" / "annotations" / f"instances_{split}.json"
        read = read_annotations(path, ReadOptions(class_file=classes, split=split))
        for record in read.records():
            shown = sorted({mention.concept for mention in record.mentions})
            found[record.id] = (record.class_name, shown, record.split)
    columns = ("class", "concepts", "split")
    frame = sample.dataset.real
    assert {image: found[image] for image in frame["id"]} == {
        row["id"]: tuple(row[name] for name in columns) for row in frame.to_dict("records")
    }


@pytest.mark.parametrize("name", ["folder", "imagefolder", "webdataset"])
def test_no_format_takes_an_object_for_a_concept(name, tmp_path):
    export(pets(tmp_path).dataset, name, tmp_path / "out")
    table = pd.read_parquet(tmp_path / "out" / "manifest.parquet").set_index("image_id")
    for image, row in table.iterrows():
        assert {region["concept"] for region in row["regions"]} <= set(row["concepts"]), image
        assert {region["concept"] for region in row["objects"]} <= {row["label"]}, image
    made = table.index[table["synthetic"]]
    assert set(table.index[table["objects"].map(len) == 1]) == {"1", "2", "3", *made}
    assert table["objects"].map(len).sum() == 5
    if name == "imagefolder":
        rows = pd.read_parquet(tmp_path / "out" / "train" / "metadata.parquet")
        for row in rows.itertuples():
            assert set(row.objects["categories"]) <= set(row.concepts)


def test_a_region_of_what_its_image_does_not_show_is_left_out(tmp_path):
    sample = pets(tmp_path)
    concepts = [
        [name for name in names if name != "grass"] for names in sample.dataset.real["concepts"]
    ]
    dataset = replace(sample.dataset, real=sample.dataset.real.assign(concepts=concepts))
    report = export(dataset, "coco", tmp_path / "out")
    assert report.counts["regions of concepts that their image lacks"] == 3
    coco = opened(tmp_path / "out" / "annotations" / "instances_train.json")
    assert "grass" not in {name for names in names_in(coco).values() for name in names}


def load_coco(path, capsys):
    coco = imported("pycocotools.coco").COCO(str(path))
    capsys.readouterr()
    return coco


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
    classes = tmp_path / "out" / "classes.csv"
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
        for record in read_annotations(
            path, ReadOptions(class_file=classes, split=split)
        ).records():
            image = about[record.id]
            seen.add(image)
            assert (record.class_name, record.split) == (found[image][0], found[image][2])
            assert (tmp_path / "out" / record.uri).exists()
            placed = sorted(regions["concept"][regions["id"] == image])
            assert sorted(mention.concept for mention in record.mentions) == placed
            boxes += len(placed)
    assert seen == set(found)
    assert boxes == len(regions) > 0
