"""Images are labelled by a model on a real queue; accepted labels are concepts."""

import json
import os
import subprocess
import sys
from random import Random

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.annotation.labelling.labels import label_summary, read_labels
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.base.errors import ConflictError, DataError, OptionError
from cobalance.base.records import Annotations, ImageRecord
from cobalance.graph.annotations.attributes import (
    Decision,
    ProposedAttribute,
    decide_attributes,
    save_attributes,
)
from cobalance.graph.annotations.runs import NewRun, create_run, read_run
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.write import write_annotations
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.label.decide import change_thresholds, decide_labels
from cobalance.workflows.label.order import LabelOrder, order_labels
from tests.e2e import bright
from tests.support.waiting import until
from tests.tiny.vision import save_owlv2

NAMES = ("boat", "o'sea {x}", "tree")


@pytest.fixture
def folder(own):
    return OutputFolder(own.folders().output)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(save_owlv2(tmp_path_factory.mktemp("owlv2")))


def scores_of(model, tmp_path, texts):
    """Scores of the model, image by image."""
    annotator = ANNOTATORS.open("owlv2", {"model": model})
    found = {}
    for i in range(8):
        pixels = np.asarray(Image.open(tmp_path / "pictures" / f"{i}.png").convert("RGB"))
        found[str(i)] = annotator.score([pixels], texts).matrix[0]
    return found


def test_labels_come_from_the_models_scores(store, loaded, folder, model, work, tmp_path):
    before = load_incidence(store, loaded)
    alone = scores_of(model, tmp_path, [f"a photo of {name}" for name in NAMES])
    threshold = float(np.median(list(alone.values())))
    order = LabelOrder(
        loaded,
        "owlv2",
        {"model": model},
        "object",
        concepts=NAMES,
        threshold=threshold,
        chunk_images=3,
    )
    run = order_labels(store, folder, order)
    assert read_run(store, run).state == "queued"
    with pytest.raises(ConflictError, match="once it is done"):
        decide_labels(store, folder, run, "accepted")
    work()
    found = read_run(store, run)
    assert (found.state, found.done, found.chunks) == ("done", 3, 3)
    assert found.weights_sha256
    described = json.loads(folder.read(f"{found.scores_uri}/annotator.json"))
    assert described["weights_sha256"] == found.weights_sha256
    settings = LabelSettings.read(found.settings)
    labels = read_labels(ScoreFiles(folder, run), settings)
    expected = {
        (image, name)
        for image, scores in alone.items()
        for name, score in zip(NAMES, scores, strict=True)
        if score >= threshold
    }
    assert 0 < len(expected) < 24
    assert set(zip(labels["image"], labels["concept"], strict=True)) == expected
    assert load_incidence(store, loaded).concepts == before.concepts
    decide_labels(store, folder, run, "accepted", decided_by="ann")
    counts = {
        row["name"]: row["n"]
        for row in store.read(
            "MATCH (c:Concept {dataset: $d}) RETURN c.name AS name, "
            "COUNT { (c)<-[:CONTAINS]-() } AS n",
            d=loaded,
        )
    }
    per_name = {name: sum(1 for _, each in expected if each == name) for name in NAMES}
    assert counts == {"cow": 8, "gate": 8} | {name: n for name, n in per_name.items() if n}
    summary = label_summary(ScoreFiles(folder, run), settings)
    assert summary["images"].tolist() == list(per_name.values())
    change_thresholds(store, folder, run, thresholds={"boat": 2.0})
    assert "boat" not in load_incidence(store, loaded).concepts
    decide_labels(store, folder, run, "rejected")
    after = load_incidence(store, loaded)
    assert after.concepts == before.concepts
    assert (after.indices == before.indices).all()


def test_accepted_attributes_are_labelled_by_the_base_caption(
    store, loaded, folder, model, work, tmp_path
):
    proposal = create_run(store, loaded, NewRun("propose", "m", {}))
    attributes = [
        ProposedAttribute("scene", name, "image", f"a photo of a cow with {name}") for name in NAMES
    ]
    save_attributes(store, proposal, attributes)
    with pytest.raises(DataError, match="no accepted attributes"):
        order_labels(store, folder, LabelOrder(loaded, "owlv2", base="a photo of a cow"))
    decide_attributes(store, loaded, [Decision(("scene", name), "accepted") for name in NAMES[:2]])
    with pytest.raises(OptionError, match="domain alone"):
        order_labels(store, folder, LabelOrder(loaded, "owlv2"))
    base = "a photo of a cow"
    run = order_labels(
        store, folder, LabelOrder(loaded, "owlv2", {"model": model}, base=base, chunk_images=5)
    )
    work()
    labels = read_labels(ScoreFiles(folder, run), LabelSettings.read(read_run(store, run).settings))
    texts = [one.caption for one in attributes[:2]] + [base]
    expected = set()
    for image, scores in scores_of(model, tmp_path, texts).items():
        best = int(np.argmax(scores[:2]))
        if scores[best] > scores[2]:
            expected.add((image, NAMES[best]))
    assert set(zip(labels["image"], labels["concept"], strict=True)) == expected


