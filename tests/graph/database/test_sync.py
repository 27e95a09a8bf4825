"""Synchronising edges: created, updated and deleted, as the dataset's writer alone."""

import pytest

from cobalance.base.errors import StoreError
from cobalance.graph.database import schema
from cobalance.graph.database.claim import Claim
from cobalance.graph.database.sync import sync_edges

EDGES = (
    "MATCH (a:Concept {dataset: $dataset})-[e:CO_OCCURS]->(b:Concept) "
    "RETURN a.name AS start, b.name AS end, e.images AS images ORDER BY start, end"
)


@pytest.fixture
def concepts(store, dataset):
    """A dataset of four concepts without an edge."""
    keys = ["a", "b", "c", "d"]
    store.write("CREATE (:Dataset {name: $dataset, updated_at: datetime()})", dataset=dataset)
    store.write(
        "UNWIND $keys AS key CREATE (:Concept {dataset: $dataset, name: key})",
        dataset=dataset,
        keys=keys,
    )
    return keys


def stored(store, dataset):
    rows = store.read(EDGES, dataset=dataset)
    return {(row["start"], row["end"]): row["images"] for row in rows}


def test_edges_become_those_wanted(store, dataset, concepts):
    writer = Claim.take(store, dataset)
    for wanted, differ in (
        ({("a", "c"): (3,), ("a", "b"): (1,), ("b", "d"): (2,)}, True),
        ({("a", "b"): (5,), ("b", "d"): (2,), ("c", "d"): (7,)}, True),  # of each kind one
        ({("a", "b"): (5,), ("b", "d"): (2,), ("c", "d"): (7,)}, False),
        ({}, True),
        ({}, False),
    ):
        assert sync_edges(writer, schema.CO_OCCURS, wanted) is differ
        assert stored(store, dataset) == {ends: images for ends, (images,) in wanted.items()}


def test_edges_of_several_batches(store, dataset, concepts, monkeypatch):
    monkeypatch.setattr("cobalance.graph.database.sync.EDGE_BATCH", 2)
    wanted = {(a, b): (ord(a) + ord(b),) for a in concepts for b in concepts if a < b}
    writer = Claim.take(store, dataset)
    sync_edges(writer, schema.CO_OCCURS, wanted)
    assert stored(store, dataset) == {ends: images for ends, (images,) in wanted.items()}


@pytest.mark.parametrize("before", [{}, {("a", "b"): (1,)}, {("c", "d"): (4,)}])
def test_whoever_has_lost_the_claim_changes_no_edge(store, dataset, concepts, before):
    first = Claim.take(store, dataset)
    sync_edges(first, schema.CO_OCCURS, before)
    Claim.take(store, dataset)
    with pytest.raises(StoreError, match="Another process"):
        sync_edges(first, schema.CO_OCCURS, {("a", "b"): (2,)})
    assert stored(store, dataset) == {ends: images for ends, (images,) in before.items()}


def test_an_end_that_is_gone_is_an_error_and_nothing_is_written(store, dataset, concepts):
    writer = Claim.take(store, dataset)
    for lost in (("a", "nowhere"), ("nowhere", "z")):
        wanted = {("a", "b"): (1,), lost: (1,)}
        with pytest.raises(StoreError):
            sync_edges(writer, schema.CO_OCCURS, wanted)
        assert stored(store, dataset) == {}


def test_an_edge_that_is_there_twice_does_not_stop_a_writer(store, dataset, concepts):
    """Two writers at once could leave one, before edges were written under the claim."""
    store.write(
        "MATCH (a:Concept {dataset: $dataset, name: 'a'}), (b:Concept {dataset: $dataset, "
        "name: 'b'}) CREATE (a)-[:CO_OCCURS {images: 1}]->(b), (a)-[:CO_OCCURS {images: 1}]->(b)",
        dataset=dataset,
    )
    writer = Claim.take(store, dataset)
    sync_edges(writer, schema.CO_OCCURS, {("a", "b"): (2,)})
    assert [row["images"] for row in store.read(EDGES, dataset=dataset)] == [2, 2]
    sync_edges(writer, schema.CO_OCCURS, {})
    assert stored(store, dataset) == {}
