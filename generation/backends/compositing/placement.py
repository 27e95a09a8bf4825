"""Placement options of backends that paste an object onto a background."""

from typing import Literal

from pydantic import Field

from graph.options import Options


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
