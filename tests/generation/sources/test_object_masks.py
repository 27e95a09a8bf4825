"""Masks by models where annotations have no outlines, and how often a model is asked."""

import json

import numpy as np
import pytest

from cobalance.generation.image_request import GenerationError
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.sources.mask_cache import KEPT, MaskCache
from cobalance.generation.sources.mask_settings import UnusableError
from cobalance.graph.errors import OptionError
from cobalance.graph.records import Mention


def of(rows: slice, columns: slice) -> np.ndarray:
    mask = np.zeros((40, 60), bool)
    mask[rows, columns] = True
    return mask


def boxes_filled():
    """A segmenter that fills the box but for its last column, with the boxes that it was given."""
    asked = []

    def segment(image, box):
        asked.append(box)
        if box is None:
            raise GenerationError("It needs a box.")
        x, y, w, h = map(int, box)
        return of(slice(y, y + h), slice(x, x + w - 1))

    return segment, asked


LARGE = Mention("person", box=(0.0, 0.0, 20.0, 20.0))
SECOND = Mention(
    "person", box=(30.0, 0.0, 10.0, 20.0), segmentation=json.dumps([[30, 0, 35, 0, 35, 9, 30, 9]])
)


def test_a_model_finds_the_objects_that_have_a_box_alone(annotated) -> None:
    segment, asked = boxes_filled()
    sources = annotated(
        {"a": ("man", [SECOND, LARGE])},
        segmenting={"segment": segment},
        masks="regions+segmenter",
        instances="largest_box",
        second_above_px=199,
    )
    expected = of(slice(0, 20), slice(0, 19)) | of(slice(0, 9), slice(30, 35))
    for seed in range(30):  # candidates share a source
        assert np.array_equal(sources.take("a", seed)[0].mask, expected)
    assert asked == [(0, 0, 20, 20)]


def test_an_object_without_an_outline_is_its_box(annotated) -> None:
    own = {"a": ("man", [LARGE]), "b": ("man", [SECOND]), "c": ("man", [])}
    sources = annotated(own, masks="regions+boxes", instances="single")
    assert np.array_equal(sources.take("a")[0].mask, of(slice(0, 20), slice(0, 20)))
    assert np.array_equal(sources.take("b")[0].mask, of(slice(0, 9), slice(30, 35)))
    with pytest.raises(GenerationError, match="has no region of 'man'"):
        sources.take("c")


def test_a_model_without_a_box_finds_all_instances_of_which_some_are_taken(annotated) -> None:
    found = [of(slice(0, 10), slice(0, 10)), of(slice(20, 40), slice(20, 40))]
    found += [of(slice(0, 15), slice(30, 45))]  # 100, 400 and 225 px
    asked = []

    def instances(image):
        asked.append(image.shape)
        return found

    segment, _ = boxes_filled()
    own = {"segment": segment, "find_instances": instances}
    expected = {
        ("largest", None): found[1],
        ("largest_box", None): found[1],
        ("largest_box", 225): found[1],
        ("largest_box", 224): found[1] | found[2],
        ("all", None): found[0] | found[1] | found[2],
    }
    for (which, above), mask in expected.items():
        for masks in ("segmenter", "regions+segmenter"):
            sources = annotated(
                {"a": ("dog", [])},
                segmenting=own,
                masks=masks,
                instances=which,
                second_above_px=above,
            )
            assert np.array_equal(sources.take("a")[0].mask, mask)
    several = annotated({"a": ("dog", [])}, segmenting=own, masks="segmenter", instances="single")
    with pytest.raises(GenerationError, match="shows several of its object"):
        several.take("a")
    found[1:] = []
    assert np.array_equal(several.sample_single("dog", 0, without="b").mask, found[0])


def test_a_model_that_cannot_tell_one_from_several(annotated) -> None:
    segment, asked = boxes_filled()
    sources = annotated(
        {"a": ("dog", []), "b": ("man", [LARGE])},
        segmenting={"segment": segment},
        masks="segmenter",
        instances="single",
    )
    with pytest.raises(GenerationError, match=r"does not tell one from several.*segmenter people"):
        sources.take("a")
    assert asked == []
    assert np.array_equal(sources.take("b")[0].mask, of(slice(0, 20), slice(0, 19)))


def test_what_a_model_does_not_find_is_not_asked_for_again(annotated) -> None:
    segment, asked = boxes_filled()
    sources = annotated({"a": ("dog", [])}, segmenting={"segment": segment}, masks="segmenter")
    for _ in range(3):
        with pytest.raises(GenerationError, match="does not find: It needs a box"):
            sources.take("a")
    assert asked == [None]


def test_the_cache_keeps_the_last_and_gives_what_was_found() -> None:
    rng = np.random.default_rng(0)
    masks = [rng.random((7, 11)) < 0.5 for _ in range(4)]
    made = []

    def find(at):
        made.append(at)
        if at == 3:
            raise UnusableError("is dark", "Light it", "4 lux")
        return {"whole": masks[at], "none": np.zeros((7, 11), bool)}

    cache = MaskCache(size=2)
    for at in (0, 1, 0, 2, 0, 1, 3, 3):
        if at == 3:
            with pytest.raises(UnusableError, match="is dark") as caught:
                cache.masks(at, lambda at=at: find(at))
            assert (caught.value.remedy, caught.value.detail) == ("Light it", "4 lux")
            continue
        found = cache.masks(at, lambda at=at: find(at))
        assert np.array_equal(found["whole"], masks[at])
        assert not found["none"].any()
        found["whole"][:] = False  # what is kept is not shared
    assert made == [0, 1, 2, 1, 3]
    assert KEPT <= 1024


def test_an_image_that_is_the_only_one_of_its_class(annotated) -> None:
    sources = annotated({"a": ("man", [SECOND]), "b": ("dog", [SECOND]), "c": ("dog", [SECOND])})
    with pytest.raises(GenerationError, match="Image 'a' is the only one of class 'man'"):
        sources.sample_single("man", 0, without="a")
    chosen = {sources.sample_single("dog", seed, without="b").image_id for seed in range(9)}
    assert chosen == {"c"}


def test_settings() -> None:
    with pytest.raises(OptionError, match=r"masks.masks is 'regions\+segmenter', and segm"):
        read_job_settings({"masks": {"masks": "regions+segmenter"}})
    with pytest.raises(OptionError, match="second_above_px is of use only with instances=largest"):
        read_job_settings({"masks": {"second_above_px": 55_000}})


def test_some_images_alone_lend_no_object_of_another(annotated) -> None:
    sources = annotated({name: ("dog", [SECOND]) for name in "abcd"} | {"e": ("cat", [SECOND])})
    some = sources.only(["b", "d", "not there"])
    chosen = {some.sample_single("dog", seed, without="b").image_id for seed in range(9)}
    assert chosen == {"d"}
    assert some.take("b")[1] == "dog"
    for lost in ("a", "e"):
        with pytest.raises(GenerationError, match=f"{lost!r} has no address"):
            some.take(lost)
    with pytest.raises(GenerationError, match="No image of class 'cat' has an address"):
        some.sample("cat", 0)
