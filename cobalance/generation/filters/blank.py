"""Blank filter: images of nearly one colour, or black."""

import numpy as np
import numpy.typing as npt
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


class BlankOptions(Options):
    """Thresholds below which an image is blank.

    Parameters
    ----------
    threshold : float
        The least standard deviation of luminance, from 0 to 0.5: 0.02 is five of 255 grey levels.
    min_luminance : float
        The least mean luminance, from 0 to 1: overflow in half precision makes black images.
    """

    threshold: float = Field(default=0.02, ge=0, le=0.5)
    min_luminance: float = Field(default=0.01, ge=0, le=1)


def _says(found: Scored, options: BlankOptions) -> Said:
    of_spread = describe_score(
        found.score,
        options.threshold,
        enough="Not one colour",
        too_little="Nearly one colour",
    )

    if "luminance" not in found.details:
        return of_spread
    of_light = describe_score(
        found.details["luminance"],
        options.min_luminance,
        enough="not black",
        too_little="nearly black",
    )
    return Said.all([of_spread, of_light])


PLUGIN = FilterPlugin(
    "blank",
    "The image is not one colour, or nearly.",
    extra="worker",
    options=BlankOptions,
    says=_says,
)


LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""Weights of red, green and blue in luminance (ITU-R BT.601)."""


def judge_blank(_: ImageRequest, made: GeneratedImage, options: BlankOptions) -> Judgement:
    """Reject an image of which the painted part is blank.

    The score is the standard deviation of luminance, from 0 (one colour) to 0.5 (half black, half
    white), of the pixels that are not kept; outside the object's mask where nothing is promised, as
    for an object that was moved; of the whole image where that is not known either. What is kept
    is left out because it would hide that the rest is empty.
    """
    luminance = (_painted_pixels(made).astype(np.float32) / 255) @ LUMA
    score = float(luminance.std(dtype=np.float64))
    mean = float(luminance.mean(dtype=np.float64))

    reason = ""
    if score < options.threshold:
        reason = (
            f"The image is nearly one colour: its luminance has a standard deviation of "
            f"{score:.4f}, less than {options.threshold:g}."
        )
    elif mean < options.min_luminance:
        reason = (
            f"The image is nearly black: its mean luminance is {mean:.4f}, less than "
            f"{options.min_luminance:g}."
        )

    return Judgement(score, reason, {"luminance": mean})


def _painted_pixels(made: GeneratedImage) -> npt.NDArray[np.uint8]:
    """The pixels that are not kept, or those outside the object; all if that leaves none."""
    stays = made.mask if made.kept is None else made.kept
    if stays is None or stays.shape != made.image.shape[:2] or stays.all():
        return made.image.reshape(-1, 3)
    return made.image[~stays]


def open_filter(options: BlankOptions) -> PixelFilter:
    """Open the filter; see `cobalance.base.registry.Plugins`."""
    return PixelFilter("blank", options, judge_blank)
