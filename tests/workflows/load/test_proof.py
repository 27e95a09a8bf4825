"""The few images by which a person sees whether annotations were read as meant."""

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.workflows.load.check import MOST_SHOWN, proof_of


def record(row: int, class_name: str, *concepts: str) -> ImageRecord:
    box = (float(row), 1.0, 2.0, 3.0)
    mentions = tuple(Mention(concept, box=box) for concept in concepts)
    return ImageRecord(f"i{row}", class_name, mentions, uri=f"{row}.jpg", width_px=9, height_px=9)


def test_images_of_each_class_with_what_was_read() -> None:
    records = [
        record(row, "cat" if row % 5 else "dog", *(["sofa", "toy", "sofa"] if row != 10 else []))
        for row in range(100)
    ]
    proof = proof_of(Annotations.from_records(records))
    assert Counter(image.class_name for image in proof.images) == {"cat": 6, "dog": 6}
    cats = [image.id for image in proof.images if image.class_name == "cat"]
    assert (cats[0], cats[-1]) == ("i1", "i99")  # from its whole length
    assert {image.concepts for image in proof.images} == {("sofa", "toy")}
    assert {image.uri for image in proof.images} == {
        f"{image.id[1:]}.jpg" for image in proof.images
    }
    of_first = proof.regions[proof.regions["id"] == "i1"]
    assert of_first["concept"].tolist() == ["sofa", "toy", "sofa"]
    assert of_first["x_px"].tolist() == [1.0, 1.0, 1.0]
    assert set(proof.regions["id"]) == {image.id for image in proof.images}


@pytest.mark.parametrize(("classes", "images"), [(1, 12), (3, 12), (5, 10), (7, 7), (40, 12)])
def test_between_6_and_12_images(classes: int, images: int) -> None:
    records = [record(row, f"c{row % classes}", "x") for row in range(30 * classes)]
    assert len(proof_of(Annotations.from_records(records)).images) == images


def test_no_image_and_none_with_a_concept() -> None:
    assert proof_of(Annotations.from_records([])).images == ()
    (only,) = proof_of(Annotations.from_records([ImageRecord("a", "cat")])).images
    assert (only.concepts, only.uri) == ((), None)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from("xy"))), max_size=30))
def test_each_image_is_shown_once_as_it_is(given_) -> None:
    records = [record(row, name, *concepts) for row, (name, concepts) in enumerate(given_)]
    by_id = {one.id: one for one in records}
    proof = proof_of(Annotations.from_records(records))
    assert len({image.id for image in proof.images}) == len(proof.images) <= MOST_SHOWN
    for image in proof.images:
        known = by_id[image.id]
        assert image.class_name == known.class_name
        assert set(image.concepts) == {mention.concept for mention in known.mentions}
    assert {image.class_name for image in proof.images} == {one.class_name for one in records}
