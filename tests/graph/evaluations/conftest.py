"""Two small datasets, the second with images of a job of the first."""

import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention, PlannedQuery
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job


def annotations(n):
    return Annotations.from_records(
        [ImageRecord(f"{i}", "ab"[i % 2], (Mention("x"),)) for i in range(n)]
    )


@pytest.fixture
def write(store):
    def write(dataset, n):
        write_annotations(store, dataset, annotations(n), source="a test")

    return write


@pytest.fixture
def original(store, dataset, write):
    write(dataset, 8)
    return dataset


@pytest.fixture
def job(store, original):
    settings = {"recipe": "paste", "backend": "paste"}
    return create_job(store, original, "mine", [PlannedQuery("a", ("x",), 2)], settings=settings)


@pytest.fixture
def rebalanced(store, original, job, write):
    name = f"{original}-rebalanced"
    write(name, 10)
    store.write("MATCH (d:Dataset {name: $name}) SET d.rebalanced_by = $job", name=name, job=job)
    yield name
    if find_dataset(store, name) is not None:
        drop_dataset(store, name)
