"""Shift of attribute frequencies between real and generated images."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import InputError
from cobalance.evaluation.metrics.group_accuracy import AccuracyOptions
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, score_frame
from cobalance.evaluation.metrics.tables import number_column, text_column
from cobalance.evaluation.table_files import refuse_rows
from cobalance.statistics import newcombe

COUNTS = ("real", "generated", "n_real", "n_generated")
COLUMNS = (
    "category",
    "attribute",
    "real",
    "generated",
    "difference",
    "low",
    "high",
    "n_real",
    "n_generated",
)


def attribute_shift(counts: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """How much rarer each attribute is among generated images, in percentage points.

    GELDA (section 5.3, figure 7) shows real minus generated: negative where the generator makes an
    attribute more frequent than its training images have it.

    Parameters
    ----------
    counts : pandas.DataFrame
        From `attribute_counts`: ``category``, ``attribute``, in how many real and generated images
        it is (``real``, ``generated``), and of how many (``n_real``, ``n_generated``).

    Returns
    -------
    pandas.DataFrame
        Scores ``attribute_shift`` with Newcombe's interval (1998, method 10), n the generated
        images: by category in the order given, and within it by descending frequency among real
        images. NaN where there are no images.

    Raises
    ------
    InputError
        A column is missing, or a count is not a number or larger than its total.

    Examples
    --------
    >>> counts = pd.DataFrame({"category": "hair", "attribute": ["fair", "dark"],
    ...                        "real": [400, 600], "generated": [250, 750],
    ...                        "n_real": 1000, "n_generated": 1000})
    >>> attribute_shift(counts)[["group", "value", "low", "high"]].round(1)
            group  value   low  high
    0  hair: dark  -15.0 -19.0 -10.9
    1  hair: fair   15.0  10.9  19.0
    """
    names = {name: text_column(counts, name) for name in ("category", "attribute")}
    table = pd.DataFrame(names | {name: number_column(counts, name) for name in COUNTS})
    refuse_rows(
        (table["real"] > table["n_real"]) | (table["generated"] > table["n_generated"]),
        "table",
        lambda _: "has more images with the attribute than images",
        "Check its counts.",
    )

    shifts = shift_table(table, confidence)
    numbers = shifts[["difference", "low", "high", "n_generated"]].to_numpy(np.float64).T
    groups = shifts["category"] + ": " + shifts["attribute"]
    return score_frame("attribute_shift", groups, *numbers)


def shift_table(counts: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """How often each attribute is in real and in generated images (GELDA, figure 7).

    Parameters
    ----------
    counts : pandas.DataFrame
        As `attribute_shift` takes them; a category and attribute once.

    Returns
    -------
    pandas.DataFrame
        By category, and within it by descending frequency among real images: ``category``,
        ``attribute``; ``real`` and ``generated``, percentages; ``difference``, real less
        generated in percentage points, with Newcombe's interval ``low`` to ``high``; ``n_real``
        and ``n_generated``, images.
    """
    if counts.empty:
        return pd.DataFrame(columns=list(COLUMNS))

    numbers = counts[list(COUNTS)].to_numpy(np.float64).T
    hits, n = numbers[:2], numbers[2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = 100 * hits / n
    low, high = newcombe(hits[0], n[0], hits[1], n[1], confidence)

    shifts = counts[["category", "attribute", "n_real", "n_generated"]].assign(
        real=shares[0],
        generated=shares[1],
        difference=shares[0] - shares[1],
        low=100 * low,
        high=100 * high,
        place=pd.factorize(counts["category"])[0],
    )
    ordered = shifts.sort_values(["place", "real", "attribute"], ascending=[True, False, True])
    return ordered[list(COLUMNS)].reset_index(drop=True)


def attribute_counts(real: pd.DataFrame, generated: pd.DataFrame) -> pd.DataFrame:
    """In how many real and generated images each attribute is, as `attribute_shift` takes it.

    Parameters
    ----------
    real, generated : pandas.DataFrame
        One row an image, and a column for each category, such as hair colour, whose cells are an
        attribute, several as a collection or as text such as ``cap|bow``, or missing. ``image`` is
        no category, and categories that only one of the two has are left out.

    Raises
    ------
    InputError
        They share no category.
    """
    categories = [name for name in real if name in generated and name not in ("image", "n")]
    if not categories:
        reason = "shares no column of attributes with the generated images"
        raise InputError(
            "real_attributes", None, reason, "Give both tables a column for each category."
        )

    rows = []
    n_real, n_generated = len(real), len(generated)
    for category in categories:
        in_real, in_generated = _frequencies(real[category]), _frequencies(generated[category])
        for name in sorted({*in_real, *in_generated}):
            counts = in_real[name], in_generated[name], n_real, n_generated
            rows.append((str(category), name, *counts))
    return pd.DataFrame(rows, columns=["category", "attribute", *COUNTS])


def _frequencies(column: "pd.Series[Any]") -> Counter[str]:
    """How many images have each attribute."""
    n_images: Counter[str] = Counter()
    for cell in column:
        if isinstance(cell, str):
            n_images.update(set(cell.split("|")) - {""})
        elif isinstance(cell, Collection):
            n_images.update(set(map(str, cell)))
        elif not pd.isna(cell):
            n_images[str(cell)] += 1
    return n_images


def _compute(inputs: Inputs, options: Any) -> pd.DataFrame:
    counts = inputs.get("table")
    if counts is None:
        counts = attribute_counts(inputs.need("real_attributes"), inputs.need("attributes"))
    return attribute_shift(counts, confidence=options.confidence)


PLUGIN = MetricPlugin(
    "attribute_shift",
    "Frequencies of attributes, real images minus generated ones, in percentage points. A "
    "table has category, attribute, real, generated, n_real and n_generated.",
    options=AccuracyOptions,
    takes=("real_attributes|table", "attributes|table"),
    compute=_compute,
)
