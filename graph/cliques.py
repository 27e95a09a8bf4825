"""Mine all concept cliques up to a size, with exact joint counts per class."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Cliques:
    """Concept cliques with their joint count in every class.

    Rows are ordered by size, then by members as tuples of concept codes.

    Parameters
    ----------
    members : int32 array, shape (n_cliques, max_size)
        Concept codes, ascending, padded with -1 behind the last.
    counts : int64 array, shape (n_cliques, n_classes)
        Images of the class that contain every member (the paper's F), zero included.
    class_sizes : int64 array, shape (n_classes,)
        Images of each class, whatever they contain.
    concepts, classes : tuple of str
        Names by code, both in ascending order of name (Unicode code points).
    """

    members: IntArray
    counts: IntArray
    class_sizes: IntArray
    concepts: tuple[str, ...]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.members)

    def sizes(self) -> IntArray:
        """Count the members of each clique: int64 array, shape (n_cliques,)."""
        return (self.members >= 0).sum(axis=1)

    def names(self) -> list[tuple[str, ...]]:
        """Give the members of each clique as names."""
        concepts = np.array([*self.concepts, None], dtype=object)
        return [
            tuple(row[:size])
            for row, size in zip(
                concepts[self.members].tolist(), self.sizes().tolist(), strict=True
            )
        ]
