"""Nodes by id and by name, with their relationships counted by type."""

from collections.abc import Callable

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.database import schema
from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries.nodes import name_of, read_named, read_node, read_node_names


def test_a_node_with_its_relationships(load: Callable[..., str], store: GraphStore) -> None:
    hostile = "}) DETACH DELETE n //"
    rows = [("a", (hostile, "b")), ("a", (hostile,)), ("c", ("b",))]
    records = [
        ImageRecord(f"{i}", class_name, tuple(map(Mention, concepts)))
        for i, (class_name, concepts) in enumerate(rows)
    ]
    dataset = load(Annotations.from_records(records))
    concept = read_named(store, schema.CONCEPT, dataset, hostile)
    assert concept is not None
    assert (concept.labels, concept.name) == (("Concept",), hostile)
    assert concept.degrees["CONTAINS"] == 2
    assert concept.degrees["CO_OCCURS"] == 2  # with b, and with the class
    assert "HAS" not in concept.degrees  # it is not mined
    class_node = read_named(store, schema.CLASS, dataset, "a")
    assert class_node is not None
    assert class_node.degrees["LABELED"] == 2
    (row,) = store.read(
        "MATCH (n:Concept {dataset: $dataset, name: $name}) RETURN elementId(n) AS id",
        dataset=dataset,
        name=hostile,
    )
    assert read_node(store, row["id"]) == concept
    assert read_node_names(store, [row["id"], "4:none:1"]) == {row["id"]: hostile}
    assert read_node(store, "nothing of the kind") is None
    assert read_named(store, schema.CONCEPT, dataset, "a") is None


def test_what_people_call_a_node() -> None:
    assert name_of(["Clique"], {"concepts": ["a", "b"], "digest": 1}) == "a + b"
    assert name_of(["GenerationQuery"], {"class_name": "x", "concepts": []}) == "x: no concept"
    assert name_of(["Attribute"], {"key": ["scene", "night"]}) == "scene \N{MIDDLE DOT} night"
    assert name_of(["Image"], {"id": "1.jpg", "plan": "p"}) == "1.jpg"
    assert name_of([], {"name": 3}) == "node"
