"""Masks in every kind of picture that people keep them in."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageFilter

from cobalance.vision.images.decoding import decode
from cobalance.vision.images.mask_images import mask_array

INDICES = np.array([[0, 255, 1], [255, 15, 255]], dtype=np.uint8)
VOC = {0: (0, 0, 0), 1: (128, 0, 0), 15: (192, 128, 128), 255: (224, 224, 192)}


def indexed(indices: np.ndarray, colours: dict[int, tuple[int, int, int]]) -> Image.Image:
    """A picture with a palette, once written to a PNG and read again."""
    picture = Image.fromarray(indices)
    palette = np.zeros((256, 3), dtype=np.uint8)
    for index, colour in colours.items():
        palette[index] = colour
    picture.putpalette(palette.tobytes())
    return stored(picture)


def stored(picture: Image.Image, form: str = "PNG") -> Image.Image:
    file = BytesIO()
    picture.save(file, form)
    read = decode(file.getvalue()).stored
    assert read.mode == ("P" if form == "GIF" else picture.mode)
    return read


def test_indices_are_classes_and_255_is_void() -> None:
    """As in Pascal VOC: dark classes are the object, and the bright edges around it are not."""
    found = mask_array(indexed(INDICES, VOC))
    assert found.dtype == np.bool_
    assert found.tolist() == [[False, False, True], [False, True, False]]


def test_a_palette_of_one_colour_changes_nothing() -> None:
    assert mask_array(indexed(INDICES, {})).tolist() == [
        [False, False, True],
        [False, True, False],
    ]
    two = np.array([[0, 1]], dtype=np.uint8)
    assert mask_array(indexed(two, {})).tolist() == [[False, True]]
    assert mask_array(indexed(0 * two, {})).tolist() == [[False, False]]


def test_255_alone_is_the_object() -> None:
    two = np.array([[0, 255]], dtype=np.uint8)
    assert mask_array(indexed(two, {255: (255, 255, 255)})).tolist() == [[False, True]]


def test_colours_that_were_reduced() -> None:
    """White may come first; what is soft stays so."""
    two = np.array([[0, 1]], dtype=np.uint8)
    assert mask_array(indexed(two, {0: (255, 255, 255)})).tolist() == [[True, False]]
    soft = np.array([[0, 40, 200, 255, 255, 255]], dtype=np.uint8)
    ramp = {index: (index, index, index) for index in range(256)}
    assert mask_array(indexed(soft, ramp)).tolist() == [[False, False, True, True, True, True]]
    few = np.array([[0, 1, 1, 1, 255]], dtype=np.uint8)
    assert mask_array(indexed(few, ramp)).tolist() == [[False, True, True, True, False]]


@pytest.mark.parametrize("radius", [1, 2, 6])
@pytest.mark.parametrize(
    "save",
    [
        lambda soft: stored(soft, "GIF"),
        lambda soft: stored(soft.convert("P")),
        lambda soft: stored(soft.convert("RGB").quantize()),
    ],
    ids=["gif", "png", "quantized"],
)
def test_soft_edges_in_a_grey_palette(
    radius: int, save: Callable[[Image.Image], Image.Image]
) -> None:
    """As without a palette, however the greys are numbered."""
    whole = np.zeros((40, 40), dtype=np.uint8)
    whole[12:28, 10:30] = 255
    soft = Image.fromarray(whole).filter(ImageFilter.GaussianBlur(radius))
    expected = mask_array(soft)
    assert 300 < expected.sum() < 340
    assert mask_array(save(soft)).tolist() == expected.tolist()


def test_few_greys_are_classes() -> None:
    """Up to 16 levels, with the background's."""
    greys = {index: (index * 10, index * 10, index * 10) for index in range(17)}
    found = [
        mask_array(indexed(np.arange(levels, dtype=np.uint8)[None], greys)).sum()
        for levels in (16, 17)
    ]
    assert found == [15, 9]
    voided = np.array([[0, 1, 2, 255]], dtype=np.uint8)
    colours = greys | {255: (255, 255, 255)}
    assert mask_array(indexed(voided, colours)).tolist() == [[False, True, True, False]]


def test_many_colours_are_classes() -> None:
    indices = np.arange(20, dtype=np.uint8)[None]
    coloured = {index: (index * 10, index * 10, 0) for index in range(20)}
    assert mask_array(indexed(indices, coloured)).sum() == 19
    shuffled = {index: (index * 7 % 20, index * 7 % 20, index * 7 % 20) for index in range(20)}
    assert mask_array(indexed(indices, shuffled)).sum() == 19


@pytest.mark.parametrize(
    ("first", "second", "is_first"),
    [
        ((255, 255, 255), (2, 2, 2), True),
        ((255, 255, 255), (16, 16, 16), True),
        ((255, 255, 255), (17, 17, 17), False),
        ((255, 0, 0), (2, 2, 2), True),
        ((0, 0, 128), (0, 0, 0), True),
        ((2, 2, 2), (0, 0, 0), True),
        ((40, 40, 40), (2, 2, 2), False),
        ((2, 2, 2), (255, 255, 255), False),
        ((255, 0, 0), (255, 255, 255), False),
        ((255, 255, 255), (0, 0, 128), False),
    ],
)
def test_a_bright_index_0_is_the_object_beside_a_dark_one(
    first: tuple[int, int, int], second: tuple[int, int, int], is_first: bool
) -> None:
    """Which programs that reduce colours may leave; colours alone are classes."""
    two = np.array([[0, 1]], dtype=np.uint8)
    assert mask_array(indexed(two, {0: first, 1: second})).tolist() == [[is_first, not is_first]]


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
@pytest.mark.parametrize("shade", [0, 90, 255])
def test_an_object_in_the_alpha_channel_alone(mode: str, shade: int) -> None:
    layers = np.full((1, 4, len(mode)), shade, dtype=np.uint8)
    layers[..., -1] = [[0, 60, 200, 255]]
    assert mask_array(stored(Image.fromarray(layers, mode))).tolist() == [
        [False, False, True, True]
    ]


def test_what_cannot_be_seen_has_no_colour() -> None:
    layers = np.zeros((1, 2, 4), dtype=np.uint8)
    layers[0, 0] = (255, 255, 255, 0)
    layers[0, 1] = (0, 0, 0, 255)
    assert mask_array(stored(Image.fromarray(layers))).tolist() == [[False, True]]


def test_colours_come_before_an_alpha_channel() -> None:
    layers = np.array([[[0, 0, 0, 255], [255, 255, 255, 255], [0, 0, 0, 100]]], dtype=np.uint8)
    assert mask_array(stored(Image.fromarray(layers))).tolist() == [[False, True, False]]
    layers[..., 3] = 255
    assert mask_array(stored(Image.fromarray(layers))).tolist() == [[False, True, False]]


def test_masks_of_every_mode() -> None:
    assert mask_array(Image.new("L", (2, 2))).tolist() == [[False, False]] * 2
    assert mask_array(Image.fromarray(np.array([[1, 0]], dtype=np.uint8))).tolist() == [
        [True, False]
    ]
