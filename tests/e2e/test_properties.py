"""Image files are measured by workers that may be killed; properties are concepts."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.base.errors import CobalanceError, DataError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.worker.worker import Worker
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.tasks.lifecycle import list_tasks, read_task, retry_task
from cobalance.vision.images.properties import image_properties
from cobalance.workflows import properties
from cobalance.workflows.load.dataset import drop_dataset, load_dataset
from cobalance.workflows.properties import order_properties, read_properties, show_properties
from cobalance.workflows.work.run import worker_resources
from tests.browser.server import environment_of
from tests.support.waiting import until


@pytest.fixture
def records():
    return [
        ImageRecord(f"{i}", ("country", "urban")[i % 2], (Mention("cow"),), uri=f"{i}.png")
        for i in range(8)
    ]


def test_measuring_here_goes_on_where_it_was_cancelled(store, loaded, own, monkeypatch):
    monkeypatch.setattr(properties, "_PART", 5)
    folders, cancelled = own.folders(), CobalanceError("cancelled")

    def cancel(_stage, done, _total):
        if done == 6:
            raise cancelled

    with pytest.raises(CobalanceError, match="cancelled"):
        properties.measure_properties(store, folders, loaded, cancel)
    with pytest.raises(DataError, match="have not been measured"):
        read_properties(store, folders, loaded)
    measured = []
    properties.measure_properties(
        store, folders, loaded, lambda _stage, done, total: measured.append((done, total))
    )
    assert measured == [(5, 8), (6, 8), (7, 8)]
    assert len(read_properties(store, folders, loaded)) == 8
    assert not list_tasks(store, loaded)


def test_what_is_measured_becomes_concepts(store, loaded, own, work, records, tmp_path):
    folders, pictures = own.folders(), tmp_path / "pictures"
    with pytest.raises(DataError, match="have not been measured"):
        read_properties(store, folders, loaded)
    (pictures / "3.png").write_bytes(b"no picture")
    grey = Image.fromarray(np.full((20, 30, 3), 60, dtype=np.uint8))
    grey.save(pictures / "4.png")
    task = order_properties(store, loaded)
    pictures.rename(tmp_path / "elsewhere")
    work()
    failed = read_task(store, task)
    assert (failed.state, failed.error[:27]) == ("failed", "8 images could not be read,")
    (tmp_path / "elsewhere").rename(pictures)
    assert retry_task(store, task)
    work()
    ended = read_task(store, task)
    assert ended.state == "done"
    assert "1 image could not be read, such as 3: " in ended.note
    found = read_properties(store, folders, loaded).set_index("id")
    assert found.index.tolist() == [f"{i}" for i in range(8) if i != 3]
    expected = pd.DataFrame(
        {i: image_properties((pictures / f"{i}.png").read_bytes()) for i in found.index}
    ).T
    for name in properties.PROPERTIES:
        assert found[name].dropna().tolist() == expected[name].dropna().tolist()
    assert not folders.open_output().names(f"properties/{task}")

    before = load_incidence(store, loaded)
    with pytest.raises(UnknownNameError, match="near-constant"):
        show_properties(store, folders, loaded, ["light"])
    show_properties(store, folders, loaded, ["pixels", "grayscale"])
    shown = ["image: grayscale", "image: pixels 1900 and above", "image: pixels below 1900"]
    incidence = load_incidence(store, loaded)
    assert list(incidence.concepts) == ["cow", "gate", *shown]
    assert incidence.matrix().sum(axis=0).tolist() == [[8, 8, 1, 6, 1]]

    # Another file of the same images knows none of them.
    load_dataset(store, folders, loaded, Annotations.from_records(records), source="test")
    assert list(load_incidence(store, loaded).concepts) == ["cow", *shown]
    show_properties(store, folders, loaded, [])
    assert list(load_incidence(store, loaded).concepts) == ["cow"] != list(before.concepts)
    drop_dataset(store, folders, loaded)
    assert not properties.property_files(folders.properties).path(loaded).exists()


def test_a_killed_worker_has_its_images_measured_once(store, dataset, own, options, tmp_path):
    (tmp_path / "pictures").mkdir()
    Image.effect_noise((200, 150), 50).save(tmp_path / "pictures" / "0.png")
    records = [ImageRecord(f"{i:04}", "ab"[i % 2], uri="0.png") for i in range(1_400)]
    annotations = Annotations.from_records(records)
    load_dataset(store, own.folders(), dataset, annotations, source="test")
    task = order_properties(store, dataset)
    environment = environment_of(own) | {
        "COBALANCE_QUEUE": options.queue_url,
        "COBALANCE_OUTPUT": str(tmp_path / "generated"),
        "COBALANCE_IMAGES": str(tmp_path / "pictures"),
    }
    parts = tmp_path / "generated" / "properties" / task

    def written():
        return {part: part.stat().st_mtime_ns for part in parts.glob("*.parquet")}

    command = [sys.executable, "-m", "tests.e2e.labelling_worker"]
    worker = subprocess.Popen(command, env=environment)
    try:
        until(lambda: len(written()) >= 2 or worker.poll() is not None, 120)
    finally:
        worker.kill()
        worker.wait()
    assert read_task(store, task).state == "running"
    before = written()
    Worker(worker_resources(own), replace(options, dead_after_s=3)).run()
    assert read_task(store, task).state == "done"
    assert written().items() >= before.items()
    assert len(written()) == 6 > len(before)
    assert len(read_properties(store, own.folders(), dataset)) == 1_400
