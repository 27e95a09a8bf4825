"""Means over seeds, and differences between two models, by bootstrap."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, IntArray

Statistics = Callable[[FloatArray], FloatArray]
"""Takes accuracies of groups, shape (..., n_groups), and returns statistics, (..., k)."""

DRAWS = 2_000
_CELLS = 1 << 20  # accuracies drawn at a time: bounds the memory


def mean_and_sd(
    scores: pd.DataFrame, by: Sequence[str] = ("method", "metric", "group")
) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each metric and group, for each method.

    Parameters
    ----------
    scores : pandas.DataFrame
        As metrics return them: the columns `by`, ``seed``, ``value``, ``n``; if they have them,
        ``low``, ``high`` and ``outdated``, too.
    by : sequence of str
        What tells all but seeds apart.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, ``mean``, ``sd`` (with ddof 1, NaN for one seed), ``low`` and ``high`` (of
        a seed, as means), ``seeds``, ``n``, the images of one seed, and ``outdated``, whether one
        is; in the order of the scores. NaN where a seed's value is NaN.

    Examples
    --------
    >>> scores = pd.DataFrame({"method": "erm", "seed": [0, 1], "metric": "ratio", "group": "",
    ...                        "value": [1.0, 2.0], "n": 10.0})
    >>> mean_and_sd(scores).round(3)
      method metric group  mean     sd  seeds     n
    0    erm  ratio         1.5  0.707      2  10.0
    """
    columns: dict[str, tuple[str, Any]] = {
        "mean": ("value", _mean),
        "sd": ("value", _sd),
        "low": ("low", _mean),
        "high": ("high", _mean),
        "seeds": ("seed", "size"),
        "n": ("n", "first"),
        "outdated": ("outdated", "any"),
    }
    present = {name: column for name, column in columns.items() if column[0] in scores}

    grouped = scores.groupby(list(by), sort=False, dropna=False)
    with np.errstate(invalid="ignore"):
        return grouped.agg(**present).reset_index()


def _mean(values: "pd.Series[float]") -> float:
    return float(values.to_numpy().mean())


def _sd(values: "pd.Series[float]") -> float:
    return float(values.to_numpy().std(ddof=1)) if len(values) > 1 else np.nan


def bootstrap_differences(
    before: BoolArray,
    after: BoolArray,
    groups: IntArray,
    n_groups: int,
    statistics: Statistics,
    rng: np.random.Generator,
    *,
    clusters: IntArray | None = None,
    draws: int = DRAWS,
    confidence: float = 0.95,
) -> dict[str, FloatArray]:
    """Differences of statistics of accuracy between two models, by a paired bootstrap.

    Each draw takes seeds, and within each group images, with replacement: the same ones for both
    models, so that what makes an image or a seed hard for both cancels. Groups keep their sizes,
    and a small one never falls empty. The interval is that of percentiles; with few seeds it
    reflects the test images more than the seeds.

    Parameters
    ----------
    before, after : bool arrays, shape (n_seeds, n_images)
        Whether the two models are right, for the same seeds and images.
    groups : int array, shape (n_images,)
        Group of each image, from 0.
    n_groups : int
        How many groups there are, empty ones included; their accuracy is NaN.
    statistics : callable
        Statistics of the groups' accuracies in one seed.
    rng : numpy.random.Generator
        Draws seeds and images.
    clusters : int array, shape (n_images,), or None
        Cluster of each image: clusters are then drawn in place of images, in all groups together.
        A group of which no image is drawn keeps its accuracy.
    draws : int
        How often.
    confidence : float
        Of the interval.

    Returns
    -------
    dict of float64 arrays, shape (k,)
        ``before`` and ``after``, means over seeds, their ``difference``, after minus before, and
        its interval, ``low`` and ``high``.

    Notes
    -----
    Images of a group that every run gets equally right or wrong are interchangeable, and drawn
    together: time grows with the patterns of right and wrong, not with the images.
    """
    n_seeds = len(before)
    outcomes = np.vstack([before, after]).astype(np.float64)
    accuracy = np.full((2 * n_seeds, n_groups), np.nan)

    # Images of a group on which the same models are right are drawn together, by their number.
    patterns: dict[int, tuple[FloatArray, IntArray]] = {}
    for group in np.unique(groups).tolist():
        group_outcomes = outcomes[:, groups == group]
        accuracy[:, group] = group_outcomes.mean(axis=1)
        patterns[group] = np.unique(group_outcomes, axis=1, return_counts=True)
    if clusters is not None:
        n_images, n_hits = _count_by_cluster(outcomes, clusters, groups, n_groups)
    means = statistics(accuracy).reshape(2, n_seeds, -1).mean(axis=1)

    changes = []
    batch = max(1, _CELLS // (2 * n_seeds * n_groups))
    for n_draws in np.diff([*range(0, draws, batch), draws]).tolist():
        if clusters is None:
            drawn = np.full((n_draws, 2 * n_seeds, n_groups), np.nan)
            for group, (outcome, counts) in patterns.items():
                n = counts.sum()
                drawn[:, :, group] = rng.multinomial(n, counts / n, n_draws) @ outcome.T / n
        else:
            drawn = _draw_clusters(n_images, n_hits, accuracy, n_draws, rng)

        by_seed = statistics(drawn).reshape(n_draws, 2, n_seeds, -1)
        change = by_seed[:, 1] - by_seed[:, 0]
        seeds = rng.integers(0, n_seeds, (n_draws, n_seeds, 1))
        changes.append(np.take_along_axis(change, seeds, axis=1).mean(axis=1))

    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(changes), [tail, 1 - tail], axis=0)
    return {
        "before": means[0],
        "after": means[1],
        "difference": means[1] - means[0],
        "low": low,
        "high": high,
    }


def _count_by_cluster(
    outcomes: FloatArray, clusters: IntArray, groups: IntArray, n_groups: int
) -> tuple[IntArray, FloatArray]:
    """Images (n_clusters, n_groups) and hits (n_runs, n_clusters, n_groups) of each cluster."""
    _, code = np.unique(clusters, return_inverse=True)
    shape = int(code.max()) + 1, n_groups
    cell, n_cells = code * n_groups + groups, shape[0] * n_groups

    n_images = np.bincount(cell, minlength=n_cells).reshape(shape)
    n_hits = [np.bincount(cell, outcome, n_cells).reshape(shape) for outcome in outcomes]
    return n_images, np.stack(n_hits)


def _draw_clusters(
    n_images: IntArray,
    n_hits: FloatArray,
    accuracy: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Accuracies (n_draws, n_runs, n_groups) of clusters drawn with replacement."""
    n_clusters = len(n_images)
    weights = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), n_draws)
    images = (weights @ n_images)[:, None]
    hits = np.einsum("dc,rcg->drg", weights, n_hits, optimize=True)

    # A group of which no image is drawn keeps the accuracy that it has.
    return np.where(images > 0, hits / np.maximum(images, 1), accuracy)
