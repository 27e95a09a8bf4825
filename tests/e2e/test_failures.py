"""What goes wrong while images are made: a clear state, nothing lost, and on when it is over."""

import base64
import contextlib
import errno
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit
from weakref import WeakSet

import numpy as np
import pytest
from PIL import Image

from app.services import workers
from app.services.worker_resources import worker_resources
from generation.image_request import GeneratedImage
from generation.jobs.chunk_queue import Queue
from generation.jobs.chunks import Chunk
from generation.output import folder as output
from generation.output.chunk_records import read_records
from generation.output.folder import OutputFolder
from generation.output.job_manifest import manifest_name
from generation.worker.resources import RetryingStore
from generation.worker.supervisor import JobSupervisor
from generation.worker.worker import Worker, WorkerOptions
from graph.database.local.server import ensure_running
from graph.database.store import GraphStore
from graph.dataset.drop_rename import rename_dataset
from graph.dataset.write import write_annotations
from graph.errors import OptionError, OutOfMemoryError, StoreError, StoreUnavailableError
from graph.jobs.candidate_pages import list_candidates
from graph.jobs.candidates import decide
from graph.jobs.lifecycle import cancel_job, create_job, retry_job
from graph.jobs.status import read_job
from graph.jobs.workers import workers_alive
from graph.records import Annotations, ImageRecord, Mention
from tests.e2e import failing
from tests.forwarder import Forwarder
from tests.manifests import read_manifest
from tests.tiny.diffusion import inpainting
from tests.waiting import until

QUERIES = [("country", ("cow", "gate"), 5), ("urban", ("cow",), 4), ("urban", ("gate",), 3)]
WANTED = sum(n for _, _, n in QUERIES)


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
def address(settings):
    """Address, user, password and database of the server."""
    if settings.neo4j_uri is not None:
        name = settings.neo4j_database
        return settings.neo4j_uri, settings.neo4j_username, settings.password(), name
    endpoint = ensure_running(settings.local_server())
    return endpoint.uri, endpoint.username, endpoint.password, "neo4j"


@pytest.fixture
def work(own, options):
    """Work until no job is left to run."""
    return lambda: Worker(worker_resources(own), options).run()


@pytest.fixture
def fails(monkeypatch):
    """The backend that fails as asked, in place of the procedural one."""
    monkeypatch.setitem(sys.modules, "generation.backends.procedural", failing)
    monkeypatch.setattr(failing, "POISON", set())
    monkeypatch.setattr(failing, "CAPACITY", [1_000])
    monkeypatch.setattr(failing, "SEEN", [])
    monkeypatch.setattr(failing, "OPEN", WeakSet())
    monkeypatch.setattr(failing, "BEFORE", [])
    return failing


PLAIN = {"filters": {"blank": {}}, "chunk_size": 4}


def candidates(store, job):
    return list_candidates(store, job, per_page=1000).candidates


def draw_masks(folder, ids):
    for i in ids:
        mask = Image.new("L", (48, 40))
        mask.paste(255, (10, 10, 20, 20))
        mask.save(folder / f"{i}.png")


def assert_complete(store, own, job):
    found = read_job(store, job)
    assert (found.state, found.covered) == ("done", WANTED), found
    folder = OutputFolder(own.output_folder())
    names = sorted(candidate.id for candidate in candidates(store, job))
    assert [row["candidate"] for row in read_records(folder, job)] == names
    manifest = read_manifest(Path(own.output_folder()) / manifest_name(job))
    assert manifest["candidate"].tolist() == names


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_to(store, loaded, own, work, fails, monkeypatch, number):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    written = []
    write = output._write_local

    def write_some(path, data):
        if len(written) >= 7:
            raise OSError(number, "it is not possible now")
        written.append(path)
        write(path, data)

    monkeypatch.setattr(output, "_write_local", write_some)
    work()
    found = read_job(store, job)
    assert found.state == "failed"
    assert "cannot be written to: it is not possible now" in found.error
    assert "retry the job" in found.error
    kept = {candidate.id for candidate in candidates(store, job)}
    monkeypatch.setattr(output, "_write_local", write)
    assert retry_job(store, job) > 0
    work()
    assert_complete(store, own, job)
    assert kept <= {candidate.id for candidate in candidates(store, job)}


