"""The artefact test and class activation maps, on pictures whose background goes with the class."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.base.errors import DataError, OptionError
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.evaluation.metrics.artefact_shift import artefact_shift
from cobalance.graph.evaluations.reading import read_scores
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import start_queries
from cobalance.vision.images.regions import write_regions
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.artefacts import run_artefact_test
from cobalance.workflows.evaluate.maps import map_activations, object_mask
from cobalance.workflows.evaluate.order import EvaluationOrder, order_evaluations
from cobalance.workflows.evaluate.stored import read_maps

EDITS = {
    "test-cat-grass-0": "test-dog-snow-1.png",
    "test-cat-snow-3": "test-cat-grass-4.png",
    "test-dog-grass-5": "test-dog-snow-6.png",
    "test-dog-snow-2": "test-cat-snow-2.png",
}
"""Test images, and the file that stands for each one's edit."""


@pytest.fixture
def edits(store, animals):
    """A job whose edits are other test images' files."""
    queries = [
        PlannedQuery(image.split("-")[1], (), 1, Edit(image, "an animal")) for image in EDITS
    ]
    settings = {"recipe": "resampled-control", "backend": "procedural"}
    job = create_job(store, animals, "control", queries, settings=settings)
    ids = [query_id(job, at) for at in range(len(queries))]
    start_queries(store, job, 0, ids)
    made = {
        query: [NewCandidate(f"{query}/0", file, "accepted", source_image=image)]
        for query, (image, file) in zip(ids, EDITS.items(), strict=True)
    }
    record_made(store, job, made)
    return job


def test_edits_are_predicted_beside_their_originals(store, own, animals, edits):
    (one,) = order_evaluations(store, EvaluationOrder((animals,), seeds=(0,))).ids
    done = run_artefact_test(store, own.folders(), one, edits, "cat", "dog")
    of = done.predictions.set_index("image")["predicted"]
    assert set(of.index) == set(EDITS) == set(done.edited["image"])
    assert (done.edited["class_name"] == done.edited["image"].str.split("-").str[1]).all()
    # The same seed trains the same model: only the bootstrap differs.
    whole = run_artefact_test(store, own.folders(), one, edits, "cat", "dog", seed=1)
    pd.testing.assert_frame_equal(done.edited, whole.edited)
    expected = artefact_shift(
        done.predictions, done.edited, np.random.default_rng(0), "cat", "dog"
    ).drop(columns=["method", "seed"])
    found = done.scores.drop(columns=["method", "seed"])
    pd.testing.assert_frame_equal(found, expected)
    stored = read_scores(store, [one]).set_index(["metric", "group"])["value"]
    right = (done.edited["predicted"] == done.edited["class_name"]).mean()
    assert stored["artefact_accuracy", "edited"] == pytest.approx(right)


def test_edits_of_no_test_image_are_refused(store, own, animals, edits, rebalanced):
    (one,) = order_evaluations(
        store, EvaluationOrder((rebalanced,), seeds=(0,), test=rebalanced)
    ).ids
    with pytest.raises(OptionError, match="is tested on"):
        run_artefact_test(store, own.folders(), one, edits)
    job = create_job(store, animals, "none", [PlannedQuery("cat", ("snow",), 1)])
    (other,) = order_evaluations(store, EvaluationOrder((animals,), seeds=(0,))).ids
    with pytest.raises(DataError, match="no accepted image that is an edit"):
        run_artefact_test(store, own.folders(), other, job)


def test_maps_of_a_network_are_kept_with_their_energy(store, own, animals):
    pytest.importorskip("torch", reason="cobalance[train] is not installed")
    tiny = {"model": "test_resnet", "pretrained": False, "image_px": 32, "epochs": 3}
    order = EvaluationOrder(
        (animals,),
        preset="conbias",
        seeds=(0,),
        learner_options={**tiny, "device": "cpu", "learning_rate": 0.003},
    )
    (one,) = order_evaluations(store, order).ids
    outlined = [
        ImageRecord(f"test-cat-snow-{i}", "cat", (Mention("cat", box=(4, 4, 6, 8)),))
        for i in range(10)
    ]
    write_regions(own.folders().regions, animals, Annotations.from_records(outlined))
    done = map_activations(store, own.folders(), one, most=30)
    assert len(done.images) == 30
    cats = done.images["image"].str.startswith("test-cat-snow").to_numpy()
    assert done.without_regions == 30 - cats.sum()
    assert set(done.images["mask_share"][cats]) == {48 / 256}
    assert done.images["mask_share"][~cats].isna().all()
    maps = read_maps(OutputFolder(own.folders().output), one)
    inside = np.zeros((16, 16), dtype=bool)
    inside[4:12, 4:10] = True
    for row in maps[cats].to_dict("records"):
        pixels = np.asarray(Image.open(io.BytesIO(row["map"])), dtype=float)
        assert pixels.shape == (16, 16)
        if pixels.sum():
            assert row["cam_energy"] == pytest.approx(pixels[inside].sum() / pixels.sum(), abs=0.03)
    stored = read_scores(store, [one]).set_index("metric")["value"]
    assert stored["cam_energy"] == pytest.approx(done.images["cam_energy"].mean(), nan_ok=True)


def test_a_linear_model_has_no_maps(store, own, animals):
    pytest.importorskip("torch", reason="cobalance[train] is not installed")
    (one,) = order_evaluations(store, EvaluationOrder((animals,), seeds=(0,))).ids
    with pytest.raises(DataError, match="frozen features"):
        map_activations(store, own.folders(), one)


def test_regions_of_another_orientation_or_object_make_no_mask():
    row = {"concept": "cat", "x_px": 0.0, "y_px": 0.0, "w_px": 2.0, "h_px": 1.0}
    size = {"image_width_px": 4.0, "image_height_px": 2.0, "segmentation": None}
    regions = pd.DataFrame([{**row, **size}])
    doubled = object_mask(regions, "cat", (4, 8))
    assert doubled is not None
    assert doubled.astype(int).tolist() == [[1] * 4 + [0] * 4] * 2 + [[0] * 8] * 2
    assert object_mask(regions, "cat", (8, 4)) is None
    two = pd.concat([regions, regions.assign(concept="sofa")])
    assert object_mask(two, "dog", (2, 4)) is None
    assert object_mask(two, "dog", (2, 4), ["sofa"]) is not None
    broken = regions.assign(segmentation="[[]]", x_px=np.nan)
    assert object_mask(broken, "cat", (2, 4)) is None
