"""Counts that are kept on datasets and classes equal a recount of the nodes, at every moment."""

import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.cliques import clique_totals
from cobalance.graph.dataset.mining import MiningOptions, mine_dataset
from cobalance.graph.dataset.state import list_datasets
from cobalance.graph.dataset.write import write_annotations

RECOUNT = """
RETURN COUNT { MATCH (:Clique {dataset: $d, size: 1}) } AS concepts,
  COUNT { MATCH (:Clique {dataset: $d}) } AS cliques,
  COUNT { MATCH (q:Clique {dataset: $d}) WHERE q.gap > 0 } AS imbalanced,
  COUNT { MATCH (q:Clique {dataset: $d}) WHERE q.q_value <= 0.05 } AS leaning,
  COUNT { MATCH (q:Clique {dataset: $d}) WHERE q.q_value > 0.05 AND q.gap > 0 } AS unproven"""
EMPTY = """
MATCH (y:Class {dataset: $d})
RETURN y.name AS class, COUNT {
  MATCH (y)<-[:LABELED]-(i) WHERE NOT EXISTS { (i)-[:CONTAINS]->() } } AS images"""


def listed(store, dataset):
    frame = list_datasets(store)
    return int(frame.loc[frame["dataset"] == dataset, "cliques"].item())


def recounted(store, dataset):
    (row,) = store.read(RECOUNT, d=dataset)
    return row


def write(store, dataset, records, **options):
    write_annotations(store, dataset, Annotations.from_records(records), source="a test", **options)


@pytest.fixture
def records(random_annotations):
    some = list(random_annotations(120, n_concepts=8).records())
    even = (ImageRecord(name, name, (Mention("even"),)) for name in {r.class_name for r in some})
    return [*some, *even, *(ImageRecord(f"empty {i}", some[0].class_name) for i in range(3))]


def test_totals_of_cliques(store, dataset, records):
    lone = ImageRecord("lone", records[0].class_name, (Mention("only here"), Mention("and this")))
    write(store, dataset, [*records, lone])
    assert listed(store, dataset) == 0
    for options in (MiningOptions(3), MiningOptions(3, common=()), MiningOptions(2, min_support=4)):
        report = mine_dataset(store, dataset, options, max_cliques=10**6)
        # Of rare concepts the graph does not tell why they were not mined.
        is_told = options.min_support == 1
        expected = recounted(store, dataset) | {"left_out": report.left_out if is_told else 0}
        assert report.left_out == (0 if options.common == () else 2)
        assert expected["cliques"] >= expected["imbalanced"] > 0
        assert vars(clique_totals(store, dataset)) == expected
        assert listed(store, dataset) == expected["cliques"]
        store.write("MATCH (q:Clique {dataset: $d, size: 2}) DETACH DELETE q", d=dataset)
        assert vars(clique_totals(store, dataset)) == expected, "they are the kept ones"
    # Of images that have changed only what is there counts.
    write(store, dataset, [ImageRecord("new", "b", (Mention("new"),))], if_exists="replace")
    assert listed(store, dataset) == recounted(store, dataset)["cliques"]


def test_images_without_concepts(store, dataset, records, ask):
    def check(expected):
        rows = {row["class"]: row["images"] for row in ask("images-without-concepts")}
        assert rows == {row["class"]: row["images"] for row in store.read(EMPTY, d=dataset)}
        assert sum(rows.values()) == expected

    empty = sum(not record.mentions for record in records)
    write(store, dataset, records)
    check(empty)
    write(store, dataset, [ImageRecord("more", "a third class")], if_exists="append")
    check(empty + 1)
    filled = [ImageRecord("more", "a third class", (Mention("x"),))]
    write(store, dataset, filled)
    check(empty)
    write(store, dataset, filled, if_exists="replace")
    check(0)
