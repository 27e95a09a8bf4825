"""Images of one colour, and black ones."""

import numpy as np
import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import GeneratedImage
from tests.generation.filters.making import noise, object_mask, request


def judge(made: GeneratedImage, **options: object):
    return FILTERS.open("blank", options).judge([request()], [made])[0]


def flat(level: int) -> np.ndarray:
    return np.full((48, 64, 3), level, dtype=np.uint8)


def test_a_textured_image_is_accepted() -> None:
    image = noise()
    found = judge(GeneratedImage(image))
    expected = (image @ np.array([0.299, 0.587, 0.114])).std() / 255
    assert found.accepted
    assert found.score == pytest.approx(expected, abs=1e-6)


def test_half_black_and_half_white_is_the_highest_score() -> None:
    image = flat(0)
    image[:24] = 255
    found = judge(GeneratedImage(image))
    assert found.score == pytest.approx(0.5, abs=1e-6)
    assert found.details["luminance"] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("level", [0, 128, 255])
def test_one_colour_is_rejected(level: int) -> None:
    found = judge(GeneratedImage(flat(level)))
    assert not found.accepted
    assert found.score == pytest.approx(0, abs=1e-6)
    assert found.reason.startswith("The image is nearly one colour")


def test_a_grey_level_of_noise_is_rejected_and_ten_are_not() -> None:
    rng = np.random.default_rng(0)
    faint = flat(128) + rng.integers(0, 2, (48, 64, 1), dtype=np.uint8)
    assert not judge(GeneratedImage(faint)).accepted
    assert judge(
        GeneratedImage(flat(128) + rng.integers(0, 30, (48, 64, 1), dtype=np.uint8))
    ).accepted


def test_the_surroundings_do_not_hide_an_empty_object() -> None:
    image, mask = noise(), object_mask()
    image[mask] = 90
    assert judge(GeneratedImage(image, mask)).accepted
    found = judge(GeneratedImage(image, mask, kept=~mask))
    assert found.reason.startswith("The image is nearly one colour")
    assert judge(GeneratedImage(image, mask, kept=np.ones_like(mask))).accepted  # all of it counts


def test_the_object_does_not_hide_an_empty_background() -> None:
    image, mask = flat(90), object_mask()
    image[mask] = noise()[mask]
    assert judge(GeneratedImage(image)).accepted
    assert not judge(GeneratedImage(image, mask)).accepted
    assert judge(
        GeneratedImage(image, np.ones_like(mask))
    ).accepted  # nothing is outside: all of it counts


def test_a_black_image_with_a_few_specks_is_rejected() -> None:
    image = flat(0)
    image[0, :8] = 255  # 8 of 3,072 pixels: mean 0.0026, deviation 0.051
    found = judge(GeneratedImage(image))
    assert found.score == pytest.approx(np.sqrt(8 / 3072 * (1 - 8 / 3072)), abs=1e-6)
    assert found.reason.startswith("The image is nearly black: its mean luminance is 0.0026")


def test_options() -> None:
    assert judge(GeneratedImage(flat(128)), threshold=0).accepted
    with pytest.raises(
        OptionError, match=r"no option 'treshold'. Did you mean 'threshold'\? Its options: min"
    ):
        FILTERS.open("blank", {"treshold": 0.1})
    with pytest.raises(OptionError, match=r"The filter blank: threshold is 0.6"):
        FILTERS.open("blank", {"threshold": 0.6})
    assert FILTERS.open("blank").describe()["settings"]["threshold"] == 0.02
