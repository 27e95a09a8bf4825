"""Edges of images from their mentions."""

import tracemalloc
from dataclasses import replace
from itertools import permutations

import numpy as np

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.image_contents import ImageContents, image_digests
from cobalance.graph.dataset.write import dataset_digest

RECORDS = [
    ImageRecord("a", "x", (Mention("tree", score=0.5), Mention("dog"), Mention("tree", score=0.9))),
    ImageRecord("b", "x"),
    ImageRecord("c", "x", (Mention("sea", "model", 0.25), Mention("dog"), Mention("dog"))),
]


def test_images_are_asked_for_in_any_order_and_some_show_nothing():
    contents = ImageContents.of(Annotations.from_records(RECORDS))
    assert contents.edges(np.array([2, 1, 0])) == [
        [["dog", "sea"], ["annotation", "model"], [None, 0.25], [2, 1]],
        [[], [], [], []],
        [["dog", "tree"], ["annotation"] * 2, [None, 0.9], [1, 2]],
    ]
    assert contents.concepts_of(np.array([0, 1])) == ["dog", "tree"]
    assert contents.concepts_of(np.array([1])) == []


def test_mentions_are_kept_as_numbers():
    """As lists of Python objects they took 32 bytes and more each."""
    records = [
        ImageRecord(str(n), "x", [Mention(f"c{(n * k) % 50}") for k in range(1, 9)])
        for n in range(2_000)
    ]
    annotations = Annotations.from_records(records)
    tracemalloc.start()
    try:
        contents = ImageContents.of(annotations)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 8 * len(contents.scores)


def digest_of(*records):
    digests = image_digests(Annotations.from_records(records))
    return dataset_digest(digests, (), len(digests))


def test_a_digest_follows_from_the_image_alone():
    """Not from the images beside it, their number, or the order of its mentions."""
    alone = [image_digests(Annotations.from_records([record]))[0] for record in RECORDS]
    for order in permutations(range(3)):
        together = image_digests(Annotations.from_records([RECORDS[at] for at in order]))
        assert together.tolist() == [alone[at] for at in order]
    turned = [replace(record, mentions=record.mentions[::-1]) for record in RECORDS]
    assert image_digests(Annotations.from_records(turned)).tolist() == alone


def test_content_that_moves_between_images_changes_the_sum():
    """Concepts, classes, splits, addresses, scores and sources, between any two of three images."""
    before = [
        ImageRecord("a", "x", (Mention("tree", "m", 0.5), Mention("dog")), "train", "1.jpg", 4, 3),
        ImageRecord("b", "y", (Mention("tree", "n", 0.25),), "test", "2.jpg", 5, 6),
        ImageRecord("c", "y", (), None, "3.jpg", 7, 8),
    ]
    digest = digest_of(*before)
    names = ("class_name", "mentions", "split", "uri", "width_px", "height_px")
    moves = 0
    for one, other in ((0, 1), (0, 2), (1, 2)):
        for name in names:
            values = getattr(before[one], name), getattr(before[other], name)
            if values[0] == values[1]:
                continue
            after = list(before)
            after[one] = replace(before[one], **{name: values[1]})
            after[other] = replace(before[other], **{name: values[0]})
            assert digest_of(*after) != digest, (one, other, name)
            moves += 1
    assert moves == 17
    assert digest_of(*before[::-1]) == digest
