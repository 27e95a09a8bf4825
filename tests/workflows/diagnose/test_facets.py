"""Groups of concepts: what the graph knows of attributes, and what occurs together."""

from cobalance.graph.database.store import GraphStore
from cobalance.workflows.diagnose.facets import read_facets
from tests.app.conftest import WriteDataset


def test_categories_and_what_occurs_together(
    store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    sea, town = ("boat", "gull", "wave"), ("bus", "tram")
    groups = [("a", sea, 60), ("b", sea, 5), ("b", town, 30), ("a", town, 20), ("a", ("tram",), 9)]
    write_dataset(dataset, groups)
    assert [(one.name, one.concepts) for one in read_facets(store, dataset)] == [
        ("boat, gull, wave", sea),
        ("tram, bus", town),
    ]
    store.write(
        "MATCH (c:Concept {dataset: $dataset}) WHERE c.name IN ['bus', 'gull'] "
        "CREATE (:Attribute {dataset: $dataset, key: ['<b>', c.name], name: c.name, "
        "category: '<b>', flags: [], state: 'accepted'})-[:BECOMES]->(c)",
        dataset=dataset,
    )
    category, together, _ = read_facets(store, dataset)
    assert (category.id, category.concepts) == ("category:<b>", ("bus", "gull"))
    # Of 89 images of a and 35 of b 20 and 30 show a bus, 60 and 5 the sea: all lean.
    assert (category.leaning, together.leaning) == (2, 3)


def test_one_group_of_all_filters_nothing(
    store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("x", "y"), 3), ("b", ("x", "y"), 4)])
    assert read_facets(store, dataset) == ()
