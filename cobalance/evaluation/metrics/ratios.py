"""Ratio of two predicted groups, among predictions or in generated captions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import DataError, FloatArray, OptionError
from cobalance.evaluation.metrics.group_accuracy import AccuracyOptions
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, score_frame, stack
from cobalance.evaluation.metrics.tables import number_column, rows_of_table, text_column
from cobalance.evaluation.predictions import RUN, check_predictions, require_classes, runs
from cobalance.ingest import WordEditor, load_group_words
from cobalance.statistics import wilson

UNKNOWN = "no group, or several"  # what a caption that does not name one group predicts


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
        From `cobalance.evaluation.predictions.check_predictions`.
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
    >>> from cobalance.evaluation.predictions import check_predictions
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
        n_first = float(rows["n"][rows["predicted"] == first].sum())
        n_second = float(rows["n"][rows["predicted"] == second].sum())
        counts.append(((method, seed), "", n_first, n_second))
    return _ratio_scores(counts, confidence)


def fold_ratio(r: FloatArray) -> FloatArray:
    """max(r, 1/r) of each ratio; 0 becomes infinite.

    Examples
    --------
    >>> fold_ratio(np.array([0.0, 0.25, 1.0, 4.0, np.nan]))
    array([inf,  4.,  1.,  4., nan])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(r, 1 / r)


def caption_predictions(captions: pd.DataFrame, words: str = "gensynth") -> pd.DataFrame:
    """The group that each generated caption names, as predictions for `ratio` and `artefact_shift`.

    Resampled Datasets Are Not Enough, section 3.2: the ratio of captioning counts the words of
    groups in captions. Captions that name no group, or several, predict neither.

    Parameters
    ----------
    captions : pandas.DataFrame
        ``image`` and ``caption``, and ``method`` and ``seed`` where there are several runs.
    words : str
        The list of words that name groups, built-in or a TOML file.

    Raises
    ------
    InputError
        A column or a caption is missing.

    Examples
    --------
    >>> captions = pd.DataFrame({"image": [1, 2, 3],
    ...                          "caption": ["A man and his dog.", "Two women.", "A dog."]})
    >>> caption_predictions(captions)["predicted"].tolist()
    ['man', 'woman', 'no group, or several']
    """
    editor = WordEditor(load_group_words(words), "swap")
    predicted = []
    for text in text_column(captions, "caption", "captions"):
        groups = editor.groups_in(text, by_classes=True)
        predicted.append(next(iter(groups)) if len(groups) == 1 else UNKNOWN)

    table = pd.DataFrame(
        {
            "image": text_column(captions, "image", "captions"),
            "class_name": UNKNOWN,
            "predicted": predicted,
            "n": 1,
        }
    )
    run_columns = {name: captions[name].to_numpy() for name in RUN if name in captions}
    return check_predictions(table.assign(**run_columns), "captions")


def two_groups(predictions: pd.DataFrame, first: str, second: str) -> tuple[str, str]:
    """The two groups to compare: those named, or the only two that are predicted."""
    require_classes(predictions, "a ratio of predicted groups")
    predicted = sorted(set(predictions["predicted"]) - {UNKNOWN})

    if first and second and first != second:
        for name in (first, second):
            if name not in {*predicted, *predictions["class_name"]}:
                raise DataError(
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


def _ratio_scores(
    counts: list[tuple[tuple[str, int], str, float, float]], confidence: float
) -> pd.DataFrame:
    scores = []
    for run, group, n_first, n_second in counts:
        unfolded = unfolded_ratio("unfolded_ratio", run, group, n_first, n_second, confidence)
        low, value, high = unfolded[["low", "value", "high"]].to_numpy().T

        # Folding turns an interval that holds 1 back at 1, and swaps the ends of one below it.
        folded_low, folded_high = fold_ratio(low), fold_ratio(high)
        holds_one = (low <= 1) & (high >= 1)
        limits = (
            np.where(holds_one, 1.0, np.minimum(folded_low, folded_high)),
            np.maximum(folded_low, folded_high),
        )
        n = n_first + n_second
        scores += [score_frame("ratio", group, fold_ratio(value), *limits, n, run=run), unfolded]
    return stack(scores)


def unfolded_ratio(
    metric: str, run: tuple[str, int], group: str, a: float, b: float, confidence: float
) -> pd.DataFrame:
    """The ratio a / b, with Wilson's limits p of the first share as p / (1 - p)."""
    low, high = wilson(np.array([a]), np.array([a + b]), confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.float64(a) / np.float64(b)
        limits = low / (1 - low), high / (1 - high)
    return score_frame(metric, group, float(value), *limits, a + b, run=run)


class GroupsOptions(AccuracyOptions):
    """Options of ratios of two predicted groups.

    Parameters
    ----------
    first, second : str
        The two predicted groups, such as ``man`` and ``woman``.
    """

    first: str = ""
    second: str = ""


class RatioOptions(GroupsOptions):
    """Options of the metric ratio.

    Parameters
    ----------
    words : str
        The list of words that name groups in captions, built-in or a TOML file.
    """

    words: str = "gensynth"


def _counts(table: pd.DataFrame) -> Iterator[tuple[tuple[str, int], str, float, float]]:
    first, second = number_column(table, "first"), number_column(table, "second")
    for row, (run, group) in enumerate(rows_of_table(table)):
        yield run, group, first[row], second[row]


def _ratio(inputs: Inputs, options: Any) -> pd.DataFrame:
    predictions, captions = inputs.get("predictions"), inputs.get("captions")
    if predictions is None and captions is not None:
        predictions = caption_predictions(captions, options.words)
    if predictions is None:
        return _ratio_scores(list(_counts(inputs.need("table"))), options.confidence)
    return ratio(predictions, options.first, options.second, confidence=options.confidence)


PLUGIN = MetricPlugin(
    "ratio",
    "How unevenly two groups are predicted: max(r, 1/r). A table has counts first and second.",
    options=RatioOptions,
    takes=("predictions|captions|table",),
    compute=_ratio,
)
