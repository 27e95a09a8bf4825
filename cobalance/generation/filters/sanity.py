"""Sanity filter: size, and that the pixels to keep are unchanged."""

import numpy as np
from pydantic import Field

from cobalance.base import Options
from cobalance.generation.filters.filter import (
    FilterPlugin,
    Judgement,
    PixelFilter,
    Said,
    Scored,
    describe_score,
)
from cobalance.generation.image_request import GeneratedImage, ImageRequest


class SanityOptions(Options):
    """Checks that need no look at an image's content.

    Parameters
    ----------
    width_px, height_px : int or None
        The size that images must have; None for any, since a backend may work at a model's size.
    source_size : bool
        The image must have its source's size, where it has a source.
    min_background : float
        The least share of the image that must be outside the object, where the mask is known:
        without it there is no room for any concept.
    min_unchanged : float
        The least share of the pixels to keep that must be as in the source.
    """

    width_px: int | None = Field(default=None, ge=1)
    height_px: int | None = Field(default=None, ge=1)
    source_size: bool = False
    min_background: float = Field(default=0.05, ge=0, le=1)
    min_unchanged: float = Field(default=1.0, ge=0, le=1)


def _says(found: Scored, options: SanityOptions) -> Said:
    if found.score == 1:
        return Said("Keeps what had to stay")
    # Which of the two it is, only the reason says.
    if found.score == 0:
        return Said("Unusable, or nothing that had to stay is as it was")
    return describe_score(
        found.score,
        options.min_unchanged,
        enough="Keeps enough of what had to stay",
        too_little="Keeps too little of what had to stay",
    )


PLUGIN = FilterPlugin(
    "sanity",
    "The image has the size that was asked for, and keeps what its backend promises.",
    extra="worker",
    options=SanityOptions,
    says=_says,
)


def judge_sanity(request: ImageRequest, made: GeneratedImage, options: SanityOptions) -> Judgement:
    """Reject an image of a wrong size or with changed pixels that were to be kept.

    Which ones those are is said by the backend, with each image: the object's or all others. The
    score is the share of them that equal the source's in all three channels. It is 1 where nothing
    is promised, such as for an object that was moved, or for an image of another size than the
    source's. An image that is not one at all has 0.
    """
    if fault := _find_fault(request, made, options):
        return Judgement(0.0, fault)
    stays, source = made.kept, request.source
    if stays is None or source is None or not stays.any():
        return Judgement(1.0, details={"compared": False})

    score = float((made.image[stays] == source.image[stays]).all(axis=1).mean())
    reason = ""
    if score < options.min_unchanged:
        of_object = made.mask is not None and np.array_equal(stays, made.mask)
        which = "the object's pixels" if of_object else "the pixels to keep"
        reason = f"{1 - score:.2%} of {which} differ from the source's."
    return Judgement(score, reason, {"compared": True})


def _find_fault(request: ImageRequest, made: GeneratedImage, options: SanityOptions) -> str:
    """Reason why the image is unusable by size, type or masks; empty if usable."""
    image, mask = made.image, made.mask
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
        return (
            f"The image is {image.dtype} of shape {image.shape}, not 8-bit pixels of shape "
            "(height, width, 3)."
        )

    height, width = image.shape[:2]
    expected = (options.width_px or width, options.height_px or height)
    if options.source_size and request.source is not None:
        expected = request.source.mask.shape[::-1]
    if (width, height) != expected:
        return f"The image is {width} x {height} px, not {expected[0]} x {expected[1]} px."

    if fault := _find_kept_fault(request, made):
        return fault

    if mask is None:
        return ""
    if mask.dtype != np.bool_ or mask.shape != image.shape[:2]:
        return f"The object's mask is {mask.dtype} of shape {mask.shape}, not of the image's."
    if not mask.any():
        return "The object is not in the image: its mask is empty."

    background = 1 - float(mask.mean())
    if background < options.min_background:
        return (
            f"Only {background:.1%} of the image is outside the object; at least "
            f"{options.min_background:.1%} are needed to show anything else."
        )
    return ""


def _find_kept_fault(request: ImageRequest, made: GeneratedImage) -> str:
    """Reason why the pixels to keep cannot be compared; empty if they can."""
    mask, shape = made.kept, made.image.shape[:2]
    if mask is None:
        return ""
    if mask.dtype != np.bool_ or mask.shape != shape:
        return f"The mask of pixels to keep is {mask.dtype} of shape {mask.shape}, not the image's."

    if request.source is None:
        return "The image has pixels to keep, and no source."
    if request.source.mask.shape != shape:
        return "The image has pixels to keep, and another size than its source."
    return ""


def open_filter(options: SanityOptions) -> PixelFilter:
    """Open the filter; see `cobalance.base.registry.Plugins`."""
    return PixelFilter("sanity", options, judge_sanity)
