from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from cobalance.vision.images.decoding import MAX_SIDE_PX, png, within

SIDES = st.integers(1, 3000)


@settings(max_examples=20, deadline=None)
@given(SIDES, SIDES)
def test_what_is_sent_is_bounded_and_keeps_its_proportions(height, width):
    image = np.full((height, width, 3), (10, 200, 30), np.uint8)
    sent = np.asarray(Image.open(BytesIO(png(image))))
    longest = max(height, width)
    assert max(sent.shape[:2]) == min(longest, MAX_SIDE_PX)
    assert (sent == (10, 200, 30)).all()
    scale = min(1, MAX_SIDE_PX / longest)
    assert sent.shape[:2] == pytest.approx((height * scale, width * scale), abs=1)


def test_a_small_image_is_sent_as_it_is():
    image = np.random.default_rng(0).integers(0, 255, (7, 5, 3), dtype=np.uint8)
    assert within(image) is image
    assert (np.asarray(Image.open(BytesIO(png(image)))) == image).all()
