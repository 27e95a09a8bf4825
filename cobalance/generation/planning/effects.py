"""Effects of a plan on every clique, and measures of planners."""

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, IntArray
from cobalance.counting import Cliques, Incidence
from cobalance.generation.planning.lean import find_leaning
from cobalance.generation.planning.plan import (
    ImagePlanner,
    PlannedImages,
    Planner,
    PlanOptions,
    run_planner,
)
from cobalance.generation.planning.simulation import simulate_images
from cobalance.statistics import (
    ToldBits,
    change_p_values,
    concepts_alone,
    leading_classes,
    rate_differences,
)

# Columns of counts are named so, followed by the class.
BEFORE, AFTER = "before_", "after_"


def touched_rows(before: Cliques, after: Cliques) -> IntArray:
    """Find the cliques whose counts a plan changes, largest gap first.

    Cliques with equal gaps are in the order of the table.
    """
    rows = np.flatnonzero((before.counts != after.counts).any(axis=1))
    return rows[np.argsort(-before.gaps()[rows], kind="stable")]


def widened_rows(before: Cliques, after: Cliques) -> IntArray:
    """Find the cliques that lean to a class and whose rates a plan draws further apart.

    The one that it widens most comes first; equal ones are in the order of the table.
    """
    differences_before, differences_after = _differences(before), _differences(after)
    growth = np.where(find_leaning(after), differences_after - differences_before, 0.0)
    # Less than this is a rounding error of the rates.
    rows = np.flatnonzero(growth > 1e-12)
    return rows[np.argsort(-growth[rows], kind="stable")]


def _differences(cliques: Cliques) -> FloatArray:
    return rate_differences(cliques.counts, cliques.class_sizes)[0]


def effect_table(before: Cliques, after: Cliques, rows: IntArray) -> pd.DataFrame:
    """Tabulate cliques before and after a plan.

    Parameters
    ----------
    before, after : Cliques
        From the store, and from `simulate`.
    rows : int array
        Which cliques, in the order of the result.

    Returns
    -------
    pandas.DataFrame
        The index is the clique's row. ``concepts`` (tuple of str), ``size``; ``gap_before`` and
        ``gap_after`` (int64); ``too_few_before`` and ``too_few_after``, the class with the fewest
        images (category, missing where the gap is 0); ``before_<class>`` and ``after_<class>``,
        the counts.
    """
    first, then = before.take(rows), after.take(rows)
    columns: dict[str, object] = {
        "concepts": first.names(),
        "size": first.sizes(),
        "gap_before": first.gaps(),
        "gap_after": then.gaps(),
        "too_few_before": _too_few(first),
        "too_few_after": _too_few(then),
    }

    for prefix, cliques in ((BEFORE, first), (AFTER, then)):
        for code, name in enumerate(cliques.classes):
            columns[prefix + name] = cliques.counts[:, code]
    return pd.DataFrame(columns, index=pd.Index(rows, name="row"))


def _too_few(cliques: Cliques) -> pd.Categorical:
    codes: IntArray = np.where(cliques.gaps() > 0, leading_classes(cliques.counts)[1], -1)
    return pd.Categorical.from_codes(codes, categories=pd.Index(cliques.classes, dtype=object))


def measure(
    before: Cliques, after: Cliques, planned: PlannedImages, chosen: IntArray
) -> dict[str, int | float]:
    """Measure a plan's cost, and its effect on the chosen cliques and on the others.

    Parameters
    ----------
    before, after : Cliques
        The counts, and those that `simulate_images` gives.
    chosen : int array
        Rows of the cliques that the plan is for.

    Returns
    -------
    dict
        ``images`` and ``queries``. Of the chosen cliques:

        - ``leaning_before`` and ``leaning``: how many lean to a class, by the test of the imbalance
          table; ``difference_before`` and ``difference``: the sums of the rate differences of those
          that lean before; ``largest_before``, the largest of these, and ``largest``, the largest
          of those that lean before or after;
        - ``imbalanced``, those with a count gap, ``solved``, those of them without one afterwards,
          ``remaining``, those with one afterwards, ``gap_before`` and ``gap_after``, the sums of
          their gaps, and ``widest_gap``, the largest afterwards.

        ``widened``: how many cliques, chosen or not, are as `widened_rows` has them.
        Counts that are sums of weights are rounded.
    """
    # Counts of a weighted baseline are rounded; others stay the table that is tested once.
    if after.counts.dtype.kind == "f":
        counts = np.rint(after.counts).astype(np.int64)
        sizes = np.rint(after.class_sizes).astype(np.int64)
        after = replace(after, counts=counts, class_sizes=sizes)

    values: dict[str, int | float] = {
        "images": int(planned.images.sum()),
        "queries": int(np.count_nonzero(planned.images)),
    }
    leaned, leans = find_leaning(before)[chosen], find_leaning(after)[chosen]
    differences_before = _differences(before)[chosen][leaned]
    differences_after = _differences(after)[chosen]
    values |= {
        "leaning_before": int(leaned.sum()),
        "leaning": int(leans.sum()),
        "difference_before": round(float(differences_before.sum()), 6),
        "difference": round(float(differences_after[leaned].sum()), 6),
        "largest_before": round(float(differences_before.max(initial=0)), 6),
        "largest": round(float(differences_after[leaned | leans].max(initial=0)), 6),
    }

    gaps_before, gaps_after = before.gaps()[chosen], after.gaps()[chosen]
    return values | {
        "widened": len(widened_rows(before, after)),
        "imbalanced": int((gaps_before > 0).sum()),
        "solved": int(((gaps_before > 0) & (gaps_after == 0)).sum()),
        "remaining": int((gaps_after > 0).sum()),
        "gap_before": int(gaps_before.sum()),
        "gap_after": int(gaps_after.sum()),
        "widest_gap": int(gaps_after.max(initial=0)),
    }


