"""Counterfactuals by real workers that are killed and that fail: every clique is balanced."""

import sys
from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.counterfactuals import plan_counterfactuals
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job
from cobalance.vision.images.regions import write_regions
from cobalance.workflows.rebalance import rebalance_job
from cobalance.workflows.work.run import worker_resources
from tests.browser.server import environment_of
from tests.e2e import scored
from tests.e2e.killing import kill_workers
from tests.e2e.scored import RANK_BY, places

GROUPS = ("man", "woman", "neither")
SOURCES = 24
BEST_OF = 2
BOX = (10.0, 8.0, 20.0, 15.0)


@pytest.fixture
def people(store, dataset, own, tmp_path):
    """Images of people with random concepts, whose files and boxes are there but for two."""
    random, pictures = Random(11), tmp_path / "pictures"
    pictures.mkdir()
    records = []
    for at in range(SOURCES):
        pixels = np.random.default_rng(at).integers(0, 255, (37, 41, 3), dtype=np.uint8)
        if at not in (3, 4):
            Image.fromarray(pixels).save(pictures / f"{at}.png")
        shown = [name for name in ("bat", "dog", "sofa") if random.random() < 0.5]
        mentions = (Mention("person", box=BOX), *map(Mention, shown))
        uri = f"{at}.png"
        records.append(ImageRecord(f"{at:02d}", random.choice(GROUPS), mentions, "train", uri))
    annotations = Annotations.from_records(records)
    write_annotations(store, dataset, annotations, source="test")
    write_regions(own.folders().regions, dataset, annotations)
    mine_dataset(store, dataset, MiningOptions(4, common=()), max_cliques=100)
    return records


def concepts_of(record):
    return tuple(sorted({mention.concept for mention in record.mentions}))


def balanced(store, own, job, real):
    """Images of each clique in each group of the dataset that the job leads to."""
    merged = rebalance_job(store, own.folders(), read_job(store, job), result={"real": real})
    try:
        images = len(read_annotations(store, merged.dataset).images)
        cliques = load_cliques(store, merged.dataset)
        assert set(cliques.classes) == set(GROUPS)
        assert (np.ptp(cliques.counts, axis=1) == 0).all()
        counts = dict(zip(cliques.names(), cliques.counts[:, 0].tolist(), strict=True))
    finally:
        drop_dataset(store, merged.dataset)
    return images, counts


def test_every_clique_is_balanced_after_kills_and_failures(
    store, dataset, people, own, settings, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "cobalance.generation.filters.blank", scored)
    frame = read_annotations(store, dataset).images
    concepts = {record.id: concepts_of(record) for record in people}
    planned = plan_counterfactuals(
        frame.assign(concepts=frame["id"].map(concepts)), GROUPS, made="all"
    )
    queries = list(planned)
    job = create_job(
        store,
        dataset,
        "counterfactuals",
        queries,
        settings={
            "recipe": "procedural",
            "consent": "Nobody is shown.",
            "making": {"paint": "object"},
            "masks": {"masks": "boxes", "object": ["person"]},
            "filters": {"sanity": {}, "blank": {}},
            "best_of": BEST_OF,
            "rank_by": RANK_BY,
            "chunk_size": 5,
        },
    )
    url = f"sqlite:///{tmp_path}/killed.sqlite"
    environment = environment_of(settings) | {
        "COBALANCE_QUEUE": url,
        "COBALANCE_OUTPUT": own.folders().output,
        "COBALANCE_IMAGES": str(tmp_path / "pictures"),
        "OMP_NUM_THREADS": "1",
    }
    wanted = len(queries) * BEST_OF
    for _ in kill_workers(store, job, environment, wanted, kills=1):
        pass
    Worker(worker_resources(own), WorkerOptions(url, poll_s=0.05, until_idle=True)).run()
    assert read_job(store, job).state == "done"
    has_winner = {
        (query.edit.source_image, query.class_name): bool(places(position, range(BEST_OF)))
        and query.edit.source_image not in ("03", "04")
        for position, query in enumerate(queries)
    }
    lost = [pair for pair, found in has_winner.items() if not found]
    assert 6 < len(lost) < len(queries)
    for real in ("all", "none"):
        complete = [
            record
            for record in people
            if all(
                has_winner[record.id, group] or (real == "all" and group == record.class_name)
                for group in GROUPS
            )
        ]
        images, counts = balanced(store, own, job, real)
        assert images == len(complete) * len(GROUPS)
        assert counts == Counter(
            clique
            for record in complete
            for size in range(1, 5)
            for clique in combinations(concepts_of(record), size)
        )
