"""Labels that follow from scores (GELDA, section 3.2)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.graph.arrays import BoolArray, FloatArray

_AnyFloats = npt.NDArray[np.floating[Any]]


def image_level(scores: FloatArray, base: FloatArray, *, multi: bool = False) -> BoolArray:
    """Which attributes of a category images show, by their scores and that of a base caption.

    The attribute with the highest score is present if it is above the base caption's; the first of
    several with the same.

    Parameters
    ----------
    scores : float array, shape (images, attributes)
        Of one category. NaN is never present.
    base : float array, shape (images,)
        Scores of the caption that names the domain alone.
    multi : bool
        Whether every attribute above the base caption is present.

    Returns
    -------
    bool array, shape (images, attributes)

    Examples
    --------
    >>> scores = np.array([[0.2, 0.6, 0.5]])
    >>> image_level(scores, np.array([0.55])).tolist(), image_level(scores, np.array([0.7])).any()
    ([[False, True, False]], np.False_)
    >>> image_level(scores, np.array([0.45]), multi=True).tolist()
    [[False, True, True]]
    """
    above: BoolArray = scores > base[:, None]
    if multi or not scores.shape[1]:
        return above
    best = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)
    above &= np.arange(scores.shape[1]) == best[:, None]
    return above


def object_level(scores: _AnyFloats, threshold: float | _AnyFloats = 0.3) -> BoolArray:
    """Which attributes images show, by the best box of each.

    Parameters
    ----------
    scores : float array, shape (images, attributes)
        The highest score of a box; NaN or 0 where there is none.
    threshold : float or float array, shape (attributes,)
        The lowest score that counts, the paper's α.

    Examples
    --------
    >>> object_level(np.array([[0.29, 0.3, np.nan]])).tolist()
    [[False, True, False]]
    """
    present: BoolArray = scores >= threshold
    return present
