"""Confidence intervals of proportions, their differences and their sums."""

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, special

NORMAL_95 = 1.959963984540054
"""Half the width of a normal interval of 95%, in standard errors."""


def normal_quantile(confidence: float) -> float:
    """Half the width of a normal interval of this confidence, in standard errors."""
    return float(-special.ndtri((1 - confidence) / 2))


def wilson(
    hits: FloatArray, n: FloatArray, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of each proportion; NaN for one of nothing.

    Unlike a bootstrap, it has a width for a group of one image, and for one that is all right
    (Wilson, Journal of the American Statistical Association 22, 1927).

    Examples
    --------
    >>> low, high = wilson(np.array([40.0]), np.array([100.0]))
    >>> low.round(4), high.round(4)
    (array([0.3094]), array([0.498]))
    """
    z2 = normal_quantile(confidence) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        rate, weight = hits / n, 1 / (1 + z2 / n)
        half = weight * np.sqrt(z2 * (rate * (1 - rate) + z2 / (4 * n)) / n)
        centre = weight * (rate + z2 / (2 * n))

    # Where none or all hit, the formula gives the bound but for rounding.
    has_images = np.asarray(n) > 0
    low = np.where(has_images & (np.asarray(hits) == 0), 0.0, centre - half)
    high = np.where(has_images & (np.asarray(hits) == n), 1.0, centre + half)
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


def proportions(
    hits: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each proportion, and both limits of its interval by `wilson`; NaN for one of nothing."""
    hits, n = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return hits / n, *wilson(hits, n, confidence)


def sum_interval(
    coefficients: FloatArray, values: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[float, float]:
    """Interval of a sum of independent estimates times coefficients, from their own intervals.

    Squares of the distances to the limits add up (Zou and Donner, Statistics in Medicine 27, 2008).
    Of a difference of two proportions with Wilson's intervals it is Newcombe's interval
    (Statistics in Medicine 17, 1998, method 10). Estimates with the coefficient 0 may be NaN.

    Parameters
    ----------
    coefficients, values, low, high : float64 arrays, shape (k,)

    Examples
    --------
    >>> low, high = wilson(np.array([56.0, 48.0]), np.array([70.0, 80.0]))
    >>> limits = sum_interval(np.array([1.0, -1.0]), np.array([56 / 70, 48 / 80]), low, high)
    >>> [round(limit, 4) for limit in limits]  # Newcombe's example (a)
    [0.0524, 0.3339]
    """
    used = coefficients != 0
    c, p, low, high = coefficients[used], values[used], low[used], high[used]
    down = np.where(c > 0, p - low, high - p)
    up = np.where(c > 0, high - p, p - low)

    total = float(c @ p)
    return (
        total - float(np.sqrt((c**2) @ (down**2))),
        total + float(np.sqrt((c**2) @ (up**2))),
    )


def newcombe(
    hits: FloatArray,
    n: FloatArray,
    other_hits: FloatArray,
    other_n: FloatArray,
    confidence: float = 0.95,
) -> tuple[FloatArray, FloatArray]:
    """Newcombe's interval of the difference of two proportions; NaN where one has no images."""
    limits = np.full((2, len(hits)), np.nan)
    has_both = (n > 0) & (other_n > 0)

    rate, low, high = proportions(hits[has_both], n[has_both], confidence)
    other, other_low, other_high = proportions(other_hits[has_both], other_n[has_both], confidence)
    limits[0, has_both] = rate - other - np.hypot(rate - low, other_high - other)
    limits[1, has_both] = rate - other + np.hypot(high - rate, other - other_low)
    return limits[0], limits[1]
