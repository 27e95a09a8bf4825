"""Models, masks, devices and images that fail: a clear state, and the rest of the job goes on."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import OutOfMemoryError
from cobalance.generation.image_request import GeneratedImage
from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.worker.worker import Worker
from cobalance.graph.jobs.lifecycle import cancel_job, create_job, retry_job
from cobalance.graph.jobs.status import read_job
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.work.run import worker_resources
from tests.e2e import failing
from tests.e2e.small_jobs import PLAIN, QUERIES, assert_complete, candidates, draw_masks
from tests.support.waiting import until
from tests.tiny.diffusion import inpainting


def test_a_model_that_is_missing_and_then_there(store, loaded, own, work, tmp_path):
    making = {"model": str(tmp_path / "model"), "offline": True, "steps": 1}
    wanted = {
        "backend": "inpaint",
        "making": making,
        "filters": {},
        "masks": {"masks": "files", "mask_folder": str(tmp_path / "masks")},
    }
    job = create_job(store, loaded, "plan", QUERIES, settings=wanted)
    work()
    found = read_job(store, job)
    assert found.state == "failed"
    assert str(tmp_path / "model") in found.error
    inpainting().save_pretrained(tmp_path / "model")
    mask = np.zeros((40, 48), dtype=np.uint8)
    mask[10:30, 10:30] = 255
    (tmp_path / "masks").mkdir()
    for i in range(8):
        Image.fromarray(mask).save(tmp_path / "masks" / f"{i}.png")
    retry_job(store, job)
    work()
    assert_complete(store, own, job)
    for row in read_records(OutputFolder(own.folders().output), job):
        made = np.asarray(Image.open(tmp_path / "generated" / row["path"]))
        source = np.asarray(Image.open(tmp_path / "pictures" / row["source_uri"]))
        np.testing.assert_array_equal(made[mask > 0], source[mask > 0])


def test_masks_of_the_wrong_size(store, loaded, work, tmp_path):
    (tmp_path / "masks").mkdir()
    for i in range(8):
        Image.new("L", (9, 9)).save(tmp_path / "masks" / f"{i}.png")
    inpainting().save_pretrained(tmp_path / "model")
    wanted = {
        "backend": "inpaint",
        "making": {"model": str(tmp_path / "model"), "offline": True, "steps": 1},
        "masks": {"masks": "files", "mask_folder": str(tmp_path / "masks")},
        "candidates_per_image": 1,
        "filters": {},
    }
    job = create_job(store, loaded, "plan", QUERIES[:1], settings=wanted)
    work()
    found = read_job(store, job)
    assert (found.state, found.accepted, found.rejected) == ("failed", 0, 0)
    assert "size" in found.error


def test_a_device_with_too_little_memory_gets_smaller_batches(store, loaded, own, work, fails):
    fails.CAPACITY[0] = 2
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"chunk_size": 8})
    work()
    assert_complete(store, own, job)
    assert max(fails.SEEN) == 8
    chunks = {row["chunk"]: len(row["chunk_items"]) for row in read_records(
        OutputFolder(own.folders().output), job)}  # fmt: skip
    assert set(chunks.values()) <= {1, 2}


def test_a_device_that_has_no_memory_left_for_a_single_image(store, loaded, own, work, fails):
    fails.CAPACITY[0] = 0
    queries = [("country", ("cow", "gate"), 5), ("urban", ("cow",), 7)]
    job = create_job(store, loaded, "plan", queries, settings=PLAIN)
    work()
    found = read_job(store, job)
    assert (found.state, found.queries["failed"]) == ("failed", 2)
    assert "for the same reason: The device is out of memory. Put that right" in found.error
    assert found.rejected <= 2 * 3
    fails.CAPACITY[0] = 1_000
    assert retry_job(store, job) == 2
    work()
    assert_complete(store, own, job)


def test_a_query_that_cannot_be_made_spares_the_others(
    store, loaded, own, work, fails, monkeypatch
):
    """However often it is tried again, and although another query needs a second round."""
    made = fails.FailingBackend.generate

    def make(self, requests):
        if any(request.concepts == ("cow", "gate") for request in requests):
            raise ValueError("no way to draw it")
        images = made(self, requests)
        blank = np.zeros((16, 16, 3), dtype=np.uint8)
        return [
            GeneratedImage(blank) if request.id.endswith("000001/000000") else image
            for request, image in zip(requests, images, strict=True)
        ]

    monkeypatch.setattr(fails.FailingBackend, "generate", make)
    job = create_job(store, loaded, "plan", [(*QUERIES[0][:2], 20), *QUERIES[1:]], settings=PLAIN)
    work()
    found = read_job(store, job)
    assert (found.state, found.accepted) == ("failed", 4 + 3)
    assert found.queries == {"queued": 0, "running": 0, "done": 2, "failed": 1}
    assert "for the same reason: no way to draw it. Put that right" in found.error
    assert retry_job(store, job) == 1
    work()
    assert read_job(store, job).queries == found.queries


def test_a_device_without_memory_for_the_model(store, loaded, own, work, fails, monkeypatch):
    def full(_settings):
        raise OutOfMemoryError("The device has too little memory for the model.")

    with monkeypatch.context() as patch:
        patch.setattr(failing, "open_backend", full)
        job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
        work()
    found = read_job(store, job)
    assert (found.state, found.rejected) == ("failed", 0)
    assert found.error == "The device has too little memory for the model."
    retry_job(store, job)
    work()
    assert_complete(store, own, job)


def test_a_class_without_objects_spares_the_others(store, loaded, own, work, fails, tmp_path):
    (tmp_path / "masks").mkdir()
    draw_masks(tmp_path / "masks", range(1, 8, 2))
    masks = {"masks": "files", "mask_folder": str(tmp_path / "masks")}
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"masks": masks})
    work()
    found = read_job(store, job)
    assert (found.state, found.accepted) == ("failed", 4 + 3)
    assert "No object of class 'country'" in found.error
    assert "has no mask file" in found.error
    states = {row["class_name"]: row["state"] for row in store.read(
        "MATCH (q:JobQuery {job: $job}) RETURN q.class_name AS class_name, q.state AS state",
        job=job)}  # fmt: skip
    assert states == {"country": "failed", "urban": "done"}

    draw_masks(tmp_path / "masks", range(0, 8, 2))
    assert retry_job(store, job) == 1
    work()
    assert_complete(store, own, job)
    assert all(found.source_image is not None for found in candidates(store, job) if found.uri)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_class_with_objects_again_while_others_are_made(
    store, loaded, own, options, fails, tmp_path, cancelled
):
    """Also where the job is cancelled for a moment; a worker until idle might end in this."""
    (tmp_path / "masks").mkdir()
    draw_masks(tmp_path / "masks", range(1, 8, 2))
    masks = {"masks": "files", "mask_folder": str(tmp_path / "masks")}
    queries = [("country", ("cow", "gate"), 4), ("urban", ("gate",), 24)]
    job = create_job(store, loaded, "plan", queries, settings=PLAIN | {"masks": masks})
    mended = threading.Event()

    def mend():
        if read_job(store, job).queries["failed"] and not mended.is_set():
            draw_masks(tmp_path / "masks", range(0, 8, 2))
            if cancelled:
                cancel_job(store, job)
            assert retry_job(store, job) == 1
            mended.set()

    fails.BEFORE.append(mend)
    worker = Worker(worker_resources(own), replace(options, until_idle=False))
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        until(lambda: mended.is_set() and not read_job(store, job).is_active, 300)
    finally:
        worker.stop()
        thread.join()
    found = read_job(store, job)
    assert (found.state, found.accepted, found.rejected) == ("done", 28, 0)


def test_an_image_that_cannot_be_made_spares_the_others(store, loaded, own, work, fails):
    fails.POISON.add("gate")
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    work()
    assert_complete(store, own, job)
    poisoned = [c for c in candidates(store, job) if c.verdict == "rejected"]
    assert sorted(c.id[-13:] for c in poisoned) == ["000000/000001", "000002/000001"]
    assert all("It could not be generated: no way to draw" in c.reason for c in poisoned)
    assert all(c.uri is None for c in poisoned)


def test_a_chunk_that_kills_its_workers_is_halved(store, loaded, own, work, fails, monkeypatch):
    """A crash leaves the count of starts and nothing else, as a killed process does."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    folder = OutputFolder(own.folders().output)
    folder.write(f"{job}/chunks/000-000001.starts", b"4")
    work()
    assert_complete(store, own, job)
    names = {row["chunk"] for row in read_records(folder, job)}
    assert {"000-000000", "000-000001.0", "000-000001.1", "000-000002"} == names


def test_a_query_that_is_never_satisfied_ends_at_its_cap(store, loaded, work, fails):
    wanted = PLAIN | {"candidates_per_image": 2, "filters": {"blank": {"threshold": 0.5}}}
    job = create_job(store, loaded, "plan", QUERIES[:1], settings=wanted)
    work()
    found = read_job(store, job)
    assert (found.state, found.accepted, found.rejected, found.short) == ("done", 0, 10, 1)
    assert retry_job(store, job, short=True) == 1
    work()
    assert read_job(store, job).rejected == 20
