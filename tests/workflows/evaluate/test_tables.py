"""A detector's objects with what else a dataset's images show."""

import json

import pytest

from cobalance.base.errors import InputError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.evaluation.metrics.detections import LEAST_IMAGES
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.evaluate.score import score_tables
from cobalance.workflows.evaluate.tables import read_tables, with_dataset


def test_a_dataset_says_what_stands_beside_and_which_images_belong_together(
    store, dataset, tmp_path
):
    """Cars are missed in rain; rain is in the dataset alone, and the class is night or day."""
    n = 4 * LEAST_IMAGES
    box = {"category_id": 7, "bbox": [10, 10, 20, 20]}
    images = [{"id": at} for at in range(n)]
    annotations = [box | {"image_id": at} for at in range(n)]
    content = {
        "images": images,
        "categories": [{"id": 7, "name": "car"}],
        "annotations": annotations,
    }
    (tmp_path / "instances.json").write_text(json.dumps(content))
    found = [box | {"image_id": at, "score": 1 - at / n} for at in range(n) if at % 8]
    (tmp_path / "results.json").write_text(json.dumps(found))
    files = {
        "predictions": tmp_path / "results.json",
        "objects": tmp_path / "instances.json",
    }
    inputs = read_tables(files)
    other = Annotations.from_records([ImageRecord("other", "day", ())])
    write_annotations(store, dataset, other, source="a test")
    with pytest.raises(InputError, match="objects: names 80 images missing from"):
        with_dataset(store, dataset, None, inputs)
    records = [
        ImageRecord(
            str(at),
            "night" if at % 2 else "day",
            (Mention("rain"),) if at % 4 == 0 else (),
            cluster=f"video {at // 5}",
        )
        for at in range(n)
    ]
    write_annotations(
        store, dataset, Annotations.from_records(records), source="a test", if_exists="replace"
    )
    found, shortcuts = with_dataset(store, dataset, None, inputs)
    assert shortcuts is None
    assert found.need("objects")["cluster"].nunique() == n / 5
    frame = score_tables(found).frame.set_index(["metric", "group"])["value"]
    rain = frame["clique_precision"]
    assert rain["car without rain"] == pytest.approx(1)
    assert rain["car with rain"] == pytest.approx(51 / 101)
    assert rain["car without night"] == frame["clique_precision", "car with day"]