def test_a_full_folder_is_not_held_against_a_chunk(store, loaded, own, work, fails, monkeypatch):
    """However often people try in vain, no image is given up for it."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    write = output._write_local

    def write_counts_alone(path, data):
        if path.suffix != ".starts":
            raise OSError(errno.ENOSPC, "it is full")
        write(path, data)

    monkeypatch.setattr(output, "_write_local", write_counts_alone)
    for _ in range(6):
        work()
        assert retry_job(store, job) > 0
    monkeypatch.setattr(output, "_write_local", write)
    work()
    assert_complete(store, own, job)
    assert read_job(store, job).rejected == 0


@pytest.mark.parametrize("size", [2, 64])
def test_a_job_has_its_manifest_before_it_ends(store, loaded, own, work, fails, monkeypatch, size):
    """Also where each query is made in one chunk; and a folder that is full then, fails it."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"chunk_size": size})
    write = output._write_local

    def write_all_else(path, data):
        if path.name == "manifest.parquet":
            raise OSError(errno.ENOSPC, "it is full")
        write(path, data)

    monkeypatch.setattr(output, "_write_local", write_all_else)
    work()
    found = read_job(store, job)
    assert (found.state, found.covered) == ("failed", WANTED)
    assert "it is full" in found.error
    monkeypatch.setattr(output, "_write_local", write)
    assert retry_job(store, job) == 0
    assert read_job(store, job).state == "queued"
    work()
    assert_complete(store, own, job)


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
    for row in read_records(OutputFolder(own.output_folder()), job):
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
        OutputFolder(own.output_folder()), job)}  # fmt: skip
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
    made = fails._Backend.generate

    def make(self, requests):
        if any(request.concepts == ("cow", "gate") for request in requests):
            raise ValueError("no way to draw it")
        images = made(self, requests)
        blank = np.zeros((16, 16, 3), dtype=np.uint8)
        return [
            GeneratedImage(blank) if request.id.endswith("000001/000000") else image
            for request, image in zip(requests, images, strict=True)
        ]

    monkeypatch.setattr(fails._Backend, "generate", make)
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
    store, loaded, own, work, fails, tmp_path, cancelled
):
    (tmp_path / "masks").mkdir()
    draw_masks(tmp_path / "masks", range(1, 8, 2))
    masks = {"masks": "files", "mask_folder": str(tmp_path / "masks")}
    queries = [("country", ("cow", "gate"), 4), ("urban", ("gate",), 24)]
    job = create_job(store, loaded, "plan", queries, settings=PLAIN | {"masks": masks})
    mended = threading.Event()

    def mend():
        if read_job(store, job).queries["failed"] and not mended.is_set():
            mended.set()
            draw_masks(tmp_path / "masks", range(0, 8, 2))
            if cancelled:
                cancel_job(store, job)
            assert retry_job(store, job) == 1

    fails.BEFORE.append(mend)
    work()
    assert mended.is_set()
    found = read_job(store, job)
    assert (found.state, found.accepted, found.rejected) == ("done", 28, 0)


def test_painted_objects_are_told_of(store, loaded, own, work):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    work()
    assert_complete(store, own, job)
    note = read_job(store, job).note
    assert f"{WANTED} of {WANTED} accepted images show a painted object, none of the" in note
    assert "can be taken from 4 of its 4 images. Most often" in note
    manifest = read_manifest(Path(own.output_folder()) / manifest_name(job))
    settings = json.loads(manifest["settings"][0])
    assert "has no region of" in settings["without_source"]
    assert settings["filters"]["blank"]["settings"] == {"threshold": 0.02, "min_luminance": 0.01}


def test_an_image_that_cannot_be_made_spares_the_others(store, loaded, own, work, fails):
    fails.POISON.add("gate")
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    work()
    assert_complete(store, own, job)
    poisoned = [c for c in candidates(store, job) if c.verdict == "rejected"]
    assert sorted(c.id[-13:] for c in poisoned) == ["000000/000001", "000002/000001"]
    assert all("It could not be made: no way to draw" in c.reason for c in poisoned)
    assert all(c.uri is None for c in poisoned)


def test_a_chunk_that_kills_its_workers_is_halved(store, loaded, own, work, fails, monkeypatch):
    """A crash leaves the count of starts and nothing else, as a killed process does."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    folder = OutputFolder(own.output_folder())
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


def test_the_graph_goes_away_and_comes_back(address, store, loaded, own, options, fails, caplog):
    """Behind a connection that is cut while images are made."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"chunk_size": 1})
    begun = threading.Event()
    fails.BEFORE.append(begun.set)
    with Forwarder(urlsplit(address[0]).port) as way:
        uri = f"bolt://127.0.0.1:{way.port}"
        there = replace(
            worker_resources(own), connect=lambda: GraphStore.connect(uri, *address[1:])
        )
        thread = threading.Thread(target=Worker(there, options).run)
        thread.start()
        assert begun.wait(60)
        way.cut()
        until(lambda: not thread.is_alive() or "waiting for the graph" in caplog.text)
        way.restore()
        thread.join(120)
        assert not thread.is_alive()
    assert_complete(store, own, job)


