"""Small jobs on a real store, with a backend that fails as the test asks."""

import sys
from weakref import WeakSet

import numpy as np
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.work.run import worker_resources
from tests.e2e import failing


@pytest.fixture
def loaded(store, dataset, tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    records = []
    for i in range(8):
        pixels = np.random.default_rng(i).integers(0, 255, (40, 48, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(pictures / f"{i}.png")
        mentions = (Mention("cow"), Mention("gate"))
        name = ("country", "urban")[i % 2]
        records.append(ImageRecord(f"{i}", name, mentions, uri=f"{i}.png"))
    write_annotations(store, dataset, Annotations.from_records(records), source="test")
    return dataset


@pytest.fixture
def own(settings, tmp_path):
    """Settings with folders of this test's own."""
    return settings.model_copy(
        update={
            "cobalance_output": str(tmp_path / "generated"),
            "cobalance_queue": None,
            "cobalance_images": (str(tmp_path / "pictures"),),
        }
    )


@pytest.fixture
def options(tmp_path):
    return WorkerOptions(f"sqlite:///{tmp_path}/queue.sqlite", poll_s=0.05, until_idle=True)


@pytest.fixture
def work(own, options):
    """Work until no job is left to run."""
    return lambda: Worker(worker_resources(own), options).run()


@pytest.fixture
def fails(monkeypatch):
    """The backend that fails as asked, in place of the procedural one."""
    monkeypatch.setitem(sys.modules, "cobalance.generation.backends.procedural", failing)
    monkeypatch.setattr(failing, "POISON", set())
    monkeypatch.setattr(failing, "CAPACITY", [1_000])
    monkeypatch.setattr(failing, "SEEN", [])
    monkeypatch.setattr(failing, "OPEN", WeakSet())
    monkeypatch.setattr(failing, "BEFORE", [])
    return failing
