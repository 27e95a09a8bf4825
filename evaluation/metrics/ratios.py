"""Ratio of two predicted groups, and how far it shifts between two versions of the test images."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evaluation.intervals import wilson
from evaluation.metrics.accuracy import AccuracyOptions
from evaluation.metrics.metric import Inputs, MetricPlugin, score_frame, stack
from evaluation.metrics.tables import number_column, rows_of_table
from evaluation.predictions import require_classes, runs
from graph.arrays import FloatArray
from graph.errors import InputError, OptionError

DRAWS = 2_000


def ratio(
    predictions: pd.DataFrame, first: str = "", second: str = "", *, confidence: float = 0.95
) -> pd.DataFrame:
    """How unevenly two groups are predicted: max(r, 1/r) for r = #first / #second.

    Resampled Datasets Are Not Enough, section 3.1, for predictions on images with people masked; 1
    is even. Where one of the two is never predicted the ratio is infinite, and where neither is,
    NaN.

    Parameters
    ----------
    predictions : pandas.DataFrame
        From `evaluation.predictions.check_predictions`.
    first, second : str
        The groups, such as ``man`` and ``woman``; may be left out where two are predicted.
        Predictions of anything else do not count.

    Returns
    -------
    pandas.DataFrame
        Scores of each run: ``ratio``, and ``unfolded_ratio``, r itself, with intervals from
        Wilson's for the share of the first group.

    Raises
    ------
    InputError, OptionError
        There are no predicted groups, or it is not clear which two are meant.

    Examples
    --------
    >>> from evaluation.predictions import check_predictions
    >>> table = pd.DataFrame({"class_name": "person", "predicted": ["man", "woman"],
    ...                       "n": [10, 40]})
    >>> scores = ratio(check_predictions(table), "man", "woman")
    >>> scores[["metric", "value", "low", "high"]].round(2)
               metric  value   low  high
    0           ratio   4.00  2.03  7.89
    1  unfolded_ratio   0.25  0.13  0.49
    """
    first, second = two_groups(predictions, first, second)
    counts = []
    for method, seed, rows in runs(predictions):
        a, b = (float(rows["n"][rows["predicted"] == name].sum()) for name in (first, second))
        counts.append(((method, seed), "", a, b))
    return _ratio_scores(counts, confidence)


def folded(r: FloatArray) -> FloatArray:
    """max(r, 1/r) of each ratio; 0 becomes infinite.

    Examples
    --------
    >>> folded(np.array([0.0, 0.25, 1.0, 4.0, np.nan]))
    array([inf,  4.,  1.,  4., nan])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(r, 1 / r)


