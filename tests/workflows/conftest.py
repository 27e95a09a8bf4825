"""A dataset of birds, and a job with accepted images for it."""

import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import start_queries

SQUARE = "[[1,1,3,1,3,3,1,3]]"


@pytest.fixture
def own(settings, tmp_path):
    """Settings with folders of this test's own."""
    return settings.model_copy(
        update={"cobalance_home": tmp_path, "cobalance_output": str(tmp_path / "made")}
    )


def birds():
    """Of landbirds 4 with a tree, 3 with the sea, 2 with both; of waterbirds 5 with the sea."""
    shown = {
        "land": [["tree"]] * 4 + [["sea"]] * 3 + [["sea", "tree"]] * 2,
        "water": [["sea"]] * 5 + [["tree"]],
    }
    return Annotations.from_records(
        ImageRecord(
            f"{label} {i}",
            label,
            tuple(Mention(name, box=(1.0, 2.0, 3.0, 4.0), segmentation=SQUARE) for name in names),
            "test" if i == 0 else "train",
            f"{label}{i}.jpg",
            640,
            480,
        )
        for label, images in shown.items()
        for i, names in enumerate(images)
    )


@pytest.fixture
def loaded(store, dataset):
    write_annotations(store, dataset, birds(), source="a test")
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)
    yield dataset
    for left in (f"{dataset}-rebalanced", f"{dataset} copy"):
        if find_dataset(store, left) is not None:
            drop_dataset(store, left)


@pytest.fixture
def job(store, loaded):
    """Two waterbirds with sea and tree, and three with a tree, one of them rejected."""
    queries = [("water", ("sea", "tree"), 2), ("water", ("tree",), 3)]
    job = create_job(store, loaded, "mine", queries)
    judged = (["accepted"] * 2, ["accepted", "accepted", "rejected"])
    made = {
        query_id(job, position): [
            NewCandidate(
                f"{query_id(job, position)}/{i}",
                f"{job}/images/{position}-{i}.png",
                verdict,
                source_image=f"water {i}",
                provenance={"width_px": 512, "height_px": 256},
            )
            for i, verdict in enumerate(verdicts)
        ]
        for position, verdicts in enumerate(judged)
    }
    start_queries(store, job, 0, list(made))
    record_made(store, job, made)
    return job
