"""A mined dataset, and a job that waits to be made."""

import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from tests.graph.jobs.reporting import QUERIES


@pytest.fixture
def loaded(store, dataset):
    records = [ImageRecord(f"{i}", "ab"[i % 2], (Mention("x"), Mention("y"))) for i in range(8)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)
    return dataset


@pytest.fixture
def job(store, loaded):
    return create_job(store, loaded, "mine", QUERIES, created_by="ann", settings={"preset": "fast"})
