"""Imbalances between classes before and after their labels are corrected by an audit."""

from collections.abc import Collection
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.base.arrays import FloatArray
from cobalance.statistics.association import leading_classes, rate_differences
from cobalance.statistics.intervals import sum_interval, wilson

Verdict = Literal["supported", "not supported", "reversed", "not audited"]
MEASURES = ("gap", "rate_difference", "log_odds_ratio")
_NAMES = ("over_represented", "under_represented", "highest_rate", "lowest_rate")
_ENDS = ("", "_low", "_high")
_VALUES = [of + name + end for of in ("", "corrected_") for name in MEASURES for end in _ENDS]
_Found = tuple[float, float, float]  # a value with its limits


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
    for concept, of in corrected.groupby("concept", sort=True, observed=True):
        counts = of[["labelled"]].to_numpy().T
        by_rate = rate_differences(counts, counts[0] + of["unlabelled"].to_numpy())[1:]
        row: dict[str, Any] = {"concept": concept}
        for (one, other), pair, measures in (
            (_NAMES[:2], leading_classes(counts), MEASURES[:1]),
            (_NAMES[2:], by_rate, MEASURES[1:]),
        ):
            both = of.iloc[np.concatenate(pair)]
            row[one], row[other] = both["class_name"]
            sizes = (both["labelled"] + both["unlabelled"]).to_numpy(np.float64)
            labelled = both["labelled"].to_numpy(np.float64)
            limits = [sizes * end for end in wilson(labelled, sizes)]
            after = both[["corrected", "low", "high"]].to_numpy(np.float64).T
            for prefix, values in (("", np.array([labelled, *limits])), ("corrected_", after)):
                found = _measures(values, sizes)
                for name in measures:
                    for end, value in zip(_ENDS, found[name], strict=True):
                        row[f"{prefix}{name}{end}"] = value
        low, high = row["corrected_gap_low"], row["corrected_gap_high"]
        row["verdict"] = verdict(low, high, balanced=np.ptp(counts) == 0)
        rows.append(row)
    return pd.DataFrame(rows, columns=["concept", *_NAMES, *_VALUES, "verdict"])


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
    known = {
        (frozenset(concepts), name): np.array(found, np.float64)
        for concepts, name, *found in zip(
            *(corrected[name] for name in ("concepts", "class_name", "corrected", "low", "high")),
            strict=True,
        )
    }
    missing = np.full(3, np.nan)

    def find_verdict(concepts: Collection[str], over: str, under: str) -> Verdict:
        key = frozenset(concepts)
        ends = np.stack([known.get((key, of), missing) for of in (over, under)], axis=1)
        _, low, high = _difference(ends, np.ones(2))
        return verdict(low, high)

    result: list[Verdict | None] = []
    columns = ("concepts", "over_represented", "under_represented")
    for concepts, over, under in zip(*(cliques[name] for name in columns), strict=True):
        checked = [name for name in concepts if name in by_models]
        if not checked or pd.isna(over):
            result.append(None)
            continue
        said = find_verdict(concepts, over, under)
        if said == "not audited" and len(concepts) > 1:
            each = {find_verdict([name], over, under) for name in checked}
            if "not audited" not in each:
                said = "supported" if each == {"supported"} else "not supported"
        result.append(said)
    return result


def _measures(counts: FloatArray, sizes: FloatArray) -> dict[str, _Found]:
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


def _difference(found: FloatArray, scale: FloatArray) -> _Found:
    coefficients = scale * np.array([1.0, -1.0])
    value = float(coefficients @ found[0])
    if np.isnan(found).any():
        return (value, float("nan"), float("nan"))
    return (value, *sum_interval(coefficients, *found))
