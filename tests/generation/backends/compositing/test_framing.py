import numpy as np
import pytest

from cobalance.generation.backends.backend import ImageOptions
from cobalance.generation.backends.compositing.framing import (
    choose_model_size,
    choose_output_size,
    crop_source,
    fit_source,
    resize_mask,
)
from cobalance.generation.image_request import GenerationError, SourceImage


def _source(height: int, width: int, *window: slice) -> SourceImage:
    image = np.random.default_rng(1).integers(0, 255, (height, width, 3), dtype=np.uint8)
    mask = np.zeros((height, width), bool)
    mask[window] = True
    return SourceImage("i", "i.png", image, mask)


def test_a_fitted_source_keeps_its_shape() -> None:
    source = _source(40, 80, slice(10, 30), slice(20, 60))
    image, mask, scale = fit_source(source, (64, 64))
    assert (image.shape, scale) == ((64, 64, 3), 0.8)
    rows, columns = np.nonzero(mask)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (24, 39, 16, 47)


def test_a_thin_object_survives_and_one_that_vanishes_is_an_error() -> None:
    mask = np.zeros((100, 100), bool)
    mask[50, 20:80] = True
    assert resize_mask(mask, (10, 10)).any()
    full = _source(100, 100, slice(1, 100), slice(0, 100))
    with pytest.raises(GenerationError, match="cannot be told from the rest at 8 × 8"):
        fit_source(full, (8, 8))


def test_the_other_side_follows() -> None:
    source = _source(60, 90, slice(0, 9), slice(0, 9))
    assert choose_output_size(ImageOptions(height_px=64), source) == (64, 96)
    assert choose_output_size(ImageOptions(), source) == (60, 90)
    assert choose_output_size(ImageOptions(width_px=8, height_px=64), source) == (64, 8)


def test_very_long_images_stay_within_what_a_model_can_paint() -> None:
    height, width = choose_model_size((10, 10_000), 512, 8, is_set=False)
    assert (height, width) == (128, 2048)


def test_a_crop_keeps_the_object_in_view() -> None:
    source = _source(40, 100, slice(10, 20), slice(80, 100))
    assert np.array_equal(crop_source(source, (40, 40)), source.image[:, 60:])
    assert crop_source(source, (80, 80)).shape == (80, 80, 3)
