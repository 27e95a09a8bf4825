"""Shift of the ratio of two predicted groups when regions of the test images are inpainted."""

from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, InputError, IntArray
from cobalance.evaluation.metrics.comparison import is_paired
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, score_frame, stack
from cobalance.evaluation.metrics.ratios import UNKNOWN, GroupsOptions, two_groups, unfolded_ratio
from cobalance.evaluation.metrics.tables import number_column, rows_of_table
from cobalance.evaluation.predictions import runs
from cobalance.statistics import proportions

DRAWS = 2_000


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
        From `cobalance.evaluation.predictions.check_predictions`, for the same images and runs.
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
        pairs = _pair_rows(rows, after.get(run), run)
        n = len(pairs)
        original = _group_codes(pairs["predicted"], first, second)
        changed = _group_codes(pairs["predicted_edited"], first, second)
        cells = np.bincount(original * 3 + changed, minlength=9).astype(np.float64)

        drawn = _shifts(rng.multinomial(n, cells / n, DRAWS).astype(np.float64))
        low, high = percentiles(drawn, confidence)
        shift = _shifts(cells[None])
        scores.append(score_frame("artefact_shift", "", shift, low, high, n, run=run))

        square = cells.reshape(3, 3)
        for group, sums, column in (
            ("original", square.sum(axis=1), "predicted"),
            ("edited", square.sum(axis=0), "predicted_edited"),
        ):
            n_first, n_second, _ = sums
            scores.append(
                unfolded_ratio("artefact_ratio", run, group, n_first, n_second, confidence)
            )
            # Captions have no class to be right about.
            if (pairs["class_name"] == UNKNOWN).all():
                continue
            hits = (pairs["class_name"] == pairs[column]).sum()
            share = proportions(hits, n, confidence)
            scores.append(score_frame("artefact_accuracy", group, *share, n, run=run))
    return stack(scores)


def relative_shift(before: FloatArray, after: FloatArray) -> FloatArray:
    """100 abs(before - after) / before, in percent; NaN where it is not defined.

    Examples
    --------
    >>> relative_shift(np.array([3.2, 0.0, np.inf]), np.array([0.6, 0.0, 1.0])).round(2)
    array([81.25,   nan,   nan])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(100 * np.abs(before - after) / before, dtype=np.float64)


def _group_codes(predicted: "pd.Series[Any]", first: str, second: str) -> IntArray:
    return np.select([predicted == first, predicted == second], [0, 1], default=2)


def _shifts(cells: FloatArray) -> FloatArray:
    """Shift of counts, shape (k, 9): original by edited, each first, second or other."""
    square = cells.reshape(-1, 3, 3)
    before, after = square.sum(axis=2), square.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return relative_shift(before[:, 0] / before[:, 1], after[:, 0] / after[:, 1])


def percentiles(drawn: FloatArray, confidence: float) -> tuple[float, float]:
    """Limits of a percentile interval; NaN where more draws are undefined than its tails hold."""
    tail = (1 - confidence) / 2
    undefined = np.isnan(drawn)
    if undefined.mean() <= tail:
        drawn = drawn[~undefined]
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _pair_rows(
    rows: pd.DataFrame, edited: pd.DataFrame | None, run: tuple[str, int]
) -> pd.DataFrame:
    """One row an image with both predictions."""
    name = f"method {run[0]!r}, seed {run[1]}"
    if edited is None:
        reason = f"has no predictions of {name}"
        raise InputError("edited", None, reason, "Predict the edited images with the same models.")
    if not (is_paired(rows) and is_paired(edited)):
        reason = "has several rows for an image, or several images for a row"
        raise InputError("edited", None, reason, "Give one row an image, or a table of ratios.")

    pairs = rows.merge(edited[["image", "predicted"]], "outer", "image", suffixes=("", "_edited"))
    alone = pairs[pairs[["predicted", "predicted_edited"]].isna().any(axis=1)]
    if len(alone):
        reason = (
            f"{len(alone):,} images are not in both tables of {name}: {alone['image'].iloc[0]!r}"
        )
        raise InputError("edited", None, reason, "Predict the same images before and after.")
    return pairs


def _artefact_shift(inputs: Inputs, options: Any) -> pd.DataFrame:
    edited = inputs.get("edited")
    if edited is not None:
        predictions = inputs.need("predictions")
        return artefact_shift(predictions, edited, inputs.generator(), **options.model_dump())

    table = inputs.need("table")
    shifts = relative_shift(number_column(table, "original"), number_column(table, "edited"))
    return stack(
        score_frame("artefact_shift", group, shifts[row], run=run)
        for row, (run, group) in enumerate(rows_of_table(table))
    )


PLUGIN = MetricPlugin(
    "artefact_shift",
    "How far that ratio shifts on inpainted images. A table has ratios original and edited.",
    options=GroupsOptions,
    takes=("edited|table",),
    may_take=("predictions",),
    compute=_artefact_shift,
)
