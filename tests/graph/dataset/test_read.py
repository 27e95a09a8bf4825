"""What is read back from the graph is what was written, and loads into another dataset as that."""

import pytest

from cobalance.base.errors import NotFoundError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.image_contents import image_digests
from cobalance.graph.dataset.read import read_annotations, read_class_images
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.dataset.write import write_annotations


def write(store, dataset, annotations):
    return write_annotations(store, dataset, annotations, source="a test")


def plain(record):
    """A record as the graph keeps it: without regions, each concept's mentions alike."""
    best = {}
    for mention in record.mentions:
        held = best.get(mention.concept)
        # What has no score is certain; of equals the first by its source's name stays.
        rank = (-2.0 if mention.score is None else -mention.score, mention.source)
        if held is None or rank < held[0]:
            best[mention.concept] = (rank, mention.source, mention.score)
    mentions = sorted((mention.concept, *best[mention.concept][1:]) for mention in record.mentions)
    return (
        record.id, record.class_name, record.split, record.uri, record.width_px, record.height_px,
        record.synthetic, [tuple(map(str, mention)) for mention in mentions],
    )  # fmt: skip


def test_all_that_the_graph_keeps_is_read(store, dataset, random_annotations):
    annotations = random_annotations(300)
    write(store, dataset, annotations)
    read = read_annotations(store, dataset)
    found = list(read.records())
    assert [record.id for record in found] == sorted(record.id for record in found)
    assert sorted(map(plain, found), key=str) == sorted(map(plain, annotations.records()), key=str)
    written = Annotations.from_records(found)
    assert (read.images.dtypes == written.images.dtypes).all()
    assert (read.mentions.dtypes == written.mentions.dtypes).all()


def test_written_into_another_dataset_it_is_the_same(store, dataset, random_annotations, dump):
    once = {}
    for record in random_annotations(300).records():
        mentions = {mention.concept: mention for mention in record.mentions}
        # Mentions of a concept that agree, as annotations without a score do.
        twice = [mention for name in mentions for mention in (mentions[name],) * 2]
        once[record.id] = ImageRecord(
            record.id, record.class_name, tuple(twice), record.split, record.uri,
            record.width_px, record.height_px, synthetic=record.id.endswith("7"),
        )  # fmt: skip
    annotations = Annotations.from_records(once.values())
    write(store, dataset, annotations)
    read = read_annotations(store, dataset)
    assert dict(zip(read.images["id"], image_digests(read).tolist(), strict=True)) == dict(
        zip(annotations.images["id"], image_digests(annotations).tolist(), strict=True)
    )
    before = dump(dataset)
    other = f"{dataset} renamed"
    assert write(store, other, read).created == 300
    assert {text.replace("DATASET renamed", "DATASET") for text in dump(other)} == before
    assert dataset_state(store, other).digest == dataset_state(store, dataset).digest
    assert write(store, dataset, read).unchanged == 300


def test_what_differs_within_an_image_settles_at_once(store, dataset, random_annotations):
    write(store, dataset, random_annotations(200))
    first = read_annotations(store, dataset)
    other = f"{dataset} renamed"
    write(store, other, first)
    second = read_annotations(store, other)
    assert image_digests(second).tolist() == image_digests(first).tolist()
    assert list(second.records()) == list(first.records())


def test_images_without_concepts_and_no_dataset(store, dataset):
    records = [ImageRecord(str(i), "ab"[i % 2]) for i in range(5)]
    write(store, dataset, Annotations.from_records(records))
    assert list(read_annotations(store, dataset).records()) == records
    with pytest.raises(NotFoundError):
        read_annotations(store, f"{dataset} renamed")


def test_progress_is_told(store, dataset, random_annotations):
    told = []
    write(store, dataset, random_annotations(20))
    read_annotations(store, dataset, lambda *step: told.append(step))
    assert told[-1] == ("read images", 20, 20)


def test_the_real_images_of_each_class(store, dataset):
    records = [
        ImageRecord("b", "bird", (Mention("sea"),), "train", "b.jpg"),
        ImageRecord("a", "bird", (), "test", "a.jpg"),
        ImageRecord("\U0001f426", "bird", (), "train", "c.jpg"),
        ImageRecord("\uffee", "bird", (), "train", "d.jpg"),
        ImageRecord("x", "bird", (), "train", "x.png", synthetic=True),
        ImageRecord("nowhere", "bird", (), "train"),
        ImageRecord("c", "cat", (), "test", "c.jpg"),
        ImageRecord("d", "dog"),
    ]
    write(store, dataset, Annotations.from_records(records))
    found = read_class_images(store, dataset)
    assert list(found) == ["bird", "cat"]
    assert found["bird"].ids == ("a", "b", "\uffee", "\U0001f426")
    assert found["bird"].uris == ("a.jpg", "b.jpg", "d.jpg", "c.jpg")
    train = read_class_images(store, dataset, split="train")
    assert list(train) == ["bird"]
    assert train["bird"].ids == ("b", "\uffee", "\U0001f426")
    with pytest.raises(NotFoundError):
        read_class_images(store, f"{dataset} renamed")
