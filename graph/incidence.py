"""Which image contains which concept: the sparse matrix that all counting starts from."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Incidence:
    """Images by concepts as compressed sparse rows, with the class of each image.

    Parameters
    ----------
    indptr : int64 array, shape (n_images + 1,)
        Row i holds ``indices[indptr[i]:indptr[i + 1]]``.
    indices : int32 array, shape (n_entries,)
        Concept codes, strictly ascending within a row.
    labels : int32 array, shape (n_images,)
        Class codes.
    concepts, classes : tuple of str
        Names by code, both in ascending order of name (Unicode code points).
    """

    indptr: IntArray
    indices: IntArray
    labels: IntArray
    concepts: tuple[str, ...]
    classes: tuple[str, ...]

    def class_sizes(self) -> IntArray:
        """Count the images of each class: int64 array, shape (n_classes,)."""
        return np.bincount(self.labels, minlength=len(self.classes))
