"""A detector's precision, compared with COCOeval called directly on the same files."""

import contextlib
import io
import json

import numpy as np
import pandas as pd
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import cobalance as cb
from cobalance.base.errors import InputError, OptionError
from cobalance.evaluation.metrics import METRICS, detections
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.workflows.evaluate.tables import read_tables

# pycocotools is compiled for an older NumPy than ours.
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"
)
CATEGORIES = ["car", "boat", "person", "dog", "never there"]


def random_files(folder, seed=0, n_images=90):
    """COCO files of random boxes with crowds, images without objects, others without results.

    Cars are found worse beside a boat. Scores have one digit, so that many are equal.
    """
    rng = np.random.default_rng(seed)
    objects, found = [], []
    for image in range(1, n_images + 1):
        for category in np.flatnonzero(rng.random(4) < [0.7, 0.4, 0.4, 0.1]) + 1:
            for _ in range(rng.integers(1, 4)):
                box = [*rng.integers(0, 60, 2), *rng.integers(5, 60, 2)]
                objects.append((image, category, box, int(rng.random() < 0.1)))
    boats = {image for image, category, *_ in objects if category == 2}
    for image, category, box, _ in objects:
        for _ in range(rng.integers(0, 3) if image % 7 else 0):
            noise = rng.normal(0, 9 if category == 1 and image in boats else 2, 4)
            moved = np.maximum(np.array(box) + noise, 1).round(1)
            found.append((image, category if rng.random() < 0.9 else 5, moved, rng.random()))
    instances = {
        "images": [
            {"id": one, "file_name": f"{one}.jpg", "width": 128, "height": 128}
            for one in range(1, n_images + 1)
        ],
        "categories": [{"id": at, "name": name} for at, name in enumerate(CATEGORIES, start=1)],
        "annotations": [
            {
                "id": at,
                "image_id": image,
                "category_id": int(category),
                "bbox": [float(side) for side in box],
                "area": float(box[2] * box[3]),
                "iscrowd": crowd,
            }
            for at, (image, category, box, crowd) in enumerate(objects, start=1)
        ],
    }
    results = [
        {
            "image_id": image,
            "category_id": int(category),
            "bbox": box.tolist(),
            "score": round(float(score), 1),
        }
        for image, category, box, score in found
    ]
    paths = folder / "instances.json", folder / "results.json"
    for path, content in zip(paths, (instances, results), strict=True):
        path.write_text(json.dumps(content))
    return paths


