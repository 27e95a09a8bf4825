import numpy as np
import pytest

from cobalance.generation.backends.compositing.cutout import paste_object, place_object
from cobalance.generation.backends.compositing.draws import Draws


def test_nothing_of_the_sources_background_is_pasted() -> None:
    image = np.full((20, 20, 3), 200, np.uint8)
    mask = np.zeros((20, 20), bool)
    mask[8:12, 8:12] = True
    image[mask] = (10, 20, 30)
    background = np.full((20, 20, 3), 100, np.uint8)
    pasted = paste_object(background, image, mask, feather_px=3)
    assert (pasted[mask] == (10, 20, 30)).all()
    assert pasted.max() <= 100
    # a quarter less of the object at each pixel outwards: 100 - 90 · (3/4, 2/4, 1/4, 0)
    assert pasted[9, 12:17, 0].tolist() == [32, 55, 78, 100, 100]
    assert np.array_equal(paste_object(background, image, mask, 0)[~mask], background[~mask])


def test_a_placed_object_is_whole_and_has_its_own_colours() -> None:
    image = np.full((50, 70, 3), 255, np.uint8)
    mask = np.zeros((50, 70), bool)
    mask[5:45, 3:69] = True
    image[mask] = (9, 99, 199)
    for seed in range(20):
        placed, stands, scale = place_object(image, mask, (24, 80), Draws(seed))
        assert stands.any()
        assert (placed[stands] == (9, 99, 199)).all()
        assert stands.sum() == pytest.approx(mask.sum() * scale**2, rel=0.1)
