"""How far one property of images, such as brightness, tells their classes apart."""

import numpy as np
import pandas as pd

from cobalance.base import IntArray, optimize, stats
from cobalance.statistics.association import homogeneity_test
from cobalance.statistics.intervals import NORMAL_95
from cobalance.statistics.q_values import q_values

# Numbers of a class: with fewer, the rank test's approximation is poor.
_LEAST = 5
_COLUMNS = (
    "property",
    "class",
    "in_class",
    "in_others",
    "effect",
    "auc",
    "auc_low",
    "auc_high",
    "p_value",
)


def separation_table(properties: pd.DataFrame, classes: pd.Series) -> pd.DataFrame:
    """Return how well each property alone tells one class from all others.

    Numbers are compared by rank, over classes with five or more: the test of Kruskal and Wallis
    (JASA 47, 1952), by its chi-square approximation. A text, such as a camera, is compared by the
    share of images that have it (`homogeneity_test`): the one with the smallest p-value, times the
    number of texts (Bonferroni). The class is the one whose AUC is furthest from 0.5.

    Parameters
    ----------
    properties : pandas.DataFrame
        A row an image; columns of float64, NaN where unknown, or of text, None where it has none.
    classes : pandas.Series of str
        Of the same rows.

    Returns
    -------
    pandas.DataFrame
        A row a property that differs between images, the smallest p-value first: ``property`` (with
        the text), ``class``, ``in_class`` and ``in_others`` (median, or share of images),
        ``effect`` (their difference), ``auc`` (how probably an image of the class has more of it
        than one of the others, ties counting as half), ``auc_low`` and ``auc_high`` (95%),
        ``p_value``, ``q_value`` (Benjamini-Hochberg over the rows).
    """
    names, codes = np.unique(classes.to_numpy(str), return_inverse=True)
    rows = [_compare(str(name), column, codes) for name, column in properties.items()]
    table = pd.DataFrame([row for row in rows if row], columns=list(_COLUMNS))
    table["class"] = names[table["class"].to_numpy(np.int64)]
    table["q_value"] = q_values(table["p_value"].to_numpy(np.float64))
    return table.sort_values("p_value", kind="stable", ignore_index=True)


def _compare(name: str, column: pd.Series, codes: IntArray) -> tuple[str | float, ...]:
    """The columns of one property's row, its class by code; none where nothing differs."""
    p_value = None
    if pd.api.types.is_float_dtype(column):
        has_number = column.notna().to_numpy()
        is_used = has_number & (np.bincount(codes, has_number)[codes] >= _LEAST)
        numbers, codes = column.to_numpy(np.float64)[is_used], codes[is_used]
    elif column.notna().any():
        # The text that tells most, as a property that an image has or not; Bonferroni's correction
        # is for the number of texts.
        sizes = np.bincount(codes)
        counts = pd.crosstab(column, codes).reindex(columns=range(len(sizes)), fill_value=0)
        p_values, _ = homogeneity_test(counts.to_numpy(np.int64), sizes)
        p_value = min(1.0, float(p_values.min()) * len(counts))
        value = str(counts.index[int(p_values.argmin())])
        numbers, name = (column == value).to_numpy(np.float64), f"{name} {value}"
    else:
        return ()

    classes, places, n = np.unique(codes, return_inverse=True, return_counts=True)
    if len(classes) < 2 or np.ptp(numbers) == 0:
        return ()
    middle = np.mean if p_value is not None else np.median
    if p_value is None:
        samples = [numbers[places == position] for position in range(len(classes))]
        p_value = float(stats.kruskal(*samples).pvalue)

    # An AUC follows from the sum of a class's ranks (Mann and Whitney).
    rank_sums = np.bincount(places, stats.rankdata(numbers))
    aucs = (rank_sums - n * (n + 1) / 2) / (n * (len(places) - n))
    furthest = int(np.abs(aucs - 0.5).argmax())
    auc, size = float(aucs[furthest]), int(n[furthest])
    auc_low, auc_high = auc_interval(auc, size, len(places) - size)

    in_class = float(middle(numbers[places == furthest]))
    in_others = float(middle(numbers[places != furthest]))
    effect = in_class - in_others
    class_code = classes[furthest]
    return name, class_code, in_class, in_others, effect, auc, auc_low, auc_high, p_value


def auc_interval(auc: float, n: int, others: int) -> tuple[float, float]:
    """Return the 95% interval of an AUC of `n` images against `others`.

    By Hanley and McNeil's variance at the limits, with the mean of both numbers (Newcombe,
    Statistics in Medicine 25, 2006, method 5). Unlike DeLong's, it has a width where no image is
    out of order; with many ties it is wider than it need be.
    """

    def lower(auc: float) -> float:
        def excess(limit: float) -> float:
            terms = (1 - limit) / (2 - limit) + limit / (1 + limit)
            spread = 1 + ((n + others) / 2 - 1) * terms
            reach = NORMAL_95**2 * limit * (1 - limit) * spread / (n * others)
            return (auc - limit) ** 2 - reach

        if auc <= 0:
            return 0.0
        return float(optimize.brentq(excess, 0, min(auc, 1 - 1e-9)))

    return lower(auc), 1 - lower(1 - auc)