def coco_precision(paths, images=None, category=None):
    """What COCOeval says of a category, of all by default, in some images alone."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(paths[0]))
        judge = COCOeval(truth, truth.loadRes(str(paths[1])), "bbox")
        judge.params.imgIds = judge.params.imgIds if images is None else sorted(images)
        if category is not None:
            judge.params.catIds = [CATEGORIES.index(category) + 1]
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    return judge.stats[0]


def images_with(paths, *names):
    """Numbers of the images that show all of some categories."""
    shown = json.loads(paths[0].read_text())["annotations"]
    sets = [
        {one["image_id"] for one in shown if one["category_id"] == CATEGORIES.index(name) + 1}
        for name in names
    ]
    return set.intersection(*sets)


def scored(paths):
    return cb.evaluate(paths[1], objects=paths[0]).frame.set_index(["metric", "group"])


@pytest.mark.parametrize("seed", range(2))
def test_the_numbers_are_those_of_cocoeval(tmp_path, seed, monkeypatch):
    for name, value in {"SHOWN": 1000, "LEAST_IMAGES": 5, "DRAWS": 2}.items():
        monkeypatch.setattr(detections, name, value)
    paths = random_files(tmp_path, seed)
    frame = scored(paths)
    precision = frame.loc["detection_precision"]
    assert precision.loc["", "value"] == pytest.approx(coco_precision(paths), abs=1e-12)
    assert set(precision.index) == {"", *CATEGORIES}
    assert np.isnan(precision.loc["never there", "value"])
    for name in CATEGORIES[:4]:
        assert precision.loc[name, "value"] == pytest.approx(
            coco_precision(paths, category=name), abs=1e-12
        )
        assert precision.loc[name, "n"] == len(images_with(paths, name))
    beside = frame.loc["clique_precision"]
    assert {"car with boat", "car without boat", "car with boat + person"} <= set(beside.index)
    for group, row in beside.iterrows():
        name, word, others = group.split(" ", 2)
        inside = images_with(paths, name, *others.split(" + "))
        images = inside if word == "with" else images_with(paths, name) - inside
        assert row["n"] == len(images) >= 5
        assert row["value"] == pytest.approx(coco_precision(paths, images, name), abs=1e-12)


def test_a_car_beside_a_boat_is_found_worse(tmp_path, monkeypatch):
    monkeypatch.setattr(detections, "SHOWN", 1)
    frame = scored(random_files(tmp_path, n_images=150))
    both = frame.loc["clique_precision", "value"]
    gap = frame.loc[("clique_precision_gap", "car with boat")]
    assert gap["value"] == both["car with boat"] - both["car without boat"]
    assert gap["low"] < gap["value"] < gap["high"] < 0
    assert set(frame.loc["clique_precision"].index) == {"car with boat", "car without boat"}


def test_intervals_are_those_of_images_drawn_again(tmp_path):
    paths = random_files(tmp_path, n_images=40)
    row = scored(paths).loc[("detection_precision", "person")]
    truth, results = (json.loads(path.read_text()) for path in paths)
    rng, values = np.random.default_rng(1), []
    for _ in range(60):
        drawn = rng.integers(1, 41, 40)
        again = {name: [] for name in ("images", "annotations")} | {
            "categories": truth["categories"]
        }
        found = []
        for new, old in enumerate(drawn.tolist(), start=1):
            again["images"].append({"id": new})
            for one in truth["annotations"]:
                if one["image_id"] == old:
                    at = len(again["annotations"]) + 1
                    again["annotations"].append(one | {"image_id": new, "id": at})
            found += [one | {"image_id": new} for one in results if one["image_id"] == old]
        files = tmp_path / "again.json", tmp_path / "found.json"
        for path, content in zip(files, (again, found), strict=True):
            path.write_text(json.dumps(content))
        values.append(coco_precision(files, category="person"))
    assert row["high"] - row["low"] == pytest.approx(4 * np.std(values), rel=0.35)


def test_copies_of_images_in_clusters_narrow_no_interval(tmp_path):
    """Three copies of each image, in one cluster, are drawn as the one image was."""
    paths = random_files(tmp_path, n_images=30)
    inputs = read_tables({"predictions": paths[1], "objects": paths[0]})
    noise = np.random.default_rng(0).random(len(inputs.need("detections")))
    once = inputs.need("detections").assign(score=noise), inputs.need("objects")
    thrice = [
        pd.concat(
            frame.assign(image=(100 + 3 * number + copy).astype(str), cluster=number.astype(str))
            for copy in range(3)
        )
        for frame in once
        for number in [frame["image"].astype(int)]
    ]
    alone = thrice[0], thrice[1].drop(columns="cluster")
    rows = []
    for found, there in (once, thrice, alone):
        scores = METRICS.open("detection_precision")(Inputs(detections=found, objects=there))
        rows.append(scores[scores["metric"] == "detection_precision"])
    numbers = ["value", "low", "high"]
    np.testing.assert_allclose(rows[0][numbers], rows[1][numbers], atol=1e-12)
    widths = [(row["high"] - row["low"]).iloc[0] for row in rows]
    assert widths[2] < 0.75 * widths[1]


def refused(tmp_path, results, **changes):
    paths = random_files(tmp_path, n_images=5)
    text = results if isinstance(results, str) else json.dumps(results)
    paths[1].write_text(text)
    paths[0].write_text(json.dumps(json.loads(paths[0].read_text()) | changes))
    with pytest.raises(InputError) as error:
        cb.evaluate(paths[1], objects=paths[0])
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(tmp_path), "")


GOOD = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"annotations": [GOOD]}, "/results.json: Expected array, got object. Give a list of"),
        ([GOOD, GOOD | {"image_id": 77}], "row 2: image_id is '77', which is not in /instances"),
        ([GOOD | {"category_id": 91}], "row 1: category_id is '91', which is not in /instances"),
        ([GOOD, GOOD | {"bbox": [1, 2, 3]}], "/results.json, $[1].bbox: Expected array of length"),
        ([GOOD | {"bbox": [1, 2, 3, -4]}], "$[0].bbox[3]: Expected float >= 0.0. Give"),
        ([GOOD | {"bbox": "1 2 3 4"}], "$[0].bbox: Expected array, got str"),
        ([GOOD | {"score": None}], "$[0].score: Expected float, got null"),
        ([{"image_id": 1}], "$[0]: Object missing required field category_id"),
        ([{"image_id": 1, "category_id": 1, "score": 1}], "missing required field bbox"),
        ([{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}], "missing required field score"),
        ('[{"image_id": 1,', "/results.json: Input data was truncated"),
        ("[" * 100_000, "/results.json, $[0]: Expected object, got array"),
    ],
)
def test_bad_results_are_refused_with_their_place(tmp_path, results, said):
    assert said in refused(tmp_path, results)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"annotations": [{"image_id": 1, "category_id": 1}]}, "missing required field bbox"),
        ({"annotations": [GOOD | {"category_id": 9}]}, "row 1: category_id is '9', which is not"),
        ({"images": "none"}, "/instances.json, $.images: Expected array, got str. Give images"),
    ],
)
def test_bad_objects_are_refused(tmp_path, change, said):
    assert said in refused(tmp_path, [GOOD], **change)


def test_results_need_their_objects(tmp_path):
    paths = random_files(tmp_path, n_images=5)
    with pytest.raises(OptionError, match="need the objects to find: objects=FILE"):
        cb.evaluate(paths[1])


def test_nothing_to_find_or_nothing_found(tmp_path):
    paths = random_files(tmp_path, n_images=5)
    paths[1].write_text("[]")
    assert scored(paths).loc[("detection_precision", ""), "value"] == 0
    objects = json.loads(paths[0].read_text()) | {"annotations": []}
    paths[0].write_text(json.dumps(objects))
    paths[1].write_text(json.dumps([GOOD]))
    frame = scored(paths)
    assert frame["value"].isna().all()
    assert frame["n"].tolist() == [5, 0]
