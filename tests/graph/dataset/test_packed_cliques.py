"""The packed cliques equal those of the nodes."""

import pytest

from cobalance.base.errors import StaleError
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset import cliques as module
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import dataset_state


def test_the_packed_cliques_are_those_of_the_nodes(
    store, load, random_annotations, monkeypatch, dump
):
    monkeypatch.setattr(module, "CLIQUES_PER_PART", 7)
    options = MiningOptions(max_size=3, min_support=2, split="train")
    dataset = load(random_annotations(300, n_concepts=12), options)
    nodes = store.read(
        "MATCH (q:Clique {dataset: $dataset}) RETURN q.concepts AS concepts, "
        "COLLECT { MATCH (q)-[n:COUNTED_IN]->(y:Class) RETURN [y.name, n.images] } AS counts",
        dataset=dataset,
    )
    expected = {tuple(row["concepts"]): dict(row["counts"]) for row in nodes}
    assert len(expected) > 3 * 7
    for max_size in (None, 1, 2, 3):
        cliques = load_cliques(store, dataset, max_size=max_size)
        assert cliques.members.shape[1] == (max_size or 3)
        assert cliques.concepts == tuple(sorted({name for names in expected for name in names}))
        rows = [dict(zip(cliques.classes, row, strict=True)) for row in cliques.counts.tolist()]
        assert dict(zip(cliques.names(), rows, strict=True)) == {
            names: counts for names, counts in expected.items() if len(names) <= (max_size or 3)
        }
    sizes = store.read(
        "MATCH (:Image {dataset: $dataset, split: 'train'})-[:LABELED]->(y:Class) "
        "RETURN y.name AS name, count(*) AS images ORDER BY name",
        dataset=dataset,
    )
    assert cliques.class_sizes.tolist() == [row["images"] for row in sizes]
    assert dict(dataset_state(store, dataset).mined_classes) == {
        row["name"]: row["images"] for row in sizes
    }
    before = dump(dataset)
    store.write("MATCH (t:CliqueTable {dataset: $name, part: 1}) DELETE t", name=dataset)
    with pytest.raises(StaleError, match=r"Run `mine\("):
        load_cliques(store, dataset)
    mine_dataset(store, dataset, options, max_cliques=1000)
    assert dump(dataset) == before
