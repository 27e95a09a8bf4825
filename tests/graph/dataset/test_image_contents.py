"""Edges of images from their mentions."""

import tracemalloc

import numpy as np

from cobalance.graph.dataset.image_contents import ImageContents
from cobalance.graph.records import Annotations, ImageRecord, Mention

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
