"""Means over seeds, and differences between two models, by bootstrap."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base.arrays import BoolArray, FloatArray, IntArray

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
        "sd": (
            "value",
            lambda values: values.to_numpy().std(ddof=1) if len(values) > 1 else np.nan,
        ),
        "low": ("low", _mean),
        "high": ("high", _mean),
        "seeds": ("seed", "size"),
        "n": ("n", "first"),
        "outdated": ("outdated", "any"),
    }
    known = {name: column for name, column in columns.items() if column[0] in scores}
    grouped = scores.groupby(list(by), sort=False, dropna=False)
    with np.errstate(invalid="ignore"):
        return grouped.agg(**known).reset_index()


def _mean(values: "pd.Series[float]") -> float:
    return float(values.to_numpy().mean())


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
    patterns: dict[int, tuple[FloatArray, IntArray]] = {}
    for group in np.unique(groups).tolist():
        of_group = outcomes[:, groups == group]
        accuracy[:, group] = of_group.mean(axis=1)
        patterns[group] = np.unique(of_group, axis=1, return_counts=True)
    if clusters is not None:
        _, code = np.unique(clusters, return_inverse=True)
        n_clusters, place = int(code.max()) + 1, code * n_groups + groups
        cells = n_clusters * n_groups
        held = np.bincount(place, minlength=cells).reshape(n_clusters, n_groups)
        right = np.stack([np.bincount(place, one, cells) for one in outcomes])
        right = right.reshape(2 * n_seeds, n_clusters, n_groups)
    means = statistics(accuracy).reshape(2, n_seeds, -1).mean(axis=1)
    changes = []
    size = max(1, _CELLS // (2 * n_seeds * n_groups))
    for some in np.diff([*range(0, draws, size), draws]).tolist():
        drawn = np.full((some, 2 * n_seeds, n_groups), np.nan)
        if clusters is not None:
            weights = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), some)
            images = (weights @ held)[:, None]
            hits = np.einsum("dc,rcg->drg", weights, right, optimize=True)
            drawn = np.where(images > 0, hits / np.maximum(images, 1), accuracy)
        for group, (outcome, counts) in patterns.items() if clusters is None else ():
            n = counts.sum()
            drawn[:, :, group] = rng.multinomial(n, counts / n, some) @ outcome.T / n
        by_seed = statistics(drawn).reshape(some, 2, n_seeds, -1)
        change = by_seed[:, 1] - by_seed[:, 0]
        seeds = rng.integers(0, n_seeds, (some, n_seeds, 1))
        changes.append(np.take_along_axis(change, seeds, axis=1).mean(axis=1))
    change = np.concatenate(changes)
    tail = (1 - confidence) / 2
    low, high = np.quantile(change, [tail, 1 - tail], axis=0)
    found = (*means, means[1] - means[0], low, high)
    return dict(zip(("before", "after", "difference", "low", "high"), found, strict=True))
