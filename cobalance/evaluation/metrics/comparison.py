"""Methods against a baseline: differences of accuracy with paired intervals and tests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, InputError, IntArray, UnknownNameError
from cobalance.evaluation.differences import DRAWS, Statistics, bootstrap_differences, mean_and_sd
from cobalance.evaluation.groups import Grouping, group_rows
from cobalance.evaluation.metrics.gaps import GapSum, gap_sums, training_rates
from cobalance.evaluation.predictions import RUN, runs
from cobalance.statistics import sum_interval


def compare_methods(
    predictions: pd.DataFrame,
    groups: pd.DataFrame | None,
    baseline: str,
    rng: np.random.Generator,
    *,
    training: pd.DataFrame | Mapping[str, float] | None = None,
    draws: int = DRAWS,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """How far each method's accuracy differs from a baseline's, paired over seeds and images.

    Parameters
    ----------
    predictions : pandas.DataFrame
        From `cobalance.evaluation.predictions.check_predictions`, one row an image, of the baseline
        and of other methods with the same images and at least one common seed. A column ``cluster``
        says which images are not independent; missing for an image on its own.
    groups : pandas.DataFrame or None
        As `cobalance.evaluation.groups.group_rows` takes them.
    baseline : str
        Its method.
    rng : numpy.random.Generator
        Of the bootstrap; see `cobalance.evaluation.differences.bootstrap_differences`.
    training : pandas.DataFrame, mapping of str to float, or None
        As `cobalance.evaluation.metrics.gaps.shortcut_gaps` takes it; without it gaps are against
        images whose shortcuts are all common.

    Returns
    -------
    pandas.DataFrame
        One row a method and statistic: ``method``, ``baseline``, ``metric``, ``group``, ``before``,
        ``after``, ``difference``, ``low``, ``high``, ``seeds`` and ``n``, the images. Metrics are
        ``accuracy``, ``balanced_accuracy``, ``worst_group``, ``group_accuracy``, and where there
        are shortcuts ``out_of_distribution``, ``id_accuracy`` and ``shortcut_gaps``. Images of
        unknown attribute are in no group.

    Raises
    ------
    UnknownNameError
        No prediction is of the baseline.
    InputError
        A method has other images than the baseline or no seed in common, or a row stands for
        several images.
    """
    pairs = list(_pairs(predictions, baseline))
    grouping = group_rows(pairs[0].images, groups)
    metrics, statistics = _statistics(grouping, training)

    tables = []
    for pair in pairs:
        differences = bootstrap_differences(
            pair.before,
            pair.after,
            grouping.codes,
            len(grouping.table),
            statistics,
            rng,
            clusters=_clusters(pair.images),
            draws=draws,
            confidence=confidence,
        )
        columns = {"method": pair.method, "baseline": baseline, **metrics, **differences}
        tables.append(pd.DataFrame({**columns, "seeds": len(pair.seeds), "n": len(pair.images)}))
    return pd.concat(tables, ignore_index=True)


def _clusters(images: pd.DataFrame) -> IntArray | None:
    """The cluster of each image; None where no image has one."""
    if "cluster" not in images or images["cluster"].isna().all():
        return None
    codes = pd.factorize(images["cluster"])[0].astype(np.int64)
    # An image without a cluster is one of its own, with a number that no cluster has.
    return np.where(codes < 0, len(codes) + np.arange(len(codes)), codes)


def compare_scores(scores: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """How far each method's scores differ from a baseline's, where no images pair them.

    As for tables of counts, such as a paper's. Values and limits are averaged over seeds, as if all
    seeds erred together. The interval takes the two methods as tested on different images, which
    makes it too wide where the images were the same: of two proportions it is Newcombe's.

    Parameters
    ----------
    scores : pandas.DataFrame
        As metrics return them, of the baseline and of other methods.
    baseline : str
        Its method.

    Returns
    -------
    pandas.DataFrame
        As `compare_methods`, for the metrics and groups of the scores. NaN where one of two scores
        is missing, or has no interval.

    Raises
    ------
    UnknownNameError
        No score is of the baseline.
    InputError
        All are.
    """
    keys = ["metric", "group"]
    means = mean_and_sd(scores).rename(columns={"mean": "value"}).set_index("method")
    if baseline not in means.index:
        raise UnknownNameError("method", baseline, dict.fromkeys(means.index))
    before = means.loc[[baseline]].reset_index(drop=True)
    others = means.drop(index=baseline)
    if others.empty:
        reason = f"has no method but {baseline!r}"
        raise InputError("predictions", None, reason, "Add the predictions of another method.")

    both = others.reset_index().merge(before, "left", on=keys, suffixes=("", "_before"))
    sides = ["value", "value_before", "low", "low_before", "high", "high_before"]
    signs = np.array([1.0, -1.0])
    limits = [sum_interval(signs, *row.reshape(3, 2)) for row in both[sides].to_numpy(np.float64)]
    low, high = np.array(limits).T

    differences = both.rename(columns={"value": "after", "value_before": "before"}).assign(
        baseline=baseline, difference=both["value"] - both["value_before"], low=low, high=high
    )
    columns = ["method", "baseline", *keys, "before", "after", "difference", "low", "high"]
    return differences[[*columns, "seeds", "n"]]


def is_paired(predictions: pd.DataFrame) -> bool:
    """Whether each row is of one image, so that runs can be compared image by image."""
    return not ((predictions["n"] != 1).any() or predictions.duplicated([*RUN, "image"]).any())


@dataclass(frozen=True, eq=False)
class _Pair:
    """A method beside the baseline, on the same seeds and images."""

    method: str
    seeds: list[int]
    images: pd.DataFrame
    before: BoolArray
    after: BoolArray


def _pairs(predictions: pd.DataFrame, baseline: str) -> Iterator[_Pair]:
    if not is_paired(predictions):
        reason = "has several rows for an image, or several images for a row"
        raise InputError("predictions", None, reason, "Give one row for each image and run.")

    by_method: dict[str, dict[int, pd.DataFrame]] = {}
    for method, seed, rows in runs(predictions):
        by_method.setdefault(method, {})[seed] = rows.sort_values("image", ignore_index=True)
    if baseline not in by_method:
        raise UnknownNameError("method", baseline, by_method)
    baseline_runs = by_method.pop(baseline)
    images = next(iter(baseline_runs.values()))
    if not by_method:
        reason = f"has no method but {baseline!r}"
        raise InputError("predictions", None, reason, "Add the predictions of another method.")

    for method, method_runs in by_method.items():
        seeds = sorted(method_runs.keys() & baseline_runs.keys())
        if not seeds:
            reason = f"the methods {method!r} and {baseline!r} have no seed in common"
            raise InputError("predictions", None, reason, "Train both with the same seeds.")
        before = [_right(baseline_runs[seed], images, method, seed) for seed in seeds]
        after = [_right(method_runs[seed], images, method, seed) for seed in seeds]
        yield _Pair(method, seeds, images, before=np.array(before), after=np.array(after))


def _right(rows: pd.DataFrame, images: pd.DataFrame, method: str, seed: int) -> BoolArray:
    """Whether each image is right; InputError where these are not the baseline's images."""
    columns = ["image", "class_name"]
    if len(rows) != len(images) or (rows[columns] != images[columns]).any(axis=None):
        reason = f"method {method!r}, seed {seed}, has other images or classes than the baseline"
        raise InputError("predictions", None, reason, "Predict the same test images with both.")
    return (rows["class_name"] == rows["predicted"]).to_numpy()


