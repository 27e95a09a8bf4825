"""The annotator that tells day from night by brightness."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from cobalance.base.options import Options
from cobalance.base.plugins import Plugin
from cobalance.base.records import Mention
from cobalance.vision.images.arrays import ImageArray


class DaylightOptions(Options):
    """Options of the annotator daylight.

    Parameters
    ----------
    threshold : float
        Images whose channels have a greater mean, from 0 to 1, are of the day.
    """

    threshold: float = Field(default=0.4, ge=0, le=1)


PLUGIN = Plugin("daylight", "Tells day from night by brightness.", options=DaylightOptions)


class DaylightAnnotator:
    """Mentions ``day`` or ``night``, if the dataset has this concept."""

    def __init__(self, options: DaylightOptions) -> None:
        self.options = options

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for the two concepts in images."""
        mentions: list[list[Mention]] = []
        for image in images:
            is_bright = float(image.mean()) / 255 > self.options.threshold
            name = "day" if is_bright else "night"
            mentions.append([Mention(name, "daylight")] if name in vocabulary else [])
        return mentions

    def describe(self) -> Mapping[str, Any]:
        """The settings, for provenance."""
        return {"annotator": "daylight", "settings": self.options.model_dump()}


def open_annotator(options: DaylightOptions) -> DaylightAnnotator:
    """Open the annotator."""
    return DaylightAnnotator(options)
