"""Work on images block by block gives what work on all of them at once gives."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base import mention_rows
from cobalance.base.mention_rows import MentionRows
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.incidence import incidence_of
from cobalance.graph.dataset import image_contents
from cobalance.graph.dataset.image_contents import ImageContents, image_digests

mentions = st.builds(
    Mention,
    st.sampled_from("uvwx"),
    st.sampled_from(("annotation", "model")),
    st.none() | st.just(0.5),
)
records = st.lists(st.lists(mentions, max_size=4), max_size=11).map(
    lambda shown: [
        ImageRecord(str(at), "ab"[at % 2], tuple(some), synthetic=at % 3 == 0)
        for at, some in enumerate(shown)
    ]
)


@pytest.fixture(autouse=True, scope="module")
def blocks_of_three() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mention_rows, "BLOCK", 3)
        patch.setattr(image_contents, "BLOCK", 3)
        yield


def shuffled(annotations: Annotations, seed: int) -> Annotations:
    rows = list(range(len(annotations.mentions)))
    Random(seed).shuffle(rows)
    return Annotations(annotations.images, annotations.mentions.iloc[rows].reset_index(drop=True))


@settings(max_examples=30)
@given(records, st.none() | st.integers(0, 9))
def test_incidence(some: list[ImageRecord], seed: int | None) -> None:
    annotations = Annotations.from_records(some)
    if seed is not None:
        annotations = shuffled(annotations, seed)
    found = incidence_of(annotations)
    shown = [
        [found.concepts[code] for code in found.indices[start:end].tolist()]
        for start, end in zip(found.indptr[:-1], found.indptr[1:], strict=True)
    ]
    assert shown == [sorted({mention.concept for mention in one.mentions}) for one in some]
    assert [found.classes[code] for code in found.labels] == [one.class_name for one in some]


@settings(max_examples=30)
@given(records, st.none() | st.integers(0, 9))
def test_digests_and_edges(some: list[ImageRecord], seed: int | None) -> None:
    """Each image's are those that it has alone."""
    annotations = Annotations.from_records(some)
    if seed is not None:
        annotations = shuffled(annotations, seed)
    edges = ImageContents.of(annotations).edges(np.arange(len(some)))
    digests = image_digests(annotations).tolist()
    assert len(edges) == len(digests) == len(some)
    for one, edge, digest in zip(some, edges, digests, strict=True):
        names, _, scores, counts = edge
        of_concept = {name: [m for m in one.mentions if m.concept == name] for name in names}
        assert list(names) == sorted({mention.concept for mention in one.mentions})
        assert list(counts) == [len(found) for found in of_concept.values()]
        certain = [None in [m.score for m in found] for found in of_concept.values()]
        assert [score is None for score in scores] == certain
        assert image_digests(Annotations.from_records([one])).tolist() == [digest]
    everything = np.arange(len(some))
    assert ImageContents.of(annotations).concepts_of(everything) == sorted(
        {mention.concept for one in some for mention in one.mentions}
    )


def test_digests_stay_what_stored_datasets_have() -> None:
    shown = (Mention("sofa"), Mention("bed", "model", 0.5))
    some = [ImageRecord("a", "cat", shown, "train"), ImageRecord("b", "cat", synthetic=True)]
    digests = image_digests(Annotations.from_records(some)).tolist()
    assert digests == [-3101148147700195239, 2943698314848099613]


def test_blocks_cover_all_images_without_a_copy_where_mentions_are_in_order() -> None:
    some = [ImageRecord(str(at), "a", (Mention("x"),) * (at % 3)) for at in range(8)]
    annotations = Annotations.from_records(some)
    found = list(MentionRows.of(annotations).blocks())
    assert [(first, end) for first, end, _ in found] == [(0, 3), (3, 6), (6, 8)]
    assert [rows for _, _, rows in found] == [slice(0, 3), slice(3, 6), slice(6, 7)]