def test_the_bytes_do_not_depend_on_the_order_of_chunks(store, loaded, folder, model, work):
    order = LabelOrder(loaded, "owlv2", {"model": model}, "object", concepts=NAMES, chunk_images=3)
    contents = []
    for first in (0, 2):
        run = order_labels(store, folder, order)
        if first:  # as if a worker had been killed after another chunk
            part = ScoreFiles(folder, run).uri + f"/scores/part-{first:06}.parquet"
            folder.write(part, contents[0][first])
        work()
        parts = f"{ScoreFiles(folder, run).uri}/scores"
        contents.append([folder.read(f"{parts}/{name}") for name in folder.names(parts)])
    assert contents[0] == contents[1]
    assert len(contents[0]) == 3


def test_images_that_cannot_be_read_are_counted(store, loaded, folder, model, work, tmp_path):
    (tmp_path / "pictures" / "3.png").write_bytes(b"no image")
    order = LabelOrder(loaded, "owlv2", {"model": model}, "object", concepts=NAMES, threshold=0)
    run = order_labels(store, folder, order)
    work()
    files = ScoreFiles(folder, run)
    settings = LabelSettings.read(read_run(store, run).settings)
    assert label_summary(files, settings)["unreadable"].tolist() == [1, 1, 1]
    assert "3" not in set(read_labels(files, settings)["image"])


COLOURS = ("red", "green", "blue")


def picture(i):
    return np.random.default_rng(i).integers(0, 255, (8, 9, 3), dtype=np.uint8)


@pytest.fixture
def many(store, dataset, tmp_path):
    (tmp_path / "pictures").mkdir()
    for i in range(200):
        Image.fromarray(picture(i)).save(tmp_path / "pictures" / f"{i:03}.png")
    records = [ImageRecord(f"{i:03}", "ab"[i % 2], uri=f"{i:03}.png") for i in range(200)]
    write_annotations(store, dataset, Annotations.from_records(records), source="test")
    return dataset


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_kills_leave_every_score_once(store, many, folder, own, address, monkeypatch, kills):
    monkeypatch.setitem(sys.modules, "cobalance.annotation.annotators.owlv2", bright)
    order = LabelOrder(many, "owlv2", {}, "object", concepts=COLOURS, chunk_images=8)
    run = order_labels(store, folder, order)
    files = ScoreFiles(folder, run)
    uri, user, password, name = address
    environment = os.environ | {
        "NEO4J_URI": uri,
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
        "NEO4J_DATABASE": name,
        "COBALANCE_OUTPUT": own.folders().output,
        "COBALANCE_IMAGES": own.cobalance_images[0],
        "COBALANCE_QUEUE": f"sqlite:///{own.folders().output}/queue.sqlite",
    }
    for scored in [*sorted(Random().choices(range(25), k=kills)), 25]:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.labelling_worker"], env=environment
        )
        try:
            until(lambda scored=scored, worker=worker: len(files.list_scored(25)) >= scored
                  or worker.poll() is not None, 240)  # fmt: skip
            if scored == 25:
                worker.wait(240)
        finally:
            worker.kill()
            worker.wait()
    assert read_run(store, run).state == "done"
    rows = pd.concat(
        pd.DataFrame({"image": np.repeat(ids, 3), "score": scores.matrix.reshape(-1)})
        for ids, scores in files.read_scores(25, 3)
    )
    assert rows["image"].tolist() == [f"{i:03}" for i in range(200) for _ in COLOURS]
    expected = [picture(i).reshape(-1, 3).mean(axis=0) / 255 for i in range(200)]
    assert rows["score"].to_numpy() == pytest.approx(np.concatenate(expected), abs=1e-6)

    whole = ScoreFiles(folder, "uninterrupted")
    for chunk in range(25):
        of = range(8 * chunk, 8 * chunk + 8)
        scores = bright.Bright().score([picture(i) for i in of], COLOURS)
        whole.write_scores(chunk, [f"{i:03}" for i in of], scores)
    killed, uninterrupted = (
        {
            name: folder.read(f"{one.uri}/scores/{name}")
            for name in folder.names(f"{one.uri}/scores")
        }
        for one in (files, whole)
    )
    assert killed == uninterrupted
