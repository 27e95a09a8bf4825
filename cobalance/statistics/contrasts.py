"""Differences between classes in their concepts: residuals, the strongest contrast, skew.

All are functions of ``counts``, int array, shape (n_concepts, n_classes), the images of each class
that show the concept, and ``class_sizes``, int array, shape (n_classes,), all images of each class.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, IntArray

MARGIN = 1.96
"""Standard errors of a difference of rates that chance may give: 95% of normal deviates."""
_ROUNDING = 1e-9


def standardized_residuals(counts: IntArray, class_sizes: IntArray) -> FloatArray:
    """Return by how many standard errors each count differs from independence of class and concept.

    Each concept has a table of its own: images with and without it, in each class. If class and
    concept are independent, a residual is about normal with variance 1, whatever the margins. With
    two classes the residuals of both differ in their signs alone.

    Returns
    -------
    float64 array, shape (n_concepts, n_classes)
        Above 0 where the class shows the concept more often than all images together. 0 where the
        margins leave one count alone: of a concept that every image shows or none, and of a class
        that has no images or all.

    References
    ----------
    Haberman, "The analysis of residuals in cross-classified tables" (Biometrics 29, 1973), the
    adjusted residuals; Agresti, "Categorical Data Analysis" (3rd ed. 2013), section 3.3.1.

    Examples
    --------
    >>> counts, sizes = np.array([[40, 10, 10], [5, 5, 5]]), np.array([100, 100, 100])
    >>> standardized_residuals(counts, sizes).round(2).tolist()
    [[6.12, -3.06, -3.06], [0.0, 0.0, 0.0]]
    """
    total = max(float(class_sizes.sum()), 1.0)
    shown = counts.sum(axis=1, keepdims=True) / total
    share = class_sizes / total
    expected = shown * class_sizes

    # Haberman's variance of the adjusted residuals.
    variance = expected * (1 - shown) * (1 - share)
    residuals = np.zeros(counts.shape)
    np.divide(counts - expected, np.sqrt(variance), out=residuals, where=variance > _ROUNDING)
    return np.where(np.abs(residuals) < _ROUNDING, 0.0, residuals)


@dataclass(frozen=True)
class Contrast:
    """The two classes that differ most.

    Parameters
    ----------
    first, second : int
        Class codes in ascending order.
    strength : float
        How much they differ, see `strongest_contrast`; 0 where no two classes do.
    ties : int
        Further pairs that differ as much.
    """

    first: int
    second: int
    strength: float
    ties: int


def strongest_contrast(counts: IntArray, class_sizes: IntArray) -> Contrast | None:
    """Return the two classes whose rates of concepts differ most surely.

    Two classes differ by the sum over concepts of the difference of their rates less its margin of
    error, where that is above 0: so a class of few images wins by large differences alone. Of pairs
    that differ equally the first in class order is returned. None where fewer than two classes have
    images.

    Notes
    -----
    Takes time in the order of n_concepts * n_classes^2.

    References
    ----------
    Agresti and Caffo, "Simple and effective confidence intervals for proportions and differences
    of proportions result from adding two successes and two failures" (The American Statistician
    54, 2000): the margin, and the rates with one image more of either kind.

    Examples
    --------
    >>> found = strongest_contrast(np.array([[90, 50, 10], [9, 9, 9]]), np.array([100, 100, 100]))
    >>> found.first, found.second, round(found.strength, 2), found.ties
    (0, 2, 0.7, 0)
    """
    codes = np.flatnonzero(class_sizes)
    if len(codes) < 2:
        return None

    # Agresti and Caffo (2000): rates with one image more of either kind.
    rates = (counts[:, codes] + 1) / (class_sizes[codes] + 2)
    variances = rates * (1 - rates) / (class_sizes[codes] + 2)

    # Each class is compared with those behind it, in the order of the pairs below.
    strengths_by_first = []
    for first in range(len(codes) - 1):
        rest = slice(first + 1, None)
        margins = MARGIN * np.sqrt(variances[:, rest] + variances[:, [first]])
        beyond = np.abs(rates[:, rest] - rates[:, [first]]) - margins
        strengths_by_first.append(np.maximum(beyond, 0).sum(axis=0))
    strengths = np.concatenate(strengths_by_first)

    strength = float(strengths.max())
    as_strong = np.flatnonzero(strengths >= strength - _ROUNDING)
    pairs = np.column_stack(np.triu_indices(len(codes), 1))
    first, second = codes[pairs[as_strong[0]]].tolist()
    return Contrast(first=first, second=second, strength=strength, ties=len(as_strong) - 1)


def skew(
    counts: npt.ArrayLike, class_sizes: npt.ArrayLike, left: Sequence[int], right: Sequence[int]
) -> FloatArray:
    """Return the skew of concepts or cliques, (r - l) / (r + l), from the rates on either side.

    Parameters
    ----------
    counts : array, shape (n, n_classes)
        Images of each class with the concept or clique. NaN stands for not counted.
    class_sizes : array, shape (n_classes,)
        All images of each class.
    left, right : sequences of int
        Class codes of the two sides. The rate of a side is its images with
        the concept, divided by all its images.

    Returns
    -------
    float64 array, shape (n,)
        -1 where only the left side has it, +1 where only the right side has, 0 where the rates
        are equal, where neither has any, and where a side has no images to compare. NaN where
        the counts are.
    """
    table = np.asarray(counts, dtype=np.float64).reshape(-1, np.size(class_sizes))
    sizes = np.asarray(class_sizes, dtype=np.float64)
    left_total, right_total = sizes[list(left)].sum(), sizes[list(right)].sum()
    left_rate = table[:, list(left)].sum(axis=1) / (left_total or 1.0)
    right_rate = table[:, list(right)].sum(axis=1) / (right_total or 1.0)

    both = left_rate + right_rate
    if not left_total or not right_total:
        return np.where(np.isnan(both), np.nan, 0.0)
    return np.asarray((right_rate - left_rate) / np.where(both == 0, 1.0, both))
