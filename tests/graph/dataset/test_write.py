"""Annotations become a graph: exactly, only once, and whole after any interruption."""

from collections import Counter
from itertools import combinations

import pytest

from cobalance.base.errors import OptionError, StaleError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.database.sync import BATCH
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.state import dataset_state, list_datasets
from cobalance.graph.dataset.write import dry_run, write_annotations


def write(store, dataset, annotations, **options):
    return write_annotations(store, dataset, annotations, source="a test", **options)


def test_a_record_is_in_the_graph(store, dataset):
    record = ImageRecord(
        "7",
        "urban",
        (
            Mention("cow", "model", 0.25, 20.0, (1.0, 2.0, 3.0, 4.0)),
            Mention("cow", "model", 0.75, 10.0, (5.0, 6.0, 7.0, 8.0)),
            Mention("road"),
        ),
        "train",
        "cars/7.jpg",
        640,
        480,
    )
    write(store, dataset, Annotations.from_records([record]))
    (image,) = store.read(
        "MATCH (i:Image {dataset: $d})-[:LABELED]->(y:Class) "
        "RETURN i.id AS id, i.split AS split, i.uri AS uri, i.width_px AS w, i.height_px AS h, "
        "i.synthetic AS synthetic, y.name AS class",
        d=dataset,
    )
    assert image == {
        "id": "7",
        "split": "train",
        "uri": "cars/7.jpg",
        "w": 640,
        "h": 480,
        "synthetic": False,
        "class": "urban",
    }
    edges = store.read(
        "MATCH (:Image {dataset: $d})-[r:CONTAINS]->(c:Concept) "
        "RETURN c.name AS name, properties(r) AS r ORDER BY name",
        d=dataset,
    )
    assert edges[0]["r"] == {
        "source": "model",
        "score": 0.75,
        "count": 2,
    }
    assert edges[1]["r"] == {"source": "annotation", "count": 1}


def test_edges_equal_a_recount_of_the_records(store, dataset, random_annotations):
    annotations = random_annotations(300)
    write(store, dataset, annotations)
    pairs, labelled = Counter(), Counter()
    for record in annotations.records():
        names = sorted({mention.concept for mention in record.mentions})
        pairs.update(combinations(names, 2))
        labelled.update((record.class_name, name) for name in names)
    stored = store.read(
        "MATCH (a {dataset: $d})-[e:CO_OCCURS]->(b) "
        "RETURN labels(a)[0] AS kind, a.name AS start, b.name AS end, e.images AS images",
        d=dataset,
    )
    assert {(r["start"], r["end"]): r["images"] for r in stored if r["kind"] == "Concept"} == pairs
    assert {(r["start"], r["end"]): r["images"] for r in stored if r["kind"] == "Class"} == labelled


def test_incidence_read_back_is_the_one_written(store, dataset, random_annotations):
    annotations = random_annotations(200)
    write(store, dataset, annotations)
    incidence = load_incidence(store, dataset)
    found = Counter()
    for i in range(len(incidence.labels)):
        codes = incidence.indices[incidence.indptr[i] : incidence.indptr[i + 1]]
        names = frozenset(incidence.concepts[code] for code in codes)
        found[incidence.classes[incidence.labels[i]], names] += 1
    assert found == Counter(
        (record.class_name, frozenset(m.concept for m in record.mentions))
        for record in annotations.records()
    )
    in_train = load_incidence(store, dataset, "train")
    assert len(in_train.labels) == (annotations.images["split"] == "train").sum()


def test_the_same_again_changes_nothing(store, dataset, random_annotations, dump):
    annotations = random_annotations(200)
    first = write(store, dataset, annotations)
    assert (first.created, first.unchanged) == (200, 0)
    before = dump(dataset)
    updated_at = list_datasets(store).set_index("dataset").loc[dataset, "updated_at"]
    # The same content in another order is the same content.
    records = list(annotations.records())[::-1]
    records = [
        ImageRecord(r.id, r.class_name, r.mentions[::-1], r.split, r.uri, r.width_px, r.height_px)
        for r in records
    ]
    again = write(store, dataset, Annotations.from_records(records))
    assert (again.created, again.updated, again.deleted, again.unchanged) == (0, 0, 0, 200)
    assert dump(dataset) == before
    assert list_datasets(store).set_index("dataset").loc[dataset, "updated_at"] == updated_at


def test_changes_give_the_graph_that_a_fresh_load_gives(store, dataset, random_annotations, dump):
    old, new = random_annotations(120, seed=1), random_annotations(90, seed=2)
    write(store, dataset, old)
    report = write(store, dataset, new, if_exists="replace")
    assert (report.deleted, report.kept) == (30, 0)
    assert report.created == 0
    changed = dump(dataset)
    drop_dataset(store, dataset)
    write(store, dataset, new)
    assert dump(dataset) == changed


def test_images_without_any_concept(store, dataset):
    records = [ImageRecord(str(i), "ab"[i % 2]) for i in range(5)]
    assert write(store, dataset, Annotations.from_records(records)).created == 5
    incidence = load_incidence(store, dataset)
    assert sorted(incidence.class_sizes().tolist()) == [2, 3]
    assert incidence.concepts == ()


def test_without_replace_other_images_stay(store, dataset, random_annotations, dump):
    both = list(random_annotations(100).records())
    write(store, dataset, Annotations.from_records(both[:60]))
    report = write(store, dataset, Annotations.from_records(both[60:]), if_exists="append")
    assert (report.created, report.kept) == (40, 60)
    in_two_parts = dump(dataset)
    drop_dataset(store, dataset)
    write(store, dataset, Annotations.from_records(both))
    assert dump(dataset) == in_two_parts


class StopError(Exception):
    """Raised by a progress callback to break off in the middle."""


def test_interrupted_anywhere_it_goes_on_to_the_same_graph(
    store, dataset, random_annotations, dump
):
    annotations = random_annotations(3 * BATCH)
    write(store, dataset, annotations)
    whole = dump(dataset)
    drop_dataset(store, dataset)
    for allowed in (1, 2, 3, 4):
        calls = 0

        def stop_after(stage, done, total, allowed=allowed):
            nonlocal calls
            calls += 1
            if calls > allowed:
                raise StopError

        try:
            write(store, dataset, annotations, progress=stop_after)
        except StopError:
            with pytest.raises(StaleError, match="goes on where it stopped"):
                dataset_state(store, dataset).require_complete()
    write(store, dataset, annotations)
    assert dump(dataset) == whole


@pytest.mark.parametrize("name", ["", " x", "x ", "a\nb", "x" * 201])
def test_a_name_that_cannot_be_typed_again_is_refused(store, random_annotations, name):
    with pytest.raises(OptionError, match="cannot name a dataset"):
        write(store, name, random_annotations(1))


@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_a_dry_run_tells_what_the_load_does(store, dataset, dump, random_annotations, if_exists):
    assert dry_run(store, dataset, random_annotations(30), source="a test").created == 30
    assert dump(dataset) == set()
    write(store, dataset, random_annotations(30))
    before = dump(dataset)
    for other in (random_annotations(30), random_annotations(20, seed=1)):
        told = dry_run(store, dataset, other, source="a test", if_exists=if_exists)
        assert dump(dataset) == before
        done = write(store, dataset, other, if_exists=if_exists)
        assert told == done
        before = dump(dataset)


def test_a_dry_run_of_a_name_that_no_dataset_can_have(store, random_annotations):
    with pytest.raises(OptionError, match="cannot name a dataset"):
        dry_run(store, " ", random_annotations(1), source="a test")