def test_the_queue_goes_away_and_comes_back(store, loaded, own, work, fails, monkeypatch, caplog):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    ask, asked = Queue.is_busy, []

    def ask_in_vain(*arguments):
        asked.append(arguments)
        if 1 < len(asked) < 4:
            raise StoreUnavailableError("The job queue does not answer.")
        return ask(*arguments)

    monkeypatch.setattr(Queue, "is_busy", ask_in_vain)
    work()
    assert caplog.text.count("waiting for the queue") == 2
    assert_complete(store, own, job)


def test_a_chunk_that_the_queue_has_as_ours_and_nobody_makes_is_given_back(own, options, tmp_path):
    """As after its database was away between giving the chunk out and handing it over."""

    resources, begun, go_on = worker_resources(own), threading.Event(), threading.Event()

    def work(_chunk, _attempt):
        begun.set()
        assert go_on.wait(60)
        return "done"

    queue = Queue(options.queue_url, "mine", work, options.poll_s, extras=["worker"])
    try:
        queue.enqueue([Chunk("ours", "000-000000", ((0, 0),))], 0, "worker")
        queue.enqueue([Chunk("lost", "000-000000", ((0, 0),))], 0, "models")
        assert begun.wait(60)
        with contextlib.closing(sqlite3.connect(tmp_path / "queue.sqlite")) as connection:
            connection.execute(
                "UPDATE workflow_status SET status = 'PENDING', executor_id = 'mine' "
                "WHERE workflow_uuid LIKE 'lost/%'"
            )
            connection.commit()
        retrying = RetryingStore(resources.connect, threading.Event())
        supervisor = JobSupervisor("mine", retrying, queue, resources.folder, dead_after_s=0.5)
        supervisor.requeue_orphans()
        assert set(queue.running()) == {"ours/0/000-000000", "lost/0/000-000000"}
        until(lambda: supervisor.requeue_orphans() or set(queue.running()) == {"ours/0/000-000000"})
        retrying.close()
    finally:
        go_on.set()
        queue.close(wait_s=60)


