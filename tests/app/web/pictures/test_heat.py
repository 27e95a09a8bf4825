"""Activation maps drawn over pictures."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from cobalance.app.web.pictures.drawing import draw_heat
from cobalance.ingest.images.image_file import ImageFileError


def encoded(pixels):
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def test_bright_parts_of_the_map_are_coloured_and_dark_ones_dimmed():
    picture = encoded(np.full((32, 48, 3), 100, np.uint8))
    activation = np.zeros((8, 12), np.uint8)
    activation[:, 6:] = 255
    drawn = np.asarray(Image.open(BytesIO(draw_heat(picture, encoded(activation)))), float)
    assert drawn.shape == (32, 48, 3)
    cold, hot = drawn[:, :12].mean(axis=(0, 1)), drawn[:, 36:].mean(axis=(0, 1))
    assert cold == pytest.approx([75, 75, 75], abs=4)
    assert hot[0] > 150 > hot[2]


def test_what_is_no_image_is_refused():
    with pytest.raises(ImageFileError):
        draw_heat(encoded(np.zeros((4, 4, 3), np.uint8)), b"no image")
