"""Effects of a plan on every clique, and measures of planners."""

from dataclasses import replace

import numpy as np
import pandas as pd

from cobalance.generation.planning.plan import PlannedImages, Planner, PlanOptions, run_planner
from cobalance.generation.planning.simulation import simulate_images
from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.diagnosis.association import leading_classes

BEFORE, AFTER = "before_", "after_"  # before a class's name: its counts


def touched_rows(before: Cliques, after: Cliques) -> IntArray:
    """Find the cliques whose counts a plan changes, largest gap first.

    Cliques with equal gaps are in the order of the table.
    """
    rows = np.flatnonzero((before.counts != after.counts).any(axis=1))
    return rows[np.argsort(-before.gaps()[rows], kind="stable")]


def widened_rows(before: Cliques, after: Cliques) -> IntArray:
    """Find the cliques whose gap a plan widens, the one that it widens most first.

    Cliques that are widened alike are in the order of the table.

    Examples
    --------
    >>> from dataclasses import replace
    >>> before = Cliques(np.array([[0], [1], [2]]), np.array([[3, 5], [2, 2], [0, 9]]),
    ...                  np.array([9, 9]), ("car", "cow", "road"), ("country", "urban"))
    >>> after = replace(before, counts=np.array([[3, 6], [8, 2], [9, 9]]))
    >>> widened_rows(before, after).tolist()
    [1, 0]
    """
    growth = after.gaps() - before.gaps()
    rows = np.flatnonzero(growth > 0)
    return rows[np.argsort(-growth[rows], kind="stable")]


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

    Examples
    --------
    >>> from dataclasses import replace
    >>> before = Cliques(np.array([[0]]), np.array([[3, 5]]), np.array([9, 9]), ("cow",),
    ...                  ("country", "urban"))
    >>> after = replace(before, counts=np.array([[5, 5]]))
    >>> effect_table(before, after, touched_rows(before, after)).to_dict("records")
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'concepts': ('cow',), 'size': 1, 'gap_before': 2, 'gap_after': 0, 'too_few_before': 'country',
      'too_few_after': nan, 'before_country': 3, 'before_urban': 5, 'after_country': 5,
      'after_urban': 5}]
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
    for time, cliques in ((BEFORE, first), (AFTER, then)):
        for code, name in enumerate(cliques.classes):
            columns[time + name] = cliques.counts[:, code]
    return pd.DataFrame(columns, index=pd.Index(rows, name="row"))


def _too_few(cliques: Cliques) -> pd.Categorical:
    codes: IntArray = np.where(cliques.gaps() > 0, leading_classes(cliques.counts)[1], -1)
    return pd.Categorical.from_codes(codes, categories=pd.Index(cliques.classes, dtype=object))


def measure(before: Cliques, after: Cliques, images: IntArray, chosen: IntArray) -> dict[str, int]:
    """Measure a plan's cost, and its effect on the chosen cliques and on the others.

    Parameters
    ----------
    before, after : Cliques
        The counts, and those that `simulate_images` gives.
    images : int array, shape (n_cliques, n_classes)
        Images of each class that contain exactly each clique.
    chosen : int array
        Rows of the cliques that the plan is for.

    Returns
    -------
    dict
        ``images`` and ``queries``; of the chosen cliques ``imbalanced``, those with a gap, and
        ``solved``, those of them without one afterwards, ``remaining``, those with one afterwards,
        ``gap_before`` and ``gap_after``, the sums of their gaps, and ``widest_gap``, the largest
        afterwards; ``widened``, how many cliques, chosen or not, have a larger gap afterwards.
        Of weights, whose counts are no whole numbers, gaps are rounded.
    """
    was, becomes = before.gaps(), np.ptp(after.counts, axis=1).round(6)
    imbalanced = was[chosen] > 0
    return {
        "images": int(images.sum()),
        "queries": int(np.count_nonzero(images)),
        "imbalanced": int(imbalanced.sum()),
        "solved": int((imbalanced & (becomes[chosen] == 0)).sum()),
        "remaining": int((becomes[chosen] > 0).sum()),
        "gap_before": int(was[chosen].sum()),
        "gap_after": round(becomes[chosen].sum()),
        "widest_gap": round(becomes[chosen].max(initial=0)),
        "widened": int((becomes > was).sum()),
    }


def plan_for(
    cliques: Cliques, chosen: IntArray, planner: Planner, options: PlanOptions
) -> PlannedImages:
    """Plan for a subset of the cliques; the result has a row for each clique of the whole table.

    Parameters
    ----------
    chosen : int array
        Rows of those to balance, ascending. The planner sees no others.
    """
    images = np.zeros(cliques.counts.shape, dtype=np.int64)
    if not len(chosen):
        return PlannedImages(images)
    found = run_planner(cliques.take(chosen), planner, options)
    images[chosen] = found.images
    return replace(found, images=images)


def measure_planner(
    cliques: Cliques, chosen: IntArray, planner: Planner, options: PlanOptions
) -> dict[str, int]:
    """Plan for some cliques, and `measure` the plan.

    Raises
    ------
    OptionError, DataError
        The options leave the planner no plan.
    """
    images = plan_for(cliques, chosen, planner, options).images
    return measure(cliques, simulate_images(cliques, images), images, chosen)
