"""The backend that pastes another image's object into the source's box."""

from dataclasses import replace

import numpy as np
import pytest

from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import BackendPlugin
from cobalance.generation.backends.compositing.framing import fit_source
from cobalance.generation.image_request import GenerationError, SourceImage
from tests.generation.backends.suite import Ask, check_kept
from tests.generation.filters.making import noise


def patch() -> SourceImage:
    mask = np.zeros((50, 40), bool)
    mask[10:30, 5:15] = np.random.default_rng(2).random((20, 10)) < 0.6
    mask[10, 5] = mask[29, 14] = True
    return SourceImage("p", "p.png", noise(9, 50, 40), mask)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("size", [(60, 84), (37, 151), (101, 53)])
def test_the_box_is_the_patchs_and_all_else_is_kept(
    ask: Ask, size: tuple[int, int], two: bool
) -> None:
    (request,) = [replace(one, patch=patch()) for one in ask(1, *size, two=two)]
    (made,) = BACKENDS.open("patch").generate([request])
    assert request.source is not None
    rows, columns = np.nonzero(request.source.mask)
    box = [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1]
    outside = np.ones(size, bool)
    outside[box[0] : box[2], box[1] : box[3]] = False
    check_kept(request, made, outside)
    assert made.details == {
        "scale": 1.0,
        "box": box,
        "patch_image": "p",
        "patch_box": [10, 5, 30, 15],
    }
    assert made.mask is not None
    assert made.mask.any()
    assert not made.mask[outside].any()


def test_a_patch_of_the_same_size_is_not_resampled(ask: Ask) -> None:
    (request,) = ask()
    assert request.source is not None
    mask = np.roll(request.source.mask, (7, -9), (0, 1))
    other = SourceImage("p", "p.png", noise(4, 60, 84), mask)
    (made,) = BACKENDS.open("patch").generate([replace(request, patch=other)])
    assert made.mask is not None
    assert np.array_equal(made.image[made.mask], other.image[mask])
    assert np.array_equal(made.mask, request.source.mask)


def test_a_size_of_ones_own(ask: Ask) -> None:
    (request,) = ask()
    assert request.source is not None
    backend = BACKENDS.open("patch", {"width_px": 72, "height_px": 96})
    (made,) = backend.generate([replace(request, patch=patch())])
    image, mask, _ = fit_source(request.source, (96, 72))
    rows, columns = np.nonzero(mask)
    outside = np.ones((96, 72), bool)
    outside[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = False
    assert np.array_equal(made.image[outside], image[outside])
    assert made.kept is None


def test_it_needs_both_images(ask: Ask) -> None:
    (request,) = ask()
    backend = BACKENDS.open("patch")
    assert backend.needs_source
    assert backend.describe()["digital_source_type"].endswith("/compositeCapture")
    assert isinstance(BACKENDS["patch"], BackendPlugin)
    assert BACKENDS["patch"].needs_patch
    with pytest.raises(GenerationError, match="has no image to take an object from, and the"):
        backend.generate([request])
    with pytest.raises(GenerationError, match="has no source image, and the backend patch works"):
        backend.generate([replace(request, source=None, patch=patch())])