_told_before: WeakKeyDictionary[Incidence, ToldBits] = WeakKeyDictionary()


def measure_told(cliques: Cliques, planned: PlannedImages, images: Incidence) -> dict[str, float]:
    """Measure the bits that concepts alone tell of the class, before and after a plan.

    Parameters
    ----------
    images : Incidence
        The real images.

    Returns
    -------
    dict
        ``bits_before`` and ``bits``, of the ``bits_most`` that tell the class for certain, and
        ``bits_error``, the standard error of their difference; see
        `cobalance.statistics.told_bits.concepts_alone`.
    """
    # A row for each set and class of which images are planned.
    sets, labels = np.nonzero(planned.images)
    members = planned.sets(cliques).members[sets]
    made = Incidence(
        indptr=np.append(0, np.cumsum((members >= 0).sum(axis=1))),
        indices=members[members >= 0].astype(np.int32),
        labels=labels.astype(np.int32),
        concepts=cliques.concepts,
        classes=cliques.classes,
    )

    if images not in _told_before:
        _told_before[images] = concepts_alone(images)
    before = _told_before[images]
    after = concepts_alone(images, made, planned.images[sets, labels])
    return {
        "bits_before": before.bits,
        "bits": after.bits,
        "bits_most": before.most,
        "bits_error": after.change_error(before),
    }


def measure_all(
    before: Cliques,
    after: Cliques,
    planned: PlannedImages,
    chosen: IntArray,
    images: Incidence | None,
) -> dict[str, int | float]:
    """Measure a plan by `measure`, and by `measure_told` where all images are at hand.

    Also ``largest_p``, the p-value of no change of the rates behind ``largest``; see
    `cobalance.statistics.change.change_p_values`.
    """
    values = measure(before, after, planned, chosen)
    values["largest_p"] = _largest_p_value(before, after, chosen)
    if images is None or not has_all(before, images):
        return values
    return values | measure_told(before, planned, images)


def _largest_p_value(before: Cliques, after: Cliques, chosen: IntArray) -> float:
    """p-value of no change of the rates that differ most after, of cliques that lean; 1 of none."""
    leaning = (find_leaning(before) | find_leaning(after))[chosen]
    rows = chosen[leaning]
    if not len(rows):
        return 1.0
    row = rows[[_differences(after)[rows].argmax()]]
    now = after.take(row)
    _, highest, lowest = rate_differences(now.counts, now.class_sizes)
    classes = np.stack([highest, lowest], axis=1)
    return float(change_p_values(before.take(row), now, classes, extends=True)[0])


def has_all(cliques: Cliques, images: Incidence | None) -> bool:
    """Whether images are all that were counted, not a sample of them, or none."""
    return images is not None and len(images.labels) == cliques.class_sizes.sum()


def measure_planner(
    cliques: Cliques,
    chosen: IntArray,
    planner: Planner | ImagePlanner,
    options: PlanOptions,
    images: Incidence | None = None,
) -> dict[str, int | float]:
    """Plan for some cliques, and `measure` the plan.

    Raises
    ------
    OptionError, DataError
        The options leave the planner no plan.
    """
    planned = run_planner(cliques, planner, options, chosen, images)
    return measure(cliques, simulate_images(cliques, planned), planned, chosen)