def relative_shift(before: FloatArray, after: FloatArray) -> FloatArray:
    """100 abs(before - after) / before, in percent; NaN where it is not defined.

    Examples
    --------
    >>> relative_shift(np.array([3.2, 0.0, np.inf]), np.array([0.6, 0.0, 1.0])).round(2)
    array([81.25,   nan,   nan])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(100 * np.abs(before - after) / before, dtype=np.float64)


def artefact_shift(
    predictions: pd.DataFrame,
    edited: pd.DataFrame,
    rng: np.random.Generator,
    first: str = "",
    second: str = "",
    *,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """How far the ratio of two groups shifts when other regions of the images are inpainted.

    Resampled Datasets Are Not Enough, section 3.3: 100 abs(r - r') / r, where r = #first / #second
    is not folded. A model that takes artefacts of inpainting for a group shifts.

    Parameters
    ----------
    predictions, edited : pandas.DataFrame
        From `evaluation.predictions.check_predictions`, for the same images and runs.
    rng : numpy.random.Generator
        Draws images for the interval, 2,000 times: a percentile bootstrap over images.
    first, second : str
        As in `ratio`.

    Returns
    -------
    pandas.DataFrame
        Scores of each run: ``artefact_shift`` in percent, and ``artefact_ratio`` (not folded) and
        ``artefact_accuracy`` of the groups ``original`` and ``edited``.

    Raises
    ------
    InputError
        The two do not have the same images in a run.
    """
    first, second = two_groups(pd.concat([predictions, edited]), first, second)
    after = {(method, seed): rows for method, seed, rows in runs(edited)}
    scores = []
    for method, seed, rows in runs(predictions):
        run = (method, seed)
        pairs = _paired(rows, after.get(run), run)
        codes = [
            np.where(pairs[name] == first, 0, np.where(pairs[name] == second, 1, 2))
            for name in ("predicted", "predicted_edited")
        ]
        cells = np.bincount(codes[0] * 3 + codes[1], minlength=9).astype(np.float64)
        n = len(pairs)
        drawn = _shifts(rng.multinomial(n, cells / n, DRAWS).astype(np.float64))
        low, high = _percentiles(drawn, confidence)
        shift = _shifts(cells[None])
        scores.append(score_frame("artefact_shift", "", shift, low, high, n, run=run))
        square = cells.reshape(3, 3)
        for group, sums, column in (
            ("original", square.sum(axis=1), "predicted"),
            ("edited", square.sum(axis=0), "predicted_edited"),
        ):
            scores.append(_unfolded("artefact_ratio", run, group, sums[0], sums[1], confidence))
            hits = np.array([(pairs["class_name"] == pairs[column]).sum()], dtype=np.float64)
            limits = wilson(hits, np.array([float(n)]), confidence)
            scores.append(score_frame("artefact_accuracy", group, hits / n, *limits, n, run=run))
    return stack(scores)


def two_groups(predictions: pd.DataFrame, first: str, second: str) -> tuple[str, str]:
    """The two groups to compare: those named, or the only two that are predicted."""
    require_classes(predictions, "a ratio of predicted groups")
    predicted = sorted(predictions["predicted"].unique())
    if first and second and first != second:
        for name in (first, second):
            if name not in {*predicted, *predictions["class_name"]}:
                raise OptionError(
                    f"no image has or is predicted the group {name!r}. Predicted: "
                    f"{', '.join(predicted[:10])}."
                )
        return first, second
    if first or second or len(predicted) != 2:
        raise OptionError(
            "a ratio needs two groups. Set first and second, such as man and woman. Predicted: "
            f"{', '.join(predicted[:10])}."
        )
    return predicted[0], predicted[1]


def _shifts(cells: FloatArray) -> FloatArray:
    """Shift of counts, shape (k, 9): original by edited, each first, second or other."""
    square = cells.reshape(-1, 3, 3)
    before, after = square.sum(axis=2), square.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return relative_shift(before[:, 0] / before[:, 1], after[:, 0] / after[:, 1])


def _percentiles(drawn: FloatArray, confidence: float) -> tuple[float, float]:
    """Limits of a percentile interval; NaN where more draws are undefined than its tails hold."""
    tail = (1 - confidence) / 2
    drawn = drawn[~np.isnan(drawn)] if np.isnan(drawn).mean() <= tail else drawn
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _paired(rows: pd.DataFrame, edited: pd.DataFrame | None, run: tuple[str, int]) -> pd.DataFrame:
    """One row an image with both predictions."""
    name = f"method {run[0]!r}, seed {run[1]}"
    if edited is None:
        reason = f"has no predictions of {name}"
        raise InputError("edited", None, reason, "Predict the edited images with the same models.")
    if (rows["n"] != 1).any() or (edited["n"] != 1).any():
        reason = "has rows that stand for several images, which cannot be paired"
        raise InputError("edited", None, reason, "Give one row an image, or a table of ratios.")
    pairs = rows.merge(edited[["image", "predicted"]], "outer", "image", suffixes=("", "_edited"))
    alone = pairs[pairs[["predicted", "predicted_edited"]].isna().any(axis=1)]
    if len(alone):
        reason = (
            f"{len(alone):,} images are not in both tables of {name}: {alone['image'].iloc[0]!r}"
        )
        raise InputError("edited", None, reason, "Predict the same images before and after.")
    return pairs


def _ratio_scores(
    counts: list[tuple[tuple[str, int], str, float, float]], confidence: float
) -> pd.DataFrame:
    scores = []
    for run, group, a, b in counts:
        unfolded = _unfolded("unfolded_ratio", run, group, a, b, confidence)
        low, value, high = (unfolded[name].to_numpy() for name in ("low", "value", "high"))
        ends = folded(low), folded(high)
        least = np.where((low <= 1) & (high >= 1), 1.0, np.minimum(*ends))
        limits = least, np.maximum(*ends)
        scores += [score_frame("ratio", group, folded(value), *limits, a + b, run=run), unfolded]
    return stack(scores)


def _unfolded(
    metric: str, run: tuple[str, int], group: str, a: float, b: float, confidence: float
) -> pd.DataFrame:
    """The ratio a / b, with Wilson's limits p of the first share as p / (1 - p)."""
    low, high = wilson(np.array([a]), np.array([a + b]), confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.float64(a) / np.float64(b)
        limits = low / (1 - low), high / (1 - high)
    return score_frame(metric, group, float(r), *limits, a + b, run=run)


class RatioOptions(AccuracyOptions):
    """Options of ratios.

    Parameters
    ----------
    first, second : str
        The two predicted groups, such as ``man`` and ``woman``.
    """

    first: str = ""
    second: str = ""


def _counts(table: pd.DataFrame) -> Iterator[tuple[tuple[str, int], str, float, float]]:
    first, second = number_column(table, "first"), number_column(table, "second")
    for row, (run, group) in enumerate(rows_of_table(table)):
        yield run, group, first[row], second[row]


def _ratio(inputs: Inputs, options: Any) -> pd.DataFrame:
    if inputs.predictions is None:
        return _ratio_scores(list(_counts(inputs.need("table"))), options.confidence)
    return ratio(inputs.predictions, **options.model_dump())


def _artefact_shift(inputs: Inputs, options: Any) -> pd.DataFrame:
    if inputs.edited is not None:
        predictions = inputs.need("predictions")
        return artefact_shift(
            predictions, inputs.edited, inputs.generator(), **options.model_dump()
        )
    table = inputs.need("table")
    shifts = relative_shift(number_column(table, "original"), number_column(table, "edited"))
    return stack(
        score_frame("artefact_shift", group, shifts[row], run=run)
        for row, (run, group) in enumerate(rows_of_table(table))
    )


PLUGINS = (
    MetricPlugin(
        "ratio",
        "How unevenly two groups are predicted: max(r, 1/r). A table has counts first and second.",
        options=RatioOptions,
        takes=("predictions|table",),
        compute=_ratio,
    ),
    MetricPlugin(
        "artefact_shift",
        "How far that ratio shifts on inpainted images. A table has ratios original and edited.",
        options=RatioOptions,
        takes=("edited|table",),
        may_take=("predictions",),
        compute=_artefact_shift,
    ),
)
