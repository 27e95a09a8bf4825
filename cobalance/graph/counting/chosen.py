"""Count chosen combinations of concepts, whether they were mined or not."""

from collections.abc import Sequence

import numpy as np

from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.incidence import Incidence


def count_chosen(incidence: Incidence, chosen: Sequence[Sequence[str]]) -> IntArray:
    """Return the images of each class that show all concepts of each combination.

    Parameters
    ----------
    chosen : sequence of sequences of str
        Combinations of one concept or more; one that no image shows counts zero.

    Returns
    -------
    int64 array, shape (len(chosen), n_classes)

    Examples
    --------
    >>> from cobalance.graph.counting.incidence import build_incidence
    >>> held = build_incidence([0, 0, 1], [0, 1, 0], [0, 1], ("cow", "road"), ("farm", "town"))
    >>> count_chosen(held, [["road", "cow"], ["cow"], ["cow", "owl"]]).tolist()
    [[1, 0], [1, 1], [0, 0]]
    """
    image = np.repeat(np.arange(len(incidence.labels)), np.diff(incidence.indptr))
    order = np.argsort(incidence.indices, kind="stable")
    starts = np.searchsorted(incidence.indices[order], np.arange(len(incidence.concepts) + 1))
    showing = {
        name: image[order[starts[code] : starts[code + 1]]]
        for code, name in enumerate(incidence.concepts)
    }
    counts = np.zeros((len(chosen), len(incidence.classes)), dtype=np.int64)
    for row, names in enumerate(chosen):
        if all(name in showing for name in names):
            first, *others = sorted((showing[name] for name in names), key=len)
            for other in others:
                first = np.intersect1d(first, other, assume_unique=True)
            labels = incidence.labels[first]
            counts[row] = np.bincount(labels, minlength=len(incidence.classes))
    return counts
