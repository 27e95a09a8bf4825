"""Workers killed at random moments: each image once; graph, manifest and files agree."""

import hashlib
import io
from random import Random

import numpy as np
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.output.job_manifest import manifest_name
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job
from tests.browser.server import environment_of
from tests.support.manifests import read_manifest
from tests.support.provenance import read_provenance
from tests.support.waiting import until
from tests.support.worker_processes import Workers

CONCEPTS = ("cow", "forest_road", "gate", "street sign")
SETTINGS = {"filters": {"sanity": {}, "blank": {}}}


@pytest.fixture
def loaded(store, dataset):
    records = [
        ImageRecord(f"{i}", ("country", "urban")[i % 2], (Mention(CONCEPTS[i % 4]), Mention("cow")))
        for i in range(16)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="test")
    return dataset


def queries_for(images):
    pairs = [("cow", "gate"), ("cow", "street sign"), ("cow", "forest_road"), ("gate",)]
    wanted = [(name, concepts, 1) for name in ("country", "urban") for concepts in pairs]
    each, rest = divmod(images, len(wanted))
    return [(*query[:2], each + (at < rest)) for at, query in enumerate(wanted)]


def survive(store, dataset, settings, tmp_path, queue_url, images, kills, side_px=32):
    """Kill a worker each time that the job has got on by a random number of images."""
    random = Random()
    output = tmp_path / "generated"
    environment = environment_of(settings) | {
        "COBALANCE_QUEUE": queue_url,
        "COBALANCE_OUTPUT": str(output),
        "OMP_NUM_THREADS": "1",
    }
    wanted = SETTINGS | {"making": {"width_px": side_px, "height_px": side_px}}
    job = create_job(store, dataset, "plan", queries_for(images), settings=wanted)
    workers = Workers(environment, tmp_path)
    try:
        workers.start("a")
        workers.start("b")
        for made in sorted(random.sample(range(images), kills)):
            until(lambda made=made: read_job(store, job).accepted >= made, 540)
            which = random.choice("ab")
            workers.kill(which)
            workers.start(which)
        until(lambda: not read_job(store, job).is_active, 540)
        found = read_job(store, job)
        assert found.state == "done", (found, workers.logs())
    finally:
        workers.end()
    check(store, job, output, images)


def check(store, job, output, images):
    """Each image once, whole, and the same in the graph, the manifest and the folder."""
    manifest = read_manifest(output / manifest_name(job))
    in_graph = store.read(
        "MATCH (c:Candidate {job: $job})-[:MADE_FOR]->(q:JobQuery) "
        "RETURN c.id AS id, c.verdict AS verdict, c.uri AS uri, c.seed AS seed, q.n AS n",
        job=job,
    )
    assert len(in_graph) == images
    assert {row["id"]: row["uri"] for row in in_graph} == dict(
        zip(manifest["candidate"], manifest["path"], strict=True)
    )
    assert {row["verdict"] for row in in_graph} == {"accepted"} == set(manifest["verdict"])
    assert manifest["seed"].is_unique
    files = sorted(path.name for path in (output / job / "images").iterdir())
    assert files == sorted(path.rsplit("/", 1)[1] for path in manifest["path"])
    assert not list((output / job).rglob("*.tmp"))
    for row in manifest.itertuples():
        data = (output / row.path).read_bytes()
        assert hashlib.sha256(data).hexdigest() == row.sha256
        with Image.open(io.BytesIO(data)) as image:
            assert np.asarray(image).shape == (row.height_px, row.width_px, 3)
        said = read_provenance(data)
        assert (said["candidate"], said["seed"]) == (row.candidate, row.seed)


def test_workers_that_are_killed_lose_and_double_nothing(
    store, loaded, settings, tmp_path, queue_url
):
    survive(store, loaded, settings, tmp_path, queue_url, images=200, kills=2)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_twenty_kills(store, loaded, settings, tmp_path, queue_url):
    survive(store, loaded, settings, tmp_path, queue_url, images=1000, kills=20, side_px=384)
