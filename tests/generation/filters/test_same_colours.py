"""Colours of an image and its source: exact means over areas, and the order of candidates."""

from math import isfinite, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from cobalance.base.errors import OptionError
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.filter import Judgement
from cobalance.generation.filters.same_colours import LARGEST, cell_sums, colour_difference
from cobalance.generation.image_request import GeneratedImage, SourceImage
from tests.generation.filters.making import Pixels, noise, object_mask, pasted, request, source


def reduced_by_hand(image: Pixels, side: int) -> np.ndarray:
    """Each pixel as side x side equal ones, which divide evenly into cells."""
    height, width = image.shape[:2]
    fine = image.astype(int).repeat(side, axis=0).repeat(side, axis=1)
    return fine.reshape(side, height, side, width, 3).mean(axis=(1, 3))


def judge(image: Pixels, of: SourceImage | None, **options: object) -> Judgement:
    colours = FILTERS.open("same_colours", options)
    return colours.judge([request(source=of)], [GeneratedImage(image)])[0]


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 2, 5, 14]), st.integers(0, 9))
def test_cells_are_means_over_their_areas(height: int, width: int, side: int, seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    sums, n = cell_sums(image, side)
    assert sums / n == pytest.approx(reduced_by_hand(image, side), abs=1e-9)


def test_the_box_filter_of_pillow_where_it_divides_evenly() -> None:
    image = noise(height=14 * 5, width=14 * 8)
    found = np.asarray(Image.fromarray(image).resize((14, 14), Image.Resampling.BOX))
    sums, n = cell_sums(image)
    assert np.abs(sums / n - found).max() < 1  # it rounds in each direction


@pytest.mark.parametrize("size", [(48, 64), (47, 61), (13, 5), (1, 1), (640, 17)])
def test_the_score_is_the_inverse_norm(size: tuple[int, int]) -> None:
    of = source()
    image = noise(7, *size)
    found = judge(image, of)
    norm = np.linalg.norm(reduced_by_hand(image, 14) - reduced_by_hand(of.image, 14))
    assert found.details["difference"] == pytest.approx(norm, rel=1e-12)
    assert found.score == pytest.approx(1 / norm, rel=1e-12)
    assert found.accepted


def test_the_scale_is_from_0_to_255() -> None:
    mask = object_mask(4, 4) | np.eye(4, dtype=np.bool_)
    black = SourceImage("1", "1.jpg", np.zeros((4, 4, 3), np.uint8), mask)
    white = np.full((9, 5, 3), 255, np.uint8)
    assert judge(white, black).score == pytest.approx(1 / (255 * sqrt(14 * 14 * 3)))


def test_no_difference_ranks_first_with_a_finite_score() -> None:
    of = source()
    same = judge(of.image.copy(), of)
    assert (same.score, same.details["difference"]) == (LARGEST, 0.0)
    assert isfinite(same.score)
    larger = of.image.repeat(3, axis=0).repeat(2, axis=1)
    assert judge(larger, of).score == LARGEST
    off_by_one = of.image.copy()
    off_by_one[0, 0, 0] ^= 1
    assert judge(off_by_one, of).score < LARGEST


def test_the_least_difference_of_large_images_scores_less() -> None:
    """One grey level in one of 3 million pixels, and beside one of another odd size."""
    image = np.full((1501, 2003, 3), 200, np.uint8)
    other = image.copy()
    other[1000, 900, 1] = 201
    assert 0 < 1 / colour_difference(image, other) < LARGEST
    assert 0 < 1 / colour_difference(other, image[:1499, :1997]) < LARGEST
    assert colour_difference(image, image[:1499, :1997]) == 0


@given(st.integers(0, 255), st.integers(0, 255))
def test_plain_images_differ_by_their_levels(a: int, b: int) -> None:
    images = [np.full(shape, value, np.uint8) for shape, value in (((9, 31, 3), a), ((6, 2, 3), b))]
    assert colour_difference(*images) == pytest.approx(abs(a - b) * sqrt(588))
    assert (colour_difference(*images) == 0) == (a == b)


def test_details_smaller_than_a_cell_do_not_count() -> None:
    """Pixels that change places within a cell leave its mean as it is."""
    image = noise(height=56, width=56)
    mask = object_mask(56, 56)
    cells = image.reshape(14, 4, 14, 4, 3)
    shuffled = cells[:, ::-1, :, [2, 0, 3, 1]].reshape(image.shape)
    assert not np.array_equal(shuffled, image)
    assert judge(shuffled, SourceImage("1", "1.jpg", image, mask)).score == LARGEST


def test_the_more_colours_are_shifted_the_less_the_score() -> None:
    """Brighter clothes by more and more, then another tint: in the order of construction."""
    of = source()
    candidates = [of.image]
    for shift in (4, 8, 16, 32, 64):
        image = of.image.astype(int)
        image[of.mask] += shift
        candidates.append(image.clip(0, 255).astype(np.uint8))
    tinted = of.image.copy()
    tinted[of.mask, 0] = 255
    tinted[of.mask, 2] = 0
    candidates.append(tinted)
    scores = [judge(image, of).score for image in candidates]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    other_background = pasted(5, of).image
    assert judge(other_background, of).score < min(scores)


def test_a_threshold_rejects_with_a_reason() -> None:
    of = source()
    image = noise(7)
    score = judge(image, of).score
    assert judge(image, of, threshold=score).accepted
    found = judge(image, of, threshold=1.0)
    assert not found.accepted
    assert found.reason == (
        f"The colours differ from the source's: the score is {score:.3g}, less than 1."
    )


def test_a_source_is_needed() -> None:
    found = judge(noise(), None)
    assert (found.score, found.accepted) == (0.0, False)
    assert found.reason.startswith("There is no source that the filter same_colours could compare")


def test_settings() -> None:
    assert FILTERS.open("same_colours").describe() == {
        "filter": "same_colours",
        "settings": {"threshold": None, "side": 14},
    }
    with pytest.raises(OptionError, match="The filter same_colours: threshold is -1"):
        FILTERS.open("same_colours", {"threshold": -1})
