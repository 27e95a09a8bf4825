"""Select the annotated regions that show an image's class, and the instances among them."""

import re
from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import Box
from cobalance.generation.sources.mask_settings import ANY, MaskSettings, UnusableError
from cobalance.vision import MaskArray, find_box

PEOPLE = frozenset({"boy", "female", "girl", "lady", "male", "man", "men", "woman", "women"})
"""Classes whose object is a ``person``, where no region has their own name."""


def object_regions(
    regions: pd.DataFrame, class_name: str, names: Collection[str] = ()
) -> pd.DataFrame:
    """Select the regions of an image's object, crowds included, by `MaskSettings.object`.

    Examples
    --------
    >>> regions = pd.DataFrame({"concept": ["sofa", "Person", "sofa"]})
    >>> object_regions(regions, "woman")["concept"].tolist()
    ['Person']
    >>> object_regions(regions, "cat").empty, len(object_regions(regions, "cat", ["*"]))
    (True, 3)
    """
    if ANY in names:
        return regions
    concepts = list(map(_plain, regions["concept"]))
    if names:
        tries = [set(map(_plain, names))]
    else:
        tries = [{_plain(class_name)}]
        if _plain(class_name) in PEOPLE:
            tries.append({"person", "people"})
        # The only concept of an image is its object, by whatever name.
        if len(set(concepts)) == 1:
            tries.append(set(concepts))

    for accepted in tries:
        is_object = [concept in accepted for concept in concepts]
        if any(is_object):
            return regions[is_object]
    return regions.iloc[:0]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.casefold()))


def annotated_px(regions: pd.DataFrame) -> tuple[int, int] | None:
    """Size of the annotated image in pixels; None if unknown."""
    if regions.empty:
        return None
    width, height = regions["image_width_px"].iloc[0], regions["image_height_px"].iloc[0]
    return None if pd.isna(width) or pd.isna(height) else (int(width), int(height))


def box_of(row: Mapping[Any, Any]) -> Box:
    """Box of a region: x, y, width, height in pixels."""
    return row["x_px"], row["y_px"], row["w_px"], row["h_px"]


def area_of(box: Box) -> float:
    """Area of a box in pixels, to a millionth: sides are decimals, and their product is inexact.

    Examples
    --------
    >>> 70.4 * 781.25 > 55_000, area_of((0, 0, 70.4, 781.25)) > 55_000
    (True, False)
    """
    return round(box[2] * box[3], 6)


def fill_box(box: Box, width: int, height: int) -> MaskArray:
    """Rasterise a box: a pixel is True if its centre is inside, as for outlines."""
    x, y, w, h = box
    columns, rows = np.arange(width) + 0.5, np.arange(height) + 0.5
    return np.outer((rows >= y) & (rows < y + h), (columns >= x) & (columns < x + w))


def fill_bounds(outlined: MaskArray) -> MaskArray:
    """Fill the bounding box of a mask."""
    full = np.zeros_like(outlined)
    if outlined.any():
        full[find_box(outlined).slices] = True
    return full


def choose_instances(settings: MaskSettings, areas_px: Sequence[float]) -> list[int]:
    """Choose instances by the areas of their boxes, as `MaskSettings.instances` says.

    Parameters
    ----------
    areas_px : sequence of float
        The area of each instance's box, in pixels of the annotated image.

    Returns
    -------
    list of int
        Positions, those of larger boxes first; of equal boxes, the first comes first.

    Raises
    ------
    UnusableError
        Exactly one is wanted, and there are several.
    """
    order = sorted(range(len(areas_px)), key=lambda place: -areas_px[place])
    if settings.instances == "single" and len(order) > 1:
        raise UnusableError(
            "shows several of its object, and exactly one is wanted",
            "Choose another value for the setting masks.instances",
            f"{len(order)} of them",
        )
    if settings.instances != "largest_box":
        return order

    above_px = settings.second_above_px
    if len(order) > 1 and above_px is not None and areas_px[order[1]] > above_px:
        return order[:2]
    return order[:1]


def bounds_area(mask: MaskArray) -> int:
    """Area of a mask's bounding box in pixels; 0 for an empty mask."""
    return prod(find_box(mask).shape) if mask.any() else 0
