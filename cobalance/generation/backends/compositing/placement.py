"""Placement of a source's object in the image: options, and carrying them out."""

from typing import Literal

from pydantic import Field

from cobalance.generation.backends.compositing.cutout import place_object
from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.framing import Size, fit_source
from cobalance.generation.image_request import SourceImage
from cobalance.graph.options import Options
from cobalance.ingest.images.arrays import ImageArray, MaskArray


class PlacementOptions(Options):
    """Position, scale and feathering of a pasted object.

    Parameters
    ----------
    placement : {"keep", "resample"}
        The object where it is in its own image, or at a seeded place and size.
    feather_px : float
        How far the object's edge fades outwards; none of the object's own pixels changes.
    """

    placement: Literal["keep", "resample"] = "keep"
    feather_px: float = Field(default=2.0, ge=0, le=64)


def place_source(
    options: PlacementOptions, source: SourceImage, size: Size, seed: int
) -> tuple[ImageArray, MaskArray, float]:
    """Place a source's object in an image of a size, as the option ``placement`` says.

    Returns
    -------
    image, mask, scale
        As those of `fit_source` and `place_object`.

    Raises
    ------
    GenerationError
        No pixel of the object, or nothing else, is left at that size.
    """
    if options.placement == "keep":
        return fit_source(source, size)
    return place_object(source.image, source.mask, size, Draws(seed, "placement"))
