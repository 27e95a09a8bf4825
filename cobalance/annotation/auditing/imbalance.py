"""Imbalances between classes before and after their labels are corrected by an audit."""

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.base import FloatArray
from cobalance.statistics import leading_classes, rate_differences, sum_interval, wilson

Verdict = Literal["supported", "not supported", "reversed", "not audited"]
MEASURES = ("gap", "rate_difference", "log_odds_ratio")
_NAMES = ("over_represented", "under_represented", "highest_rate", "lowest_rate")
_ENDS = ("", "_low", "_high")
_VALUES = [
    prefix + name + end for prefix in ("", "corrected_") for name in MEASURES for end in _ENDS
]
_Limited = tuple[float, float, float]
"""A value with its limits."""


def corrected_imbalances(corrected: pd.DataFrame) -> pd.DataFrame:
    """The imbalance of each concept as labels have it, and as the audit corrects it.

    An annotator that errs more in one class than in another shifts the difference of their counts:
    it invents imbalances, or hides them.

    Parameters
    ----------
    corrected : pandas.DataFrame
        From `cobalance.annotation.auditing.correction.corrected_counts`, two classes or more a
        concept.

    Returns
    -------
    pandas.DataFrame
        A row a concept, ascending: ``concept``; ``over_represented`` and ``under_represented``,
        the classes with the most and the fewest labelled images, which the gap compares;
        ``highest_rate`` and ``lowest_rate``, those with the largest and the smallest labelled
        share, which the other two compare (the first of several; of none that leads the first and
        the last); for each of `MEASURES` the value from labels, such as ``gap``, and the
        corrected one, such as ``corrected_gap``, each with ``_low`` and ``_high``; ``verdict``.

        The gap is in images, the difference that of shares of the classes' images. Intervals of
        corrected values are of what the audit leaves open about these images, those of labels what
        a sample of so many images would leave open if all were right. Squares of distances to the
        limits of both classes add up (Zou and Donner, 2008); of odds ratios these limits are the
        logits of the rates', half an image away from none and all.

        The verdict is of the gap, which plans close: see `verdict`.
    """
    rows = []
    for concept, table in corrected.groupby("concept", sort=True, observed=True):
        counts = table[["labelled"]].to_numpy().T
        by_rate = rate_differences(counts, counts[0] + table["unlabelled"].to_numpy())[1:]
        row: dict[str, Any] = {"concept": concept}
        # The gap is of counts and the others of rates, which may differ most between other classes.
        for names, pair, measures in (
            (_NAMES[:2], leading_classes(counts), MEASURES[:1]),
            (_NAMES[2:], by_rate, MEASURES[1:]),
        ):
            classes = table.iloc[np.concatenate(pair)]
            row |= dict(zip(names, classes["class_name"], strict=True))
            row |= _compare(classes, measures)

        low, high = row["corrected_gap_low"], row["corrected_gap_high"]
        row["verdict"] = verdict(low, high, balanced=np.ptp(counts) == 0)
        rows.append(row)
    return pd.DataFrame(rows, columns=["concept", *_NAMES, *_VALUES, "verdict"])


def _compare(classes: pd.DataFrame, measures: Sequence[str]) -> dict[str, float]:
    """Some measures of two classes with their limits, as labelled and as corrected."""
    labelled = classes["labelled"].to_numpy(np.float64)
    sizes = labelled + classes["unlabelled"].to_numpy(np.float64)
    low, high = wilson(labelled, sizes)
    before = np.array([labelled, sizes * low, sizes * high])
    after = classes[["corrected", "low", "high"]].to_numpy(np.float64).T

    row: dict[str, float] = {}
    for prefix, counts in (("", before), ("corrected_", after)):
        values = _measures(counts, sizes)
        for name in measures:
            columns = [f"{prefix}{name}{end}" for end in _ENDS]
            row |= dict(zip(columns, values[name], strict=True))
    return row


