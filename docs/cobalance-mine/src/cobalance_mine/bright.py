"""The filter of dark images."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from cobalance.base.options import Options
from cobalance.generation.filters.filter import FilterPlugin, Judgement
from cobalance.generation.image_request import GeneratedImage, ImageRequest


class BrightOptions(Options):
    """Options of the filter bright.

    Parameters
    ----------
    threshold : float
        The least mean of all channels, from 0 to 1.
    """

    threshold: float = Field(default=0.2, ge=0, le=1)


PLUGIN = FilterPlugin("bright", "The image is not dark.", "worker", BrightOptions)


class BrightFilter:
    """Rejects dark images; the score is the mean of all channels."""

    def __init__(self, options: BrightOptions) -> None:
        self.options = options

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge each image by itself."""
        return [self._judge(float(candidate.image.mean()) / 255) for candidate in made]

    def describe(self) -> Mapping[str, Any]:
        """The settings, for provenance."""
        return {"filter": "bright", "settings": self.options.model_dump()}

    def _judge(self, score: float) -> Judgement:
        if score >= self.options.threshold:
            return Judgement(score)
        return Judgement(
            score, f"The image is dark: {score:.3f}, less than {self.options.threshold:g}."
        )


def open_filter(options: BrightOptions) -> BrightFilter:
    """Open the filter."""
    return BrightFilter(options)
