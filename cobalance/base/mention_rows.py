"""Which mentions are of which image, for working on images block by block."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobalance.base.arrays import IntArray
from cobalance.base.records import Annotations

BLOCK = 1 << 17
"""Images worked on at once, where the arrays of all would take gigabytes."""


@dataclass(frozen=True, eq=False)
class MentionRows:
    """Rows of the mentions of each image.

    Parameters
    ----------
    bounds : int array, shape (n_images + 1,)
        Image i has the mentions ``bounds[i]`` to ``bounds[i + 1] - 1`` in `order`.
    order : int array or None
        Rows of the mentions, image after image; None where they are in this order already.
    """

    bounds: IntArray
    order: IntArray | None

    @classmethod
    def of(cls, annotations: Annotations) -> "MentionRows":
        """Find the rows: linear in the number of mentions if they are in the order of images."""
        image = annotations.mentions["image"].to_numpy()
        counts = np.bincount(image, minlength=len(annotations.images))
        order = None
        if not (image[1:] >= image[:-1]).all():
            order = np.argsort(image, kind="stable")
        return cls(np.append(0, np.cumsum(counts)), order)

    def blocks(self) -> Iterator[tuple[int, int, slice | IntArray]]:
        """Yield runs of images, first and end, with the rows of their mentions; at least one."""
        n_images = len(self.bounds) - 1
        for first in range(0, max(n_images, 1), BLOCK):
            end = min(first + BLOCK, n_images)
            places = slice(int(self.bounds[first]), int(self.bounds[end]))
            yield first, end, self._rows(places)

    def at(self, images: IntArray) -> IntArray:
        """Rows of the mentions of some images, image after image.

        Examples
        --------
        >>> MentionRows(np.array([0, 2, 2, 5]), None).at(np.array([2, 0])).tolist()
        [2, 3, 4, 0, 1]
        """
        starts, lengths = self.bounds[images], self.lengths(images)
        # The first place of each image, less the number of places before it in the result.
        shift = np.repeat(starts - np.append(0, np.cumsum(lengths)[:-1]), lengths)
        places = shift + np.arange(len(shift))
        return self._rows(places)

    def lengths(self, images: IntArray) -> IntArray:
        """Count the mentions of some images."""
        return self.bounds[images + 1] - self.bounds[images]

    def _rows(self, places: Any) -> Any:
        """Rows of the mentions at some places in `order`."""
        if self.order is None:
            return places
        return self.order[places]
