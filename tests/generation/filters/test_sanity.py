"""The image has its size, and the object's pixels are those of the source."""

import numpy as np
import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import GeneratedImage, ImageRequest, SourceImage
from cobalance.vision.images.arrays import MaskArray
from tests.generation.filters.making import noise, object_mask, pasted, request, source


def judge(made: GeneratedImage, of: ImageRequest, **options: object):
    return FILTERS.open("sanity", options).judge([of], [made])[0]


def test_an_untouched_object_is_accepted() -> None:
    own = source()
    found = judge(pasted(1, own), request(source=own))
    assert (found.score, found.accepted, found.reason) == (1.0, True, "")
    assert found.details == {"compared": True}


def test_one_changed_pixel_of_the_object_is_enough() -> None:
    own = source()
    made = pasted(1, own)
    made.image[8, 8, 2] ^= 1
    found = judge(made, request(source=own))
    assert found.score == 1 - 1 / 256  # the object has 16 x 16 pixels
    assert not found.accepted
    assert found.reason == "0.39% of the object's pixels differ from the source's."
    assert judge(made, request(source=own), min_unchanged=0.99).accepted


def test_all_but_the_object_may_be_what_is_kept() -> None:
    own = source()
    image = own.image.copy()
    image[own.mask] ^= 255
    made = GeneratedImage(image, own.mask, kept=~own.mask)
    found = judge(made, request(source=own))
    assert (found.score, found.accepted, found.details) == (1.0, True, {"compared": True})
    image[0, 0, 0] ^= 1
    found = judge(made, request(source=own))
    assert found.score == 1 - 1 / (48 * 64 - 256)
    assert found.reason == "0.04% of the pixels to keep differ from the source's."


def test_nothing_is_kept_where_all_is_painted() -> None:
    nothing = np.zeros((48, 64), dtype=np.bool_)
    found = judge(GeneratedImage(noise(1), kept=nothing), request(source=source()))
    assert (found.score, found.accepted, found.details) == (1.0, True, {"compared": False})


@pytest.mark.parametrize(
    ("kept", "own", "reason"),
    [
        (object_mask(24, 24), source(), "The mask of pixels to keep is bool of shape (24, 24)"),
        (object_mask().astype(np.uint8), source(), "The mask of pixels to keep is uint8 of shape"),
        (object_mask(), None, "The image has pixels to keep, and no source."),
        (
            object_mask(),
            SourceImage("2", "2.jpg", noise(5, 24, 32), object_mask(24, 32)),
            "The image has pixels to keep, and another size than its source.",
        ),
    ],
    ids=["another size", "no truth values", "no source", "source of another size"],
)
def test_a_promise_that_cannot_be_checked_is_broken(
    kept: MaskArray, own: SourceImage | None, reason: str
) -> None:
    found = judge(GeneratedImage(noise(1), kept=kept), request(source=own))
    assert (found.score, found.accepted) == (0.0, False)
    assert found.reason.startswith(reason)


def test_a_moved_object_is_not_compared() -> None:
    own = source()
    image = noise(1)
    mask = np.roll(own.mask, 10, axis=1)
    found = judge(GeneratedImage(image, mask), request(source=own))
    assert (found.score, found.accepted) == (1.0, True)
    assert found.details == {"compared": False}


def test_nothing_is_compared_without_a_mask_or_a_source_of_the_size() -> None:
    own = source()
    small = SourceImage("2", "2.jpg", noise(5, 24, 32), object_mask(24, 32))
    for made, of in (
        (GeneratedImage(noise(1)), request(source=own)),
        (GeneratedImage(noise(1), object_mask()), request()),
        (GeneratedImage(noise(1), object_mask()), request(source=small)),
    ):
        found = judge(made, of)
        assert (found.score, found.accepted, found.details["compared"]) == (1.0, True, False)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (
            GeneratedImage(noise().astype(np.float32)),
            "The image is float32 of shape (48, 64, 3), not 8-bit",
        ),
        (GeneratedImage(noise()[..., 0]), "The image is uint8 of shape (48, 64), not 8-bit"),
        (
            GeneratedImage(noise(), object_mask(24, 24)),
            "The object's mask is bool of shape (24, 24)",
        ),
        (
            GeneratedImage(noise(), object_mask().astype(np.uint8)),
            "The object's mask is uint8 of shape",
        ),
        (
            GeneratedImage(noise(), np.zeros((48, 64), dtype=np.bool_)),
            "The object is not in the image",
        ),
        (
            GeneratedImage(noise(), np.ones((48, 64), dtype=np.bool_)),
            "Only 0.0% of the image is outside",
        ),
    ],
)
def test_what_is_no_image_has_no_score(made: GeneratedImage, reason: str) -> None:
    found = judge(made, request())
    assert (found.score, found.accepted) == (0.0, False)
    assert found.reason.startswith(reason)


def test_sizes() -> None:
    made, own = GeneratedImage(noise()), source()
    assert judge(made, request(), width_px=64, height_px=48).accepted
    assert judge(made, request(), height_px=40).reason == "The image is 64 x 48 px, not 64 x 40 px."
    assert judge(made, request(source=own), source_size=True).accepted
    large = GeneratedImage(noise(1, 96, 128))
    assert judge(large, request(source=own)).accepted
    assert not judge(large, request(source=own), source_size=True).accepted


def test_options() -> None:
    with pytest.raises(
        OptionError, match=r"The filter sanity has no option 'size'. Its options: hei"
    ):
        FILTERS.open("sanity", {"size": 64})
    with pytest.raises(OptionError, match="The filter sanity: width_px is 0: input should be"):
        FILTERS.open("sanity", {"width_px": 0})
    assert FILTERS.open("sanity", {"width_px": 8}).describe()["settings"]["width_px"] == 8