def _statistics(
    grouping: Grouping, training: pd.DataFrame | Mapping[str, float] | None
) -> tuple[dict[str, list[str]], Statistics]:
    """Metric and group of each statistic, and their function of accuracies."""
    n = grouping.sums(np.ones(len(grouping.codes)))
    has_images, known = n > 0, grouping.known
    used = has_images & known
    sums = [
        GapSum("accuracy", "", n / n.sum(), has_images),
        GapSum("balanced_accuracy", "", used / max(used.sum(), 1), used),
    ]

    shortcuts = grouping.shortcuts
    if shortcuts:
        out = grouping.in_state(*shortcuts) & has_images
        sums.append(GapSum("out_of_distribution", "", out * n / max(n[out].sum(), 1), out))
    # Gaps are of shortcuts alone: another attribute would split their groups.
    if shortcuts and len(shortcuts) == len(grouping.table.columns) - 1:
        common = dict.fromkeys(shortcuts, 1.0)
        rates = common if training is None else training_rates(training, shortcuts)
        sums += gap_sums(grouping, n, rates)
    for group in np.flatnonzero(known):
        is_group = np.arange(len(n)) == group
        sums.append(
            GapSum("group_accuracy", grouping.names[group], is_group.astype(np.float64), is_group)
        )

    matrix = np.array([term.coefficients for term in sums])
    for row, term in enumerate(sums):
        if not (term.needs.any() and has_images[term.needs].all()):
            matrix[row] = np.nan

    def compute(accuracy: FloatArray) -> FloatArray:
        worst = np.fmin.reduce(np.where(used, accuracy, np.nan), axis=-1, keepdims=True)
        return np.concatenate([np.nan_to_num(accuracy) @ matrix.T, worst], axis=-1)

    metrics = [term.metric for term in sums]
    groups = [term.group for term in sums]
    return {"metric": [*metrics, "worst_group"], "group": [*groups, ""]}, compute
