"""Jobs from order to manifest: notes, provenance, seeds, cancelling, several at once."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import ConflictError
from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.output.job_manifest import manifest_name
from cobalance.generation.worker.worker import Worker
from cobalance.graph.dataset.drop_rename import rename_dataset
from cobalance.graph.jobs.candidates import decide
from cobalance.graph.jobs.lifecycle import cancel_job, create_job, retry_job
from cobalance.graph.jobs.status import read_job
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.work.run import worker_resources
from tests.e2e import failing
from tests.e2e.small_jobs import PLAIN, QUERIES, WANTED, assert_complete, candidates
from tests.support.manifests import read_manifest


def test_painted_objects_are_told_of(store, loaded, own, work):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    work()
    assert_complete(store, own, job)
    note = read_job(store, job).note
    assert f"{WANTED} of {WANTED} accepted images show a painted shape in place of" in note
    assert "can be taken from its 4 images. Most often" in note
    manifest = read_manifest(Path(own.folders().output) / manifest_name(job))
    settings = json.loads(manifest["settings"][0])
    assert "has no region of" in settings["without_source"]
    assert settings["filters"]["blank"]["settings"] == {"threshold": 0.02, "min_luminance": 0.01}


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


def test_a_worker_that_has_long_had_nothing_to_do_ends(store, loaded, own, options):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    Worker(worker_resources(own), replace(options, until_idle=False, idle_s=0.1)).run()
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
            for row in read_records(OutputFolder(own.folders().output), job)
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


def test_jobs_of_two_backends_take_turns_on_the_device(
    store, loaded, own, work, fails, monkeypatch
):
    other = SimpleNamespace(
        PLUGIN=replace(failing.PLUGIN, name="paste"), open_backend=failing.open_backend
    )
    monkeypatch.setitem(sys.modules, "cobalance.generation.backends.paste", other)
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
    with pytest.raises(ConflictError, match="has no file"):
        decide(store, found[0].id, "accepted", "ann")
    assert decide(store, found[0].id, "rejected", "ann").accepted == 0
