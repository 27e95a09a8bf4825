"""The packed images equal those of the nodes, and are never read when they do not."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention, category
from cobalance.counting.incidence import incidence_of
from cobalance.graph.dataset import incidence_table
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.image_contents import image_digests
from cobalance.graph.dataset.incidence_table import SplitIncidence, read_incidence_table
from cobalance.graph.dataset.mining import MiningOptions, mine_dataset
from cobalance.graph.dataset.read import (
    load_incidence,
    load_named_images,
    read_annotations,
    scan_incidence,
)
from cobalance.graph.dataset.state import dataset_state, find_dataset
from cobalance.graph.dataset.write import dry_run, write_annotations

PACKED = "MATCH (t:IncidenceTable {dataset: $d}) RETURN properties(t) AS part ORDER BY t.part"


@pytest.fixture
def annotations(random_annotations):
    """Some images with splits and some without, and one without a concept."""
    records = list(random_annotations(90, n_concepts=9).records())
    return Annotations.from_records(
        [
            *records,
            ImageRecord("no split", "only here", (Mention("seen once"), Mention("seen once"))),
            ImageRecord("nothing", "only here", (), "test"),
        ]
    )


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(incidence_table, "IMAGES_PER_PART", 20)


def write(store, dataset, annotations, **options):
    write_annotations(store, dataset, annotations, source="a test", **options)


def packed(store, dataset):
    found = read_incidence_table(store, dataset, dataset_state(store, dataset).digest)
    assert found is not None
    return found


def contents(incidence):
    bounds = zip(incidence.indptr[:-1], incidence.indptr[1:], strict=True)
    return Counter(
        (
            incidence.classes[label],
            tuple(incidence.concepts[code] for code in incidence.indices[start:end]),
        )
        for label, (start, end) in zip(incidence.labels, bounds, strict=True)
    )


def of_records(records):
    return Counter(
        (record.class_name, tuple(sorted({mention.concept for mention in record.mentions})))
        for record in records
    )


@pytest.mark.parametrize("split", [None, "train", "test", "no such split"])
def test_the_packed_images_are_those_written(store, dataset, annotations, split):
    write(store, dataset, annotations)
    expected = of_records(r for r in annotations.records() if split in (None, r.split))
    for source in (packed(store, dataset), scan_incidence(store, dataset)):
        incidence = source.of_split(split)
        assert contents(incidence) == expected
        assert set(incidence.classes) == {class_name for class_name, _ in expected}
        assert set(incidence.concepts) == {name for _, names in expected for name in names}
        assert list(incidence.concepts) == sorted(incidence.concepts)


def test_images_are_packed_with_their_ids(store, dataset, annotations):
    write(store, dataset, annotations)
    expected = {
        record.id: (record.class_name, {mention.concept for mention in record.mentions})
        for record in annotations.records()
        if record.split == "train"
    }
    incidence, ids = load_named_images(store, dataset, "train")
    bounds = pairwise(incidence.indptr.tolist())
    assert {
        image: (
            incidence.classes[label],
            {incidence.concepts[code] for code in incidence.indices[start:end]},
        )
        for image, label, (start, end) in zip(ids, incidence.labels, bounds, strict=True)
    } == expected
    assert packed(store, dataset).ids
    store.write("MATCH (t:IncidenceTable {dataset: $d}) DETACH DELETE t", d=dataset)
    assert set(load_named_images(store, dataset, "train")[1]) == set(expected)


def test_mining_reads_the_packed_images(store, dataset, random_annotations):
    write(store, dataset, random_annotations(90))
    # What is not there any more can only come from the copy.
    store.write("MATCH (i:Image {dataset: $d})-[e:CONTAINS]->() DELETE e", d=dataset)
    report = mine_dataset(store, dataset, MiningOptions(2), max_cliques=10**6)
    assert report.by_size[2] > 5


def test_a_copy_of_other_images_or_in_part_is_not_read(store, dataset, annotations):
    write(store, dataset, annotations)
    whole = contents(load_incidence(store, dataset))
    for spoil in (
        "MATCH (t:IncidenceTable {dataset: $d, part: 1}) SET t.digest = t.digest + 1",
        "MATCH (t:IncidenceTable {dataset: $d, part: 1}) DELETE t",
        "MATCH (t:IncidenceTable {dataset: $d}) SET t.digest = 0",
        "MATCH (t:IncidenceTable {dataset: $d}) DELETE t",
    ):
        store.write(spoil, d=dataset)
        assert read_incidence_table(store, dataset, dataset_state(store, dataset).digest) is None
        assert contents(load_incidence(store, dataset)) == whole


def test_a_change_packs_the_images_anew(store, dataset, annotations):
    write(store, dataset, annotations)
    more = [ImageRecord("new", "new class", (Mention("a new concept"),), "train")]
    write(store, dataset, Annotations.from_records(more), if_exists="append")
    expected = of_records([*annotations.records(), *more])
    assert contents(packed(store, dataset).of_split(None)) == expected
    write(store, dataset, Annotations.from_records(more), if_exists="replace")
    assert contents(packed(store, dataset).of_split(None)) == of_records(more)
    assert len(store.read(PACKED, d=dataset)) == 1


def test_equal_images_are_packed_alike_in_whatever_order_they_come(store, dataset, annotations):
    records = list(annotations.records())
    write(store, dataset, annotations)
    at_once = store.read(PACKED, d=dataset)
    drop_dataset(store, dataset)
    assert store.read(PACKED, d=dataset) == []
    for some in (records[60:], records[:60]):  # the second is read back from the graph
        write(store, dataset, Annotations.from_records(reversed(some)), if_exists="append")
    assert store.read(PACKED, d=dataset) == at_once


def test_an_interrupted_load_is_not_read_packed(store, dataset, annotations):
    write(store, dataset, annotations)

    def stop(stage, done, total):
        if stage == "co-occurrence":
            raise KeyboardInterrupt

    fewer = Annotations.from_records(list(annotations.records())[:50])
    with pytest.raises(KeyboardInterrupt):
        write(store, dataset, fewer, if_exists="replace", progress=stop)
    state = find_dataset(store, dataset)
    assert state is not None
    assert read_incidence_table(store, dataset, state.digest) is None
    assert contents(load_incidence(store, dataset)) == of_records(fewer.records())


def test_a_rename_takes_the_packed_images_along(store, dataset, annotations):
    write(store, dataset, annotations)
    before = contents(load_incidence(store, dataset))
    rename_dataset(store, dataset, f"{dataset} renamed")
    assert contents(packed(store, f"{dataset} renamed").of_split(None)) == before


def test_images_without_any_concept(store, dataset):
    write(store, dataset, Annotations.from_records([ImageRecord("1", "a"), ImageRecord("2", "b")]))
    incidence = packed(store, dataset).of_split(None)
    assert incidence.concepts == ()
    assert incidence.classes == ("a", "b")
    assert incidence.indptr.tolist() == [0, 0, 0]


def test_the_order_depends_on_the_contents_alone(annotations):
    incidence = load_shuffled(annotations, 0)
    for seed in (1, 2):
        other = load_shuffled(annotations, seed)
        assert other.splits.tolist() == incidence.splits.tolist()
        assert other.incidence.labels.tolist() == incidence.incidence.labels.tolist()
        assert other.incidence.indices.tolist() == incidence.incidence.indices.tolist()
        assert other.incidence.indptr.tolist() == incidence.incidence.indptr.tolist()


def load_shuffled(annotations: Annotations, seed: int) -> SplitIncidence:
    records = list(annotations.records())
    order = np.random.default_rng(seed).permutation(len(records))
    some = Annotations.from_records(records[at] for at in order)
    split = some.images["split"].cat
    return SplitIncidence(
        incidence_of(some), split.codes.to_numpy(dtype=np.int64), tuple(split.categories)
    ).sort_images()


def grouped(images, names):
    """The ids of each cluster, by the least of them; images on their own are left out."""
    groups = {}
    for name, code in zip(names, images.incidence.clusters.tolist(), strict=True):
        groups.setdefault(code, set()).add(name)
    assert all(code >= 0 for code, ids in groups.items() if len(ids) > 1)
    return sorted(sorted(ids) for ids in groups.values())


def test_clusters_are_packed_and_read_back(store, dataset):
    records = [
        ImageRecord(str(at), "ab"[at % 2], (Mention("sea"),), cluster=cluster)
        for at, cluster in enumerate(["v2", None, "v1", "v2", "v1", "v3"])
    ]
    annotations = Annotations.from_records(records)
    write(store, dataset, annotations)
    expected = [["0", "3"], ["1"], ["2", "4"], ["5"]]
    for images in (packed(store, dataset), scan_incidence(store, dataset)):
        assert grouped(images, images.ids) == expected
    assert packed(store, dataset).of_split(None).clusters.min() == -1
    again = read_annotations(store, dataset)
    assert list(again.records()) == records
    assert dry_run(store, dataset, again, source="a test").unchanged == 6
    moved = [*records[:5], replace(records[5], cluster="v1")]
    write(store, dataset, Annotations.from_records(moved))
    images = packed(store, dataset)
    assert grouped(images, images.ids) == [["0", "3"], ["1"], ["2", "4", "5"]]


def test_images_without_clusters_have_the_digests_that_they_had(annotations):
    images = annotations.images.assign(cluster=category([None] * len(annotations.images)))
    assert (image_digests(replace(annotations, images=images)) == image_digests(annotations)).all()
    assert incidence_of(replace(annotations, images=images)).clusters is None