def verdict(low: float, high: float, *, balanced: bool = False) -> Verdict:
    """Verdict on an imbalance, by the interval of the corrected gap.

    Parameters
    ----------
    low, high : float
        Of the over-represented class's images less those of the under-represented; NaN where one
        of them is not audited.
    balanced : bool
        Whether labels have no gap; then the audit supports that unless the interval excludes 0.

    Examples
    --------
    >>> verdict(3, 20), verdict(-4, 20), verdict(-9, -2), verdict(float("nan"), 1)
    ('supported', 'not supported', 'reversed', 'not audited')
    """
    if np.isnan(low) or np.isnan(high):
        return "not audited"
    if balanced:
        return "supported" if low <= 0 <= high else "not supported"
    if low > 0:
        return "supported"
    return "reversed" if high < 0 else "not supported"


def clique_verdicts(
    cliques: pd.DataFrame, corrected: pd.DataFrame, by_models: Collection[str]
) -> list[Verdict | None]:
    """Verdicts of audits on the imbalances of cliques.

    Of a concept, and of a clique that is audited as one, it is the verdict of its own gap between
    the two classes. Without an audit of its own, the images that show a clique are not corrected:
    its imbalance is supported where the corrected gap of each concept that a model labelled has
    its direction, not audited where one of these concepts is not, and not supported otherwise.

    Parameters
    ----------
    cliques : pandas.DataFrame
        ``concepts``, ``over_represented`` and ``under_represented`` (missing without a gap), as
        `cobalance.graph.queries.imbalances.read_imbalances` has them.
    corrected : pandas.DataFrame
        ``concepts`` (a sequence of str, in any order), ``class_name``, and ``corrected``, ``low``
        and ``high`` from `cobalance.annotation.auditing.correction.corrected_counts`; a clique and
        class once.
    by_models : collection of str
        Concepts that models labelled. Others are the dataset's own, and need no audit.

    Returns
    -------
    list of str or None
        None where no gap is claimed, or no model labelled any of the concepts.
    """
    counts: dict[tuple[frozenset[str], str], FloatArray] = {}
    names = ["concepts", "class_name", "corrected", "low", "high"]
    for concepts, class_name, *limits in corrected[names].itertuples(index=False):
        counts[frozenset(concepts), class_name] = np.array(limits, np.float64)
    missing = np.full(3, np.nan)

    def find_verdict(concepts: Collection[str], over: str, under: str) -> Verdict:
        key = frozenset(concepts)
        classes = [counts.get((key, class_name), missing) for class_name in (over, under)]
        _, low, high = _difference(np.stack(classes, axis=1), np.ones(2))
        return verdict(low, high)

    verdicts: list[Verdict | None] = []
    names = ["concepts", "over_represented", "under_represented"]
    for concepts, over, under in cliques[names].itertuples(index=False):
        checked = [name for name in concepts if name in by_models]
        if not checked or pd.isna(over):
            verdicts.append(None)
            continue

        whole = find_verdict(concepts, over, under)
        # Without an audit of its own, a clique is judged by its concepts.
        if whole == "not audited" and len(concepts) > 1:
            parts = {find_verdict([name], over, under) for name in checked}
            if "not audited" not in parts:
                whole = "supported" if parts == {"supported"} else "not supported"
        verdicts.append(whole)
    return verdicts


def _measures(counts: FloatArray, sizes: FloatArray) -> dict[str, _Limited]:
    """All `MEASURES` of two classes: `counts` are value, low and high limit (rows) of each."""
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = np.clip(counts / sizes, 0.5 / sizes, 1 - 0.5 / sizes)
        logits = np.log(rates) - np.log1p(-rates)
        share = 1 / sizes

    gap = _difference(counts, np.ones(2))
    clipped = np.clip(gap, -sizes[1], sizes[0])
    return {
        "gap": (float(clipped[0]), float(clipped[1]), float(clipped[2])),
        "rate_difference": _difference(counts, np.where(np.isfinite(share), share, np.nan)),
        "log_odds_ratio": _difference(logits, np.ones(2)),
    }


def _difference(values: FloatArray, scale: FloatArray) -> _Limited:
    """First class minus second of scaled values, which are rows of value, low and high limit."""
    coefficients = scale * np.array([1.0, -1.0])
    difference = float(coefficients @ values[0])
    if np.isnan(values).any():
        return (difference, float("nan"), float("nan"))
    return (difference, *sum_interval(coefficients, *values))
