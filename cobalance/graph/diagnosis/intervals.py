"""Confidence intervals of proportions, their differences and their sums."""

import numpy as np

from cobalance.graph.arrays import FloatArray

NORMAL_95 = 1.959963984540054
"""Half the width of a normal interval of 95%, in standard errors."""


def wilson(
    hits: FloatArray, n: FloatArray, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of each proportion; NaN for one of nothing.

    Unlike a bootstrap, it has a width for a group of one image, and for one that is all right.

    Examples
    --------
    >>> low, high = wilson(np.array([40.0]), np.array([100.0]))
    >>> low.round(4), high.round(4)
    (array([0.3094]), array([0.498]))
    """
    from statsmodels.stats.proportion import proportion_confint

    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = proportion_confint(hits, n, alpha=1 - confidence, method="wilson")
    some = np.asarray(n) > 0  # where none or all hit, the formula gives the bound but for ulps
    low = np.where(some & (np.asarray(hits) == 0), 0.0, low)
    high = np.where(some & (np.asarray(hits) == n), 1.0, high)
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


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
    from statsmodels.stats.proportion import confint_proportions_2indep

    limits = np.full((2, len(hits)), np.nan)
    some = (n > 0) & (other_n > 0)
    if some.any():
        limits[:, some] = confint_proportions_2indep(
            hits[some],
            n[some],
            other_hits[some],
            other_n[some],
            method="newcomb",
            alpha=1 - confidence,
        )
    return limits[0], limits[1]
