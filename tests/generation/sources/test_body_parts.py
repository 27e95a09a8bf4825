"""Masks of parts of an object: intersection, one part by lot, growth."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.ndimage import binary_dilation

from cobalance.generation.image_request import GenerationError
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.sources.body_parts import grow
from cobalance.graph.errors import OptionError
from cobalance.graph.records import Mention

SQUARE = np.ones((3, 3), bool)
PERSON = Mention("person", segmentation=json.dumps([[10, 10, 30, 10, 30, 30, 10, 30]]))
DOG = Mention("dog", segmentation=json.dumps([[0, 20, 20, 20, 20, 40, 0, 40]]))


def of(rows: slice, columns: slice) -> np.ndarray:
    mask = np.zeros((40, 60), bool)
    mask[rows, columns] = True
    return mask


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
    with pytest.raises(
        OptionError, match=r"gave bool of shape \(4, 4\) for an image of \(40, 60\)"
    ):
        sources.take("a")


def test_settings() -> None:
    with pytest.raises(
        OptionError, match=r"masks\.parts is 'random', and parts names no segmenter"
    ):
        read_job_settings({"masks": {"parts": "random"}})
    assert read_job_settings({"parts": "parsing", "masks": {"parts": "random"}}).extra == "models"
