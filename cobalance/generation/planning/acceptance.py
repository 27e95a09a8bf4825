"""Acceptance of candidates by query: its interval, images still to make, hopeless queries."""

from math import ceil

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import FloatArray
from cobalance.statistics import NORMAL_95, proportions, sum_interval, wilson

# Candidates for which the job's rate counts in a query's own: with two, the sum over the queries
# was closest to what was made, for queries of 4 images and of 1,000 (`python -m benchmarks.pilot`).
_PRIOR_CANDIDATES = 2.0

# A query that can still get half of its images goes on to the limit that its job sets.
_LEAST_SHARE = 0.5


def pilot_size(candidates_per_image: int) -> int:
    """Fewest candidates of which none accepted shows that a large query will not be had.

    Of k candidates without an accepted one, Wilson's upper limit is z² / (k + z²). Times
    `candidates_per_image` it is below half an image for each wanted one if k > z² (2 c - 1).

    Examples
    --------
    >>> [pilot_size(candidates) for candidates in (1, 2, 4, 8)]
    [4, 12, 27, 58]
    """
    return ceil(NORMAL_95**2 * (2 * candidates_per_image - 1))


def estimate_acceptance(
    n: npt.ArrayLike,
    accepted: npt.ArrayLike,
    candidates: npt.ArrayLike,
    most: npt.ArrayLike,
    surplus: npt.ArrayLike = 0,
) -> pd.DataFrame:
    """Estimate a job's acceptance by query, and the candidates that each has yet to make.

    The share is estimated from the query's candidates and two more at the rate of all queries, so
    that one without an accepted candidate has an estimate, too. Its interval is Wilson's, from the
    query's candidates alone. O(queries).

    Parameters
    ----------
    n, accepted, candidates : int arrays, shape (queries,)
        Images wanted, accepted candidates, and all candidates of each query.
    most : int array, shape (queries,)
        Candidates that each may have in all.
    surplus : int array, shape (queries,)
        Candidates that the filters accept beyond the images wanted, and that are not counted as
        accepted.

    Returns
    -------
    pandas.DataFrame
        ``acceptance``, ``low``, ``high`` (the share accepted so far with its 95% interval; NaN
        without candidates); ``to_make``, ``to_make_low``, ``to_make_high`` (candidates until it
        ends, with limits that allow for the luck of those to come); ``next_count`` (candidates of
        the next round: as many as give the missing images if its acceptance is at the upper limit,
        so that few are made in vain); ``is_hopeless`` (whether even at the upper limit it gets
        fewer than half of its images).

    Examples
    --------
    >>> estimate = estimate_acceptance([40, 40], [20, 0], [27, 27], [160, 160])
    >>> estimate[["low", "high"]].round(2).to_numpy().tolist()
    [[0.55, 0.87], [0.0, 0.12]]
    >>> estimate["to_make"].round().tolist(), estimate["next_count"].tolist()
    ([28.0, 133.0], [23, 27])
    >>> estimate["is_hopeless"].tolist()
    [False, True]
    """
    n_wanted, n_accepted, n_candidates, limit = (
        np.asarray(values, dtype=np.float64) for values in (n, accepted, candidates, most)
    )
    hits = n_accepted + np.asarray(surplus, dtype=np.float64)

    missing = np.maximum(n_wanted - n_accepted, 0)
    candidates_left = np.maximum(limit - n_candidates, 0)

    share, low, high = proportions(hits, n_candidates)

    # One accepted candidate more, so that the rate is 1 before any is made, and never 0.
    common_rate = (hits.sum() + 1) / (n_candidates.sum() + 1)
    rate = (hits + _PRIOR_CANDIDATES * common_rate) / (n_candidates + _PRIOR_CANDIDATES)

    to_make = np.minimum(missing / rate, candidates_left)
    to_make_low, to_make_high = _limits(rate, n_candidates, missing, to_make, candidates_left)

    # Nothing is known of a query without candidates.
    upper = np.where(n_candidates > 0, high, 1.0)
    least = _LEAST_SHARE * n_wanted
    is_hopeless = (missing > 0) & (n_accepted + upper * candidates_left < least)

    # A query that may yet prove hopeless makes at most as many as before.
    is_doubtful = (n_candidates > 0) & (n_accepted + low * candidates_left < least)
    next_count = np.minimum(np.floor(missing / upper), candidates_left)
    next_count = np.where(is_doubtful, np.minimum(next_count, n_candidates), next_count)

    return pd.DataFrame(
        {
            "acceptance": share,
            "low": low,
            "high": high,
            "to_make": to_make,
            "to_make_low": to_make_low,
            "to_make_high": to_make_high,
            "next_count": next_count.astype(np.int64),
            "is_hopeless": is_hopeless,
        }
    )


def _limits(
    rate: FloatArray,
    candidates: FloatArray,
    missing: FloatArray,
    to_make: FloatArray,
    candidates_left: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Limits of the candidates to make, from the limits of their acceptance.

    That share differs from the true one, too: variances of both add up, as if the rate were from
    `size` candidates.
    """
    total = candidates + to_make
    size = np.divide(candidates * to_make, total, out=np.zeros_like(total), where=total > 0)
    low, high = wilson(rate * size, size)

    # Without candidates every rate is possible.
    low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
    slowest = np.divide(missing, low, out=np.full_like(low, np.inf), where=low > 0)
    return (
        np.minimum(missing / high, candidates_left),
        np.where(missing > 0, np.minimum(slowest, candidates_left), 0.0),
    )


def sum_to_make(estimate: pd.DataFrame) -> tuple[int, int, int]:
    """Candidates that all queries have yet to make, and both limits of their 95% interval.

    Parameters
    ----------
    estimate : pandas.DataFrame
        From `estimate_acceptance`, with the queries that go on.

    Examples
    --------
    >>> sum_to_make(estimate_acceptance([40, 40], [20, 24], [27, 27], [160, 160]))
    (45, 40, 62)
    """
    columns = ("to_make", "to_make_low", "to_make_high")
    values, low, high = (estimate[name].to_numpy(np.float64) for name in columns)
    least, greatest = sum_interval(np.ones(len(values)), values, low, high)
    return round(values.sum()), round(max(least, 0.0)), round(greatest)
