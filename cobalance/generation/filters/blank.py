"""Blank filter: images of nearly one colour, or black."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cobalance.generation.filters.filter import (
    FilterPlugin,
    Judgement,
    Said,
    Scored,
    describe_score,
)
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.graph.options import Options


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
    said = describe_score(
        found.score,
        options.threshold,
        enough="Not one colour",
        too_little="Nearly one colour",
    )
    if "luminance" not in found.details:
        return said
    light = describe_score(
        found.details["luminance"],
        options.min_luminance,
        enough="not black",
        too_little="nearly black",
    )
    return Said.all([said, light])


PLUGIN = FilterPlugin(
    "blank",
    "The image is not one colour, or nearly.",
    extra="worker",
    options=BlankOptions,
    says=_says,
)


LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""Weights of red, green and blue in luminance (ITU-R BT.601)."""


@dataclass(frozen=True)
class BlankFilter:
    """Rejects images of which the painted part is blank.

    The score is the standard deviation of luminance, from 0 (one colour) to 0.5 (half black, half
    white), of the pixels that are not kept; outside the object's mask where nothing is promised, as
    for an object that was moved; of the whole image where that is not known either. What is kept
    is left out because it would hide that the rest is empty.
    """

    options: BlankOptions

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge each image independently, in time linear in its pixels."""
        return [self._judge(one) for _, one in zip(requests, made, strict=True)]

    def describe(self) -> Mapping[str, Any]:
        """The settings."""
        return {"filter": "blank", "settings": self.options.model_dump()}

    def _judge(self, made: GeneratedImage) -> Judgement:
        painted = _painted_pixels(made)
        luminance = (painted.astype(np.float32) / 255) @ LUMA
        score = float(luminance.std(dtype=np.float64))
        mean = float(luminance.mean(dtype=np.float64))
        reason = ""
        if score < self.options.threshold:
            reason = (
                f"The image is nearly one colour: its luminance has a standard deviation of "
                f"{score:.4f}, less than {self.options.threshold:g}."
            )
        elif mean < self.options.min_luminance:
            reason = (
                f"The image is nearly black: its mean luminance is {mean:.4f}, less than "
                f"{self.options.min_luminance:g}."
            )
        return Judgement(score, accepted=not reason, reason=reason, details={"luminance": mean})


def _painted_pixels(made: GeneratedImage) -> npt.NDArray[np.uint8]:
    """The pixels that are not kept, or those outside the object; all if that leaves none."""
    stays = made.mask if made.kept is None else made.kept
    if stays is None or stays.shape != made.image.shape[:2] or stays.all():
        return made.image.reshape(-1, 3)
    return made.image[~stays]


def open_filter(options: BlankOptions) -> BlankFilter:
    """Open the filter; see `cobalance.graph.plugins.Plugins`."""
    return BlankFilter(options)
