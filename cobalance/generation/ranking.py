"""Ranking of candidates: the best of several images by the weighted sum of their ranks."""

from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, stats


def rank_candidates(scores: npt.ArrayLike, weights: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Order the candidates of one image and group, the best one first.

    Each score ranks the candidates, the highest first (`rank_scores`); the winner has the smallest
    weighted sum of its ranks, argmin_j Σ_k c_k · r(s_k(j)) in the paper [1]_. Candidates with the
    same sum keep their order, so that the lowest index wins.

    Parameters
    ----------
    scores : float array, shape (m, k)
        k scores of each of the m candidates, in the order of their numbers; higher is better.
        NaN stands for a score that is not known.
    weights : float array, shape (k,)
        The weight of each score, finite; 1 for all in the paper.

    Returns
    -------
    int64 array, shape (m,)
        Positions of the candidates: the winner, the second, and so on. Empty for no candidates.

    Notes
    -----
    The paper does not say what becomes of ties. With 30 candidates and a discrete score they decide
    about half of all winners, so that sums are compared exactly, with the weights as they are
    written in decimals: in floating point 0.1 · 1 + 0.1 · 2 + 0.1 · 3 would depend on the order of
    its terms. O(k · m log m).

    References
    ----------
    .. [1] *Resampled Datasets Are Not Enough* (2024), section 2.1, equations 2 and 3.

    Examples
    --------
    >>> rank_candidates([[0.3, 7], [0.2, 9], [0.3, 8]], [1, 1])
    array([2, 1, 0])
    >>> rank_candidates([[0.3], [0.3], [0.4]], [1])
    array([2, 0, 1])
    """
    sums = _exact_sums(scores, weights)
    return np.array(sorted(range(len(sums)), key=sums.__getitem__), dtype=np.int64)


def sum_ranks(scores: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """Weighted sum of each candidate's ranks, shape (m,)."""
    return np.array(list(map(float, _exact_sums(scores, weights))))


def rank_scores(scores: npt.ArrayLike) -> FloatArray:
    """Rank of each score in its column, 1 for the highest.

    Equal scores share the average of their ranks. A NaN ranks behind every number, minus infinity
    included, and several share the average of the last ranks: a candidate whose score is not known
    is never preferred for that.

    Parameters
    ----------
    scores : float array, shape (m, k)
        Higher is better.

    Returns
    -------
    float array, shape (m, k)
        From 1 to m; multiples of a half.

    Examples
    --------
    >>> rank_scores([[0.5], [0.9], [0.5], [float("nan")]]).tolist()
    [[2.5], [1.0], [2.5], [4.0]]
    """
    values = np.asarray(scores, dtype=np.float64)
    ranks = stats.rankdata(-values, axis=0, nan_policy="omit")
    n_known = np.count_nonzero(~np.isnan(values), axis=0)
    return np.where(np.isnan(values), (n_known + 1 + len(values)) / 2, ranks)


def _exact_sums(scores: npt.ArrayLike, weights: npt.ArrayLike) -> list[Fraction]:
    """Weighted sums of ranks as fractions."""
    factors = np.asarray(weights, dtype=np.float64)
    exact = [Fraction(repr(weight)) for weight in factors.tolist()]
    # With a common denominator, and ranks doubled, which may end in .5, all numbers are whole.
    common = lcm(*(weight.denominator for weight in exact))
    whole = [int(weight * common) for weight in exact]
    doubled: list[list[Any]] = (2 * rank_scores(scores)).astype(np.int64).tolist()
    return [Fraction(sum(map(mul, row, whole)), 2 * common) for row in doubled]