def test_a_refusal_of_the_graph_is_no_end(store, loaded, own, options, fails, monkeypatch):
    """Such as for a deadlock."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    write, refused = GraphStore.write, []

    def write_in_vain(self, text, **parameters):
        if "MERGE (c:Candidate" in text and len(refused) < 2:
            refused.append(text)
            raise StoreError("The database could not finish now.")
        return write(self, text, **parameters)

    monkeypatch.setattr(GraphStore, "write", write_in_vain)
    Worker(worker_resources(own), options).run()
    assert len(refused) == 2
    assert_complete(store, own, job)


def test_a_worker_that_is_told_to_end_is_alive_until_it_has(store, loaded, own, options, fails):
    """Others would make again what it ends."""
    create_job(store, loaded, "plan", QUERIES[:1], settings=PLAIN | {"chunk_size": 8})
    worker = Worker(worker_resources(own), replace(options, dead_after_s=1.0))
    alive = []

    def end_slowly():
        worker.stop()
        time.sleep(2.5)
        alive.extend(found.id for found in workers_alive(store, within_s=1.0))

    fails.BEFORE.append(end_slowly)
    worker.run()
    assert worker.id in alive
    assert worker.id not in {found.id for found in workers_alive(store)}


def test_jobs_of_two_backends_take_turns_on_the_device(
    store, loaded, own, work, fails, monkeypatch
):
    other = SimpleNamespace(
        PLUGIN=replace(failing.PLUGIN, name="paste"), open_backend=failing.open_backend
    )
    monkeypatch.setitem(sys.modules, "generation.backends.paste", other)
    wanted = PLAIN | {"chunk_size": 1}
    jobs = [
        create_job(store, loaded, "plan", QUERIES, settings=wanted | {"backend": backend})
        for backend in ("procedural", "paste")
    ]
    held = []
    fails.BEFORE.append(lambda: held.append(len(fails.OPEN)))
    work()
    for job in jobs:
        assert_complete(store, own, job)
    assert set(held) == {1}


def test_a_dataset_that_gets_another_name_meanwhile(store, loaded, own, options, fails):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"chunk_size": 1})
    opened, resources = [], worker_resources(own)

    def open_sources(store, dataset, settings):
        opened.append(dataset)
        return resources.open_sources(store, dataset, settings)

    fails.BEFORE.append(
        lambda: len(fails.SEEN) == 3 and rename_dataset(store, loaded, f"{loaded} renamed")
    )
    Worker(replace(resources, open_sources=open_sources), options).run()
    assert_complete(store, own, job)
    assert opened == [loaded, f"{loaded} renamed"]


def test_what_has_no_file_cannot_be_accepted(store, loaded, own, work, fails):
    wanted = {"filters": {"blank": {"threshold": 0.5}}, "keep_rejected": False}
    job = create_job(store, loaded, "plan", QUERIES[:1], settings=wanted)
    work()
    found = candidates(store, job)
    assert {(candidate.verdict, candidate.uri) for candidate in found} == {("rejected", None)}
    with pytest.raises(OptionError, match="has no file"):
        decide(store, found[0].id, "accepted", "ann")
    assert decide(store, found[0].id, "rejected", "ann").accepted == 0


def test_cancelled_and_taken_up_again(store, loaded, own, options, work, fails):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"chunk_size": 1})
    fails.BEFORE.append(lambda: len(fails.SEEN) == 3 and cancel_job(store, job))
    work()
    fails.BEFORE.clear()
    found = read_job(store, job)
    assert found.state == "cancelled"
    assert 3 <= found.accepted < WANTED
    retry_job(store, job)
    work()
    assert_complete(store, own, job)


def test_the_same_seed_makes_the_same_images(store, loaded, own, work, tmp_path):
    wanted = {"seed": "s", "filters": {}, "making": {"width_px": 32, "height_px": 32}}
    one, two = (create_job(store, loaded, "plan", QUERIES, settings=wanted) for _ in range(2))
    work()
    pictures = [
        {
            row["candidate"].removeprefix(job): np.asarray(
                Image.open(tmp_path / "generated" / row["path"])
            ).tobytes()
            for row in read_records(OutputFolder(own.output_folder()), job)
        }
        for job in (one, two)
    ]
    assert pictures[0] == pictures[1]
    assert len(set(pictures[0].values())) == WANTED


def test_provenance_is_in_the_graph(store, loaded, work):
    job = create_job(store, loaded, "plan", QUERIES[:1], settings=PLAIN)
    work()
    (row,) = store.read(
        "MATCH (c:Candidate {id: $id}) RETURN c.provenance AS found",
        id=f"{job}/000000/000000",
    )
    found = json.loads(row["found"])
    assert found["backend"] == "procedural"
    assert found["chunk"] == "000-000000"
    assert found["software"]["cobalance"]
    assert len(found["sha256"]) == 64


def test_a_queue_that_cannot_be_opened_is_a_clear_error(tmp_path):
    (tmp_path / "queue.sqlite").write_text("this is no database, but a text " * 20)
    with pytest.raises(StoreUnavailableError, match=r"The job queue sqlite:///.* cannot be opened"):
        Queue(f"sqlite:///{tmp_path}/queue.sqlite", "worker", lambda *_: "done")


def test_workers_on_gpus_are_told_to_end_when_their_parent_is(tmp_path, monkeypatch):
    """As by `docker stop`, which tells the first process alone."""
    script = (
        "import pathlib, signal, sys\n"
        f"told = pathlib.Path({str(tmp_path / 'told')!r})\n"
        "signal.signal(signal.SIGTERM, lambda *_: (told.touch(), sys.exit(0)))\n"
        f"pathlib.Path({str(tmp_path / 'began')!r}).touch()\n"
        "signal.pause()\n"
    )
    start = subprocess.Popen
    monkeypatch.setattr(
        workers.subprocess, "Popen", lambda _, env: start([sys.executable, "-c", script], env=env)
    )

    def stop():
        until((tmp_path / "began").exists)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=stop)
    thread.start()
    workers.run_on_gpus([0], os.environ, until_idle=False, dead_after_s=30)
    thread.join()
    assert (tmp_path / "told").exists()


class _Pickled:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_a_pickle_that_somebody_put_into_the_queue_is_not_read(tmp_path):
    url, done = f"sqlite:///{tmp_path}/queue.sqlite", []

    def work(chunk, _attempt):
        done.append(chunk.id)
        return "done"

    queue = Queue(url, "worker", work, poll_s=0.05)
    queue.enqueue([Chunk("job", "000-000000", ((0, 0),))], 0, "worker")
    until(lambda: done and not queue.is_busy("job", 0, 0))
    queue.close()
    evil = base64.b64encode(pickle.dumps(_Pickled(str(tmp_path / "opened")))).decode()
    with contextlib.closing(sqlite3.connect(tmp_path / "queue.sqlite")) as connection:
        connection.execute(
            "UPDATE workflow_status SET status = 'ENQUEUED', inputs = ?, owner_xid = NULL, "
            "serialization = 'py_pickle', completed_at = NULL, executor_id = NULL",
            [evil],
        )
        connection.commit()
    queue = Queue(url, "another", work, poll_s=0.05)
    until(lambda: not queue.is_busy("job", 0, 0))
    assert queue.errors("job", 0, 0)
    queue.close()
    assert len(done) == 1
    assert not (tmp_path / "opened").exists()
