"""Choose which instances of an image's object are painted or kept, by the sizes of their boxes."""

from collections.abc import Sequence

import numpy as np

from cobalance.generation.sources.mask_settings import MaskSettings
from cobalance.generation.sources.unusable import UnusableError
from cobalance.ingest.images.arrays import MaskArray


def choose_instances(settings: MaskSettings, areas_px: Sequence[float]) -> list[int]:
    """Choose instances by the areas of their boxes, as `MaskSettings.instances` says.

    Parameters
    ----------
    settings : MaskSettings
        Which ones to choose.
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

    Examples
    --------
    >>> two = MaskSettings(instances="largest_box", second_above_px=55_000)
    >>> choose_instances(two, [55_001, 90_000, 80_000]), choose_instances(two, [90_000, 55_000])
    ([1, 2], [0])
    >>> choose_instances(MaskSettings(instances="all"), [1, 3, 3])
    [1, 2, 0]
    """
    order = sorted(range(len(areas_px)), key=lambda at: -areas_px[at])
    if settings.instances == "single" and len(order) > 1:
        raise UnusableError(
            "shows several of its object, and exactly one is wanted",
            "Choose another value for the setting masks.instances",
            f"{len(order)} of them",
        )
    if settings.instances != "largest_box":
        return order
    second = order[1:2]
    above_px = settings.second_above_px
    if above_px is None or not second or not areas_px[second[0]] > above_px:
        return order[:1]
    return order[:2]


def bounds_area(mask: MaskArray) -> int:
    """Area of a mask's bounding box in pixels; 0 for an empty mask.

    Examples
    --------
    >>> mask = np.zeros((5, 6), bool)
    >>> mask[1, 1] = mask[3, 4] = True
    >>> bounds_area(mask)
    12
    """
    sides = [np.flatnonzero(mask.any(axis=axis)) for axis in (0, 1)]
    return int(np.prod([side[-1] - side[0] + 1 if len(side) else 0 for side in sides]))
