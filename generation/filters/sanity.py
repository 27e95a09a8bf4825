"""Sanity filter: size and unchanged object pixels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from generation.filters.filter import FilterPlugin, Judgement
from generation.image_request import GeneratedImage, ImageRequest
from graph.options import Options


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
        The least share of the object's pixels that must be as in the source.
    """

    width_px: int | None = Field(default=None, ge=1)
    height_px: int | None = Field(default=None, ge=1)
    source_size: bool = False
    min_background: float = Field(default=0.05, ge=0, le=1)
    min_unchanged: float = Field(default=1.0, ge=0, le=1)


PLUGIN = FilterPlugin(
    "sanity",
    "The image has the size that was asked for, and keeps its object.",
    extra="worker",
    options=SanityOptions,
)


@dataclass(frozen=True)
class SanityFilter:
    """Rejects images of a wrong size or with changed object pixels.

    The score is the share of the object's pixels that equal the source's in all three channels. It
    is 1 where they cannot be compared: without a mask, with a source of another size, or where the
    object was moved, so that its mask is not the source's. An image that is not one at all has 0.
    """

    options: SanityOptions

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge each image independently, in time linear in its pixels."""
        return [self._judge(*pair) for pair in zip(requests, made, strict=True)]

    def describe(self) -> Mapping[str, Any]:
        """The settings."""
        return {"filter": "sanity", "settings": self.options.model_dump()}

    def _judge(self, request: ImageRequest, made: GeneratedImage) -> Judgement:
        fault = self._fault(request, made)
        if fault:
            return Judgement(0.0, accepted=False, reason=fault)
        compared = (
            made.mask is not None
            and request.source is not None
            and np.array_equal(made.mask, request.source.mask)
        )
        score = 1.0
        if compared:
            assert made.mask is not None and request.source is not None  # noqa: PT018, S101 - mypy
            same = made.image[made.mask] == request.source.image[made.mask]
            score = float(same.all(axis=1).mean())
        details = {"compared": compared}
        if score < self.options.min_unchanged:
            reason = f"{1 - score:.2%} of the object's pixels differ from the source's."
            return Judgement(score, accepted=False, reason=reason, details=details)
        return Judgement(score, accepted=True, details=details)

    def _fault(self, request: ImageRequest, made: GeneratedImage) -> str:
        """Reason why the image is unusable whatever its pixels; empty for a usable one."""
        image, mask = made.image, made.mask
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
            return (
                f"The image is {image.dtype} of shape {image.shape}, not 8-bit pixels of shape "
                "(height, width, 3)."
            )
        height, width = image.shape[:2]
        wanted = (self.options.width_px or width, self.options.height_px or height)
        if self.options.source_size and request.source is not None:
            wanted = request.source.mask.shape[::-1]
        if (width, height) != wanted:
            return f"The image is {width} x {height} px, not {wanted[0]} x {wanted[1]} px."
        if mask is None:
            return ""
        if mask.dtype != np.bool_ or mask.shape != image.shape[:2]:
            return f"The object's mask is {mask.dtype} of shape {mask.shape}, not of the image's."
        if not mask.any():
            return "The object is not in the image: its mask is empty."
        background = 1 - float(mask.mean())
        if background < self.options.min_background:
            return (
                f"Only {background:.1%} of the image is outside the object; at least "
                f"{self.options.min_background:.1%} are needed to show anything else."
            )
        return ""


def open_filter(options: SanityOptions) -> SanityFilter:
    """Open the filter; see `graph.plugins.Plugins`."""
    return SanityFilter(options)
