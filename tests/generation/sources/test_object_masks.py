"""Masks by models where annotations have no outlines, and how often a model is asked."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.ndimage import binary_dilation

from cobalance.base.errors import DataError, OptionError
from cobalance.base.records import Mention
from cobalance.generation.image_request import GenerationError
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.sources.mask_cache import KEPT, MaskCache
from cobalance.generation.sources.mask_settings import UnusableError
from cobalance.generation.sources.object_masks import grow


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


def test_the_cache_keeps_the_last_and_gives_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    masks = [rng.random((7, 11)) < 0.5 for _ in range(4)]
    made = []

    def find(at):
        made.append(at)
        if at == 3:
            raise UnusableError("is dark", "Light it", "4 lux")
        return {"whole": masks[at], "none": np.zeros((7, 11), bool)}

    monkeypatch.setattr("cobalance.generation.sources.mask_cache.KEPT", 2)
    cache = MaskCache()
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


SQUARE = np.ones((3, 3), bool)
PERSON = Mention("person", segmentation=json.dumps([[10, 10, 30, 10, 30, 30, 10, 30]]))
DOG = Mention("dog", segmentation=json.dumps([[0, 20, 20, 20, 20, 40, 0, 40]]))


def parts_from(parts):
    """A finder of parts, with the number of times that it was asked."""
    asked = []

    def find(image):
        asked.append(image.shape)
        return parts

    return find, asked


@pytest.mark.parametrize(
    ("class_name", "mention", "rows", "columns"),
    [
        ("woman", PERSON, slice(10, 30), slice(10, 30)),
        ("dog", DOG, slice(20, 40), slice(0, 20)),
    ],
    ids=["a person", "a dog at the edge"],
)
def test_the_intersection_is_dilated_once_and_last(
    annotated, class_name, mention, rows, columns
) -> None:
    skin = np.random.default_rng(5).random((40, 60)) < 0.2
    find, _ = parts_from({"skin": skin})
    sources = annotated({"a": (class_name, [mention])}, segmenting={"find_parts": find}, grow_px=1)
    expected = binary_dilation(of(rows, columns) & skin, SQUARE)
    assert np.array_equal(sources.take("a")[0].mask, expected)
    # which is neither the dilation of the one nor of the other
    assert not np.array_equal(expected, binary_dilation(of(rows, columns), SQUARE) & skin)
    assert not np.array_equal(expected, of(rows, columns) & binary_dilation(skin, SQUARE))


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=12)), st.integers(1, 4))
def test_growth_is_scipys_dilation(mask: np.ndarray, times: int) -> None:
    expected = mask
    for _ in range(times):
        expected = binary_dilation(expected, SQUARE)
    assert np.array_equal(grow(mask, times), expected)
    assert np.array_equal(grow(mask, 0), mask)


def test_an_object_without_the_part_is_not_edited(annotated) -> None:
    elsewhere, _ = parts_from({"skin": of(slice(0, 5), slice(0, 5))})
    sources = annotated({"a": ("man", [PERSON])}, segmenting={"find_parts": elsewhere}, grow_px=1)
    why = "'a' cannot be edited: it shows none of the wanted parts of its object: wanted skin"
    with pytest.raises(GenerationError, match=why):
        sources.take("a")

    def nothing(image):
        raise GenerationError("It finds nothing.")

    sources = annotated({"a": ("man", [PERSON])}, segmenting={"find_parts": nothing})
    with pytest.raises(GenerationError, match="it has no part that its segmenter of parts finds"):
        sources.take("a")


def test_one_part_by_the_seed(annotated) -> None:
    inside = {
        "arm": of(slice(12, 14), slice(0, 60)),
        "face": of(slice(14, 16), slice(10, 20)),
        "hair": of(slice(16, 18), slice(10, 20)),
        "leg": of(slice(35, 38), slice(0, 60)),  # another person's
    }
    find, asked = parts_from(inside)
    sources = annotated(
        {"a": ("man", [PERSON])}, segmenting={"find_parts": find}, parts="random", grow_px=1
    )
    person = of(slice(10, 30), slice(10, 30))
    expected = {
        name: binary_dilation(part & person, SQUARE).tobytes()
        for name, part in inside.items()
        if name != "leg"
    }
    drawn = Counter(sources.take("a", seed)[0].mask.tobytes() for seed in range(300))
    assert set(drawn) == set(expected.values())
    assert min(drawn.values()) > 70
    again = annotated(
        {"a": ("man", [PERSON])}, segmenting={"find_parts": find}, parts="random", grow_px=1
    )
    for seed in range(10):
        assert np.array_equal(sources.take("a", seed)[0].mask, again.take("a", seed)[0].mask)
    assert len(asked) == 2  # once for each


def test_a_mask_that_has_grown_over_the_image_is_not_used(annotated) -> None:
    everything, _ = parts_from({"all": np.ones((40, 60), bool)})
    sources = annotated(
        {"a": ("man", [PERSON])}, segmenting={"find_parts": everything}, grow_px=60, max_share=1
    )
    with pytest.raises(GenerationError, match=r"it has a mask that covers.*100\.00%"):
        sources.take("a")


def test_a_finder_of_parts_of_another_size(annotated) -> None:
    find, _ = parts_from({"skin": np.ones((4, 4), bool)})
    sources = annotated({"a": ("man", [PERSON])}, segmenting={"find_parts": find})
    with pytest.raises(DataError, match=r"gave bool of shape \(4, 4\) for an image of \(40, 60\)"):
        sources.take("a")


@pytest.mark.parametrize("box", [None, (0.0, 0.0, 20.0, 20.0)], ids=["instances", "box"])
def test_a_segmenter_of_another_type(annotated, box) -> None:
    made = np.ones((40, 60), np.uint8)
    own = {"segment": lambda *_: made, "find_instances": lambda _: [made]}
    mentions = [] if box is None else [Mention("person", box=box)]
    sources = annotated({"a": ("man", mentions)}, segmenting=own, masks="segmenter")
    with pytest.raises(DataError, match=r"gave uint8 of shape \(40, 60\)"):
        sources.take("a")


def test_settings_of_parts() -> None:
    with pytest.raises(
        OptionError, match=r"masks\.parts is 'random', and parts names no segmenter"
    ):
        read_job_settings({"masks": {"parts": "random"}})
    assert read_job_settings({"parts": "parsing", "masks": {"parts": "random"}}).extra == "models"
