"""The segmenter that takes an object for the ellipse in its box."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from cobalance.base.options import Options
from cobalance.base.plugins import Plugin
from cobalance.base.records import Box
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.segmenters.segmenter import check_box
from cobalance.vision.images.arrays import ImageArray, MaskArray


class EllipseOptions(Options):
    """Options of the segmenter ellipse.

    Parameters
    ----------
    share : float
        Of the box's width and height.
    """

    share: float = Field(default=1.0, gt=0, le=1)


PLUGIN = Plugin("ellipse", "The ellipse in the object's box.", options=EllipseOptions)


class EllipseSegmenter:
    """Finds objects without looking at the image."""

    def __init__(self, options: EllipseOptions) -> None:
        self.options = options

    def segment(self, image: ImageArray, box: Box | None) -> MaskArray:
        """The object's mask."""
        if box is None:
            raise GenerationError("The segmenter ellipse needs the object's box. Annotate it.")
        check_box(image, box)
        left, top, width, height = box
        rows, columns = np.indices(image.shape[:2]) + 0.5
        across = (columns - left - width / 2) / width
        down = (rows - top - height / 2) / height
        mask: MaskArray = across**2 + down**2 <= (self.options.share / 2) ** 2
        return mask

    def describe(self) -> Mapping[str, Any]:
        """The settings, for provenance."""
        return {"segmenter": "ellipse", "settings": self.options.model_dump()}


def open_segmenter(options: EllipseOptions) -> EllipseSegmenter:
    """Open the segmenter."""
    return EllipseSegmenter(options)
