"""Counts of labels, corrected by the shares of wrong ones that an audit found."""

import numpy as np
import pandas as pd

from cobalance.base import FloatArray
from cobalance.statistics import proportions, sum_interval


def rates(audited: pd.DataFrame) -> pd.DataFrame:
    """Precision and false omission of each concept in each class.

    Parameters
    ----------
    audited : pandas.DataFrame
        One row an audited image and concept: ``concept``, ``class_name``, ``labelled`` (bool,
        whether the annotator says that the image shows the concept) and ``shows`` (bool, whether
        people do).

    Returns
    -------
    pandas.DataFrame
        A row a concept and class that occur, ascending: ``concept``, ``class_name``,
        ``precision``, ``precision_low``, ``precision_high``, ``precision_n`` (of images that are
        labelled: the share that show it), ``false_omission`` and so on (of those that are not
        labelled: the share that show it), with Wilson's intervals; NaN and n 0 where nothing was
        audited.

    Examples
    --------
    >>> rows = [("sky", "bird", True, i < 45) for i in range(50)]
    >>> frame = pd.DataFrame(rows, columns=["concept", "class_name", "labelled", "shows"])
    >>> rates(frame)[["precision", "precision_low", "precision_high"]].round(3).values.tolist()
    [[0.9, 0.786, 0.957]]
    """
    keys = ["concept", "class_name"]
    table = audited[keys].drop_duplicates().sort_values(keys, ignore_index=True)
    for name, labelled in (("precision", True), ("false_omission", False)):
        chosen = audited[audited["labelled"] == labelled]
        counts = chosen.groupby(keys, observed=True)["shows"].agg(["sum", "count"]).reset_index()
        joined = table[keys].merge(counts, how="left", on=keys)
        hits, n = joined[["sum", "count"]].fillna(0).to_numpy(np.float64).T
        table[name], table[f"{name}_low"], table[f"{name}_high"] = proportions(hits, n)
        table[f"{name}_n"] = n.astype(np.int64)
    return table


def corrected_counts(counts: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    """How many images of each class show a concept, as the audit of its labels suggests.

    Of the n⁺ labelled images the precision shows it, and of the n⁻ others the false omission:
    n⁺·precision + n⁻·false omission. This is the estimate for double sampling of A. Tenenbein
    (Journal of the American Statistical Association 65, 1970); the interval adds up squares of the
    distances to both Wilson limits (Zou and Donner, 2008).

    Parameters
    ----------
    counts : pandas.DataFrame
        ``concept``, ``class_name``, ``labelled`` and ``unlabelled``: images with and without the
        label.
    rates : pandas.DataFrame
        As `rates` gives them. Nothing of a concept and class that were not audited: NaN.

    Returns
    -------
    pandas.DataFrame
        Rows of `counts` with ``corrected``, ``low`` and ``high``, in images. A part without images
        needs no audit.
    """
    names = [
        f"{rate}{end}" for rate in ("precision", "false_omission") for end in ("", "_low", "_high")
    ]
    keys = ["concept", "class_name"]
    joined = counts.merge(rates[keys + names], how="left", on=keys)
    images = joined[["labelled", "unlabelled"]].to_numpy(np.float64)
    rates_by_row = joined[names].to_numpy(np.float64).reshape(-1, 2, 3)

    rows = list(map(_correct, images, rates_by_row))
    result = counts.reset_index(drop=True)
    result[["corrected", "low", "high"]] = np.array(rows, np.float64).reshape(-1, 3)
    return result


def _correct(images: FloatArray, rates: FloatArray) -> tuple[float, float, float]:
    """Estimate and limits from the two parts' images and their rates with limits."""
    used = images > 0
    if np.isnan(rates[used]).any():
        return (float("nan"),) * 3
    values, low, high = np.where(used[:, None], rates, 0.0).T
    limits = sum_interval(images, values, low, high)
    return float(images @ values), max(limits[0], 0.0), min(limits[1], float(images.sum()))
