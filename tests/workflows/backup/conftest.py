"""Three datasets with all that a dataset can have, and a second store of these tests' own."""

import json
import threading
import uuid
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from pydantic import SecretStr

from cobalance.base.records import Annotations, ImageRecord, Mention, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.plans import write_plan
from cobalance.graph.evaluations.writing import (
    NewEvaluation,
    create_evaluations,
    save_predictions_uri,
    save_scores,
)
from cobalance.graph.jobs.lifecycle import cancel_job, create_job
from cobalance.graph.jobs.status import read_job
from cobalance.graph.panels.audits import Audit, create_audit
from cobalance.graph.panels.panel import read_panel, save_answers
from cobalance.graph.panels.studies import Assignment, StudyPair, create_study
from cobalance.graph.tags.applying import apply_tags
from cobalance.graph.tags.saved_views import save_view
from cobalance.graph.tags.tags import set_role, tag_images, write_note
from cobalance.graph.tasks.lifecycle import cancel_task, create_task
from cobalance.ingest.captions.image_texts import caption_files
from cobalance.ingest.embeddings.stored import write_embeddings
from cobalance.workflows.load.dataset import drop_dataset, load_dataset
from cobalance.workflows.store import open_store
from cobalance.workflows.work.run import worker_resources
from tests.conftest import HOSTILE
from tests.support.audited_run import CONCEPTS, write_audited_run
from tests.support.studied_job import write_studied_job
from tests.support.waiting import until

WANTED = 60


def settings_in(settings, home):
    nowhere = {"cobalance_output": None, "cobalance_queue": None, "cobalance_images": ()}
    return settings.model_copy(update=nowhere | {"cobalance_home": home})


@pytest.fixture(scope="module")
def own(settings, tmp_path_factory):
    """The shared server, with folders and a queue of these tests' own."""
    found = settings_in(settings, tmp_path_factory.mktemp("own"))
    if settings.neo4j_uri is not None:
        return found
    server = local_server.ensure_running(settings.local_server())
    secret = SecretStr(server.password)
    return found.model_copy(update={"neo4j_uri": server.uri, "neo4j_password": secret})


@pytest.fixture(scope="module")
def elsewhere(settings, tmp_path_factory):
    """Settings and an open store of another, empty server with a home of its own."""
    found = settings_in(settings, tmp_path_factory.mktemp("elsewhere"))
    found = found.model_copy(update={"neo4j_uri": None})
    try:
        with open_store(found) as store:
            yield SimpleNamespace(settings=found, store=store)
    finally:
        local_server.stop(found.local_server())


def work(settings, until_made=None, store=None, job=None):
    """Work until nothing is left, or until a job has so many images."""
    options = WorkerOptions(settings.queue_url(), poll_s=0.05, until_idle=True)
    worker = Worker(worker_resources(settings), options)
    if until_made is None:
        worker.run()
        return
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        until(lambda: read_job(store, job).made >= until_made)
    finally:
        worker.stop()
        thread.join()


@pytest.fixture(scope="module")
def made(store, own):
    """Names of the datasets, and the id of a job that is half done."""
    stem = f"test {uuid.uuid4()} {HOSTILE[0]}"
    names = [stem, f"{stem} audited", f"{stem} studied"]
    folders = own.folders()
    records = [
        ImageRecord(
            f"image {at}",
            ("country", "urban")[at % 2],
            (Mention("cow", box=(1.5, 2.0, 3.0, 4.0)), Mention(HOSTILE[at % 4], score=0.1 * at)),
            (None, "train")[at % 2],
            f"{at}.png",
        )
        for at in range(24)
    ]
    load_dataset(store, folders, stem, Annotations.from_records(records), source="a test")
    captions = caption_files(folders.captions)
    with captions.writing(), captions.replacing(stem) as path:
        path.write_bytes(b"a caption")
    tag_images(store, stem, "blurred", ["image 3", "image 5"], by="ann")
    set_role(store, stem, "blurred", "exclude")
    tag_images(store, stem, "at night", ["image 3", "image 4"])
    set_role(store, stem, "at night", "concept")
    write_note(store, stem, "image 3", "is it?", by="ann")
    apply_tags(store, stem)
    mine_dataset(store, stem, MiningOptions(max_size=2), max_cliques=1_000)
    queries = [PlannedQuery("country", ("cow",), WANTED // 2), PlannedQuery("urban", ("cow",), 30)]
    write_plan(store, stem, "mine", queries, planner="conbias", planner_options={"a": [1]})
    save_view(store, stem, "look", "/diagnose", "a=1&b=2")
    ids = [f"image {at}" for at in range(4)]
    write_embeddings(folders.embeddings, stem, ids, np.eye(4, dtype=np.float32))
    (evaluation,) = create_evaluations(
        store, [NewEvaluation("erm", 0, {"preset": "small"})], train=stem, test=stem, extra=None
    )
    row = {"metric": "accuracy", "group": "", "value": 0.1, "low": np.nan, "high": 0.3, "n": 9}
    save_scores(store, evaluation, pd.DataFrame([row]))
    save_predictions_uri(store, evaluation, f"evaluations/{evaluation}/predictions.parquet")
    cancel_task(store, create_task(store, "embeddings", "worker", dataset=stem))
    output = folders.open_output()
    output.write(f"evaluations/{evaluation}/predictions.parquet", b"PAR1")

    run = write_audited_run(store, names[1], output, own.cobalance_home / "gulls", 8)
    labels = {
        "image": "0",
        "uri": "0.png",
        "class_name": "gull",
        "concept": CONCEPTS[0],
        "labelled": True,
    }
    counts = {"concept": CONCEPTS[0], "class_name": "gull", "labelled": 1, "unlabelled": 3}
    audit = create_audit(
        store,
        run,
        people=["ann"],
        labels=pd.DataFrame([labels]),
        tasks=pd.DataFrame({"person": [0], "label": [0]}),
        counts=pd.DataFrame([counts]),
    )
    answer = {"image": "0", "concept": CONCEPTS[0], "person": "ann", "answer": "shows"}
    save_answers(store, read_panel(store, Audit, audit), pd.DataFrame([answer]))
    edited = write_studied_job(store, names[2], own.cobalance_home / "people", 2)
    pair = StudyPair(f"{edited}/000000/0", "0", "0-edit.png", "0.png", "man", "woman", "A ____")
    create_study(
        store,
        edited,
        groups=("man", "woman"),
        people=["ann"],
        pairs=[pair],
        assignments=[Assignment(0, 0, True)],
    )
    cancel_job(store, edited)

    plain = {"filters": {"blank": {}}, "chunk_size": 4, "without_images": True}
    job = create_job(store, stem, "mine", queries, settings=plain)
    work(own, 4, store, job)
    found = read_job(store, job)
    assert found.is_active
    assert 4 <= found.made < WANTED
    yield SimpleNamespace(names=names, job=job, made=found.made)
    for name in names:
        drop_dataset(store, folders, name)


def dump(store, names):
    """Everything that a store has of some datasets, as sorted text."""
    nodes = store.read(
        "MATCH (n) WHERE n.dataset IN $names OR n:Dataset AND n.name IN $names "
        "RETURN labels(n) AS labels, properties(n) AS properties",
        names=names,
    )
    edges = store.read(
        "MATCH (a)-[e]->(b) WHERE a.dataset IN $names OR b.dataset IN $names "
        "RETURN labels(a) AS la, properties(a) AS a, type(e) AS type, properties(e) AS e, "
        "labels(b) AS lb, properties(b) AS b",
        names=names,
    )
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in (*nodes, *edges))
