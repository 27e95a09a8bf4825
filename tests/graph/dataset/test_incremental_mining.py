"""Mining follows images that changed, and gives what counting all of them gives."""

import numpy as np
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import MiningReport, mine_dataset
from cobalance.graph.dataset.write import write_annotations

PARTS = "MATCH (t:IncidenceTable {dataset: $d}) RETURN t.part AS part ORDER BY part"
OPTIONS = MiningOptions(3, min_support=2)


@pytest.fixture
def records(random_annotations):
    return list(random_annotations(160, n_concepts=6).records())


def write(store, dataset, records, **options):
    write_annotations(store, dataset, Annotations.from_records(records), source="test", **options)


def mine(store, dataset, options=OPTIONS, **given) -> MiningReport:
    return mine_dataset(store, dataset, options, max_cliques=10**6, **given)


def parts(store, dataset):
    return [row["part"] for row in store.read(PARTS, d=dataset)]


def test_only_images_that_changed_are_counted(store, dataset, records, dump):
    write(store, dataset, records)
    assert mine(store, dataset).describe() == "Counted 160 images."
    assert parts(store, dataset) == [0]

    shown = (Mention("brand new"), Mention("concept 0"))
    new = [ImageRecord(f"new {n}", records[n].class_name, shown) for n in range(5)]
    changed = [ImageRecord(records[0].id, records[0].class_name, (Mention("brand new"),))]
    now = [*changed, *records[1:150], *new]
    write(store, dataset, [*changed, *new])
    assert parts(store, dataset) == [-1, 0], "those that were mined stay"
    write(store, dataset, now, if_exists="replace")
    assert parts(store, dataset) == [-1, 0]
    report = mine(store, dataset)
    assert report.describe() == "Counted 16 changed images of 155."  # 1 changed, 5 came, 10 went
    assert parts(store, dataset) == [0]
    followed, found = dump(dataset), load_cliques(store, dataset)

    drop_dataset(store, dataset)
    write(store, dataset, now)
    assert mine(store, dataset).changed is None
    counted = load_cliques(store, dataset)
    assert found.names() == counted.names()
    np.testing.assert_array_equal(found.counts, counted.counts)
    assert dump(dataset) == followed


def test_when_all_images_are_counted(store, dataset, records):
    write(store, dataset, records)
    mine(store, dataset)
    assert mine(store, dataset).changed is None, "the same images again"
    write(store, dataset, records[:150], if_exists="replace")
    assert mine(store, dataset, MiningOptions(2)).changed is None, "other options"
    write(store, dataset, records, if_exists="replace")
    store.write("MATCH (t:IncidenceTable {dataset: $d}) WHERE t.part < 0 DELETE t", d=dataset)
    assert mine(store, dataset, MiningOptions(2)).changed is None, "of an older version"
    write(store, dataset, records[:150], if_exists="replace")
    assert mine(store, dataset, MiningOptions(2, confidence=0.9)).changed == 10


def test_a_copy_follows_the_dataset_it_was_made_from(store, dataset, records):
    write(store, dataset, records)
    mine(store, dataset)
    copy = f"{dataset} renamed"
    write(store, copy, records[3:])
    assert mine(store, copy, since=dataset).describe() == "Counted 3 changed images of 157."
    followed = load_cliques(store, copy)
    mine(store, copy)
    np.testing.assert_array_equal(load_cliques(store, copy).counts, followed.counts)
