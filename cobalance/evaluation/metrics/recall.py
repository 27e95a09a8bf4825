"""Recall: of image retrieval at K, and how it differs between groups of people."""

from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.evaluation.groups import check_groups
from cobalance.evaluation.metrics.accuracy import AccuracyOptions
from cobalance.evaluation.metrics.metric import (
    Inputs,
    MetricPlugin,
    score_frame,
    stack,
    with_left_out,
)
from cobalance.evaluation.metrics.tables import number_column, rows_of_table, text_column
from cobalance.evaluation.predictions import RUN, known_rows, require_classes, runs
from cobalance.evaluation.shortcuts import NONE
from cobalance.graph.arrays import BoolArray, FloatArray, IntArray
from cobalance.graph.diagnosis.intervals import newcombe, wilson
from cobalance.graph.errors import InputError

BLOCK = 1_024  # queries ranked at a time


def retrieval_ranks(
    texts: FloatArray, images: FloatArray, relevant: BoolArray | IntArray
) -> IntArray:
    """Rank of the best relevant image of each text among all images by cosine, from 1.

    An image that is as similar as the relevant one counts before it, so that equal embeddings
    retrieve nothing. Equal images are compared once, as products may differ in the last digit.

    Parameters
    ----------
    texts : float array, shape (n_texts, d)
    images : float array, shape (n_images, d)
    relevant : bool array, shape (n_texts, n_images), or int array, shape (n_texts,)
        Which images a text describes, or the one that it does.

    Returns
    -------
    int64 array, shape (n_texts,)
        The number of images plus 1 where a text has no relevant one.

    Raises
    ------
    InputError
        An embedding is not finite.
    """
    of_texts = _unit(texts, "texts")
    of_images, image = np.unique(_unit(images, "embeddings"), axis=0, return_inverse=True)
    ranks = np.empty(len(texts), dtype=np.int64)
    for start in range(0, len(texts), BLOCK):
        rows = slice(start, start + BLOCK)
        right = relevant[rows]
        if right.ndim == 1:
            right = right[:, None] == np.arange(len(images))
        similar = (of_texts[rows] @ of_images.T)[:, image]
        best = np.where(right, similar, -np.inf).max(axis=1, keepdims=True)
        ranks[rows] = 1 + ((similar >= best) & ~right).sum(axis=1)
    return ranks


def retrieval_recall(
    ranks: IntArray,
    groups: "pd.Series[Any] | None" = None,
    *,
    k: int = 1,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """R@K: the share of texts whose image is among the K most similar ones, of all and by group.

    Parameters
    ----------
    ranks : int array, shape (n_texts,)
        From `retrieval_ranks`.
    groups : pandas.Series, shape (n_texts,), optional
        Group of the image of each text; missing or ``none`` where it is unknown.

    Returns
    -------
    pandas.DataFrame
        Scores ``recall@K``, of the group ``""`` for all, with Wilson's interval; texts of unknown
        group are in no other.

    Examples
    --------
    >>> scores = retrieval_recall(np.array([1, 3, 2, 1]), pd.Series(["m", "m", "w", None]), k=2)
    >>> scores[["metric", "group", "value", "n"]]
         metric group  value    n
    0  recall@2         0.75  4.0
    1  recall@2     m   0.50  2.0
    2  recall@2     w   1.00  1.0
    """
    hits = np.asarray(ranks) <= k
    labels = pd.Series([None] * len(hits), dtype=object) if groups is None else groups
    names = sorted({str(name) for name in labels.dropna()} - {NONE, ""})
    masks = [
        np.ones(len(hits), dtype=bool),
        *((labels.astype("str") == name).to_numpy() for name in names),
    ]
    n = np.array([mask.sum() for mask in masks], dtype=np.float64)
    right = np.array([hits[mask].sum() for mask in masks], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        value = right / n
    return score_frame(f"recall@{k}", ["", *names], value, *wilson(right, n, confidence), n)


def opportunity_gap(recalls: pd.DataFrame) -> pd.DataFrame:
    """Sum over classes of how far recall differs between groups.

    Pinpoint Counterfactuals, section 5.4 and table 8, after equality of opportunity (Hardt et al.,
    2016): for two groups the absolute difference, for more groups the largest minus the smallest.

    Parameters
    ----------
    recalls : pandas.DataFrame
        ``class_name``, ``group`` and ``recall``, and ``method`` and ``seed`` where there are
        several runs. The sum has the unit of the recalls, which is percent in the paper.

    Returns
    -------
    pandas.DataFrame
        Scores of each run: ``recall_difference`` of each class (with two groups the first name's
        recall less the second's), ``opportunity_gap``, and ``classes_without_recall``: how many
        lack the recall of a group, and are left out.

    Raises
    ------
    InputError
        A column is missing, a recall is not a number, or there are less than two groups.

    Examples
    --------
    >>> recalls = pd.DataFrame({"class_name": ["nurse"] * 2 + ["farmer"] * 2,
    ...                         "group": ["M", "W"] * 2, "recall": [12.5, 20.0, 78.12, 74.22]})
    >>> opportunity_gap(recalls)[["metric", "group", "value"]].round(2)
                       metric   group  value
    0       recall_difference  farmer    3.9
    1       recall_difference   nurse   -7.5
    2         opportunity_gap           11.4
    3  classes_without_recall            0.0
    """
    table = pd.DataFrame(
        {
            "run": [run for run, _ in rows_of_table(recalls)],
            "class_name": text_column(recalls, "class_name"),
            "group": text_column(recalls, "group"),
            "recall": number_column(recalls, "recall"),
        }
    )
    twice = table.duplicated(["run", "class_name", "group"])
    if twice.any():
        row = int(np.flatnonzero(twice)[0])
        reason = "has a second recall of its class and group"
        raise InputError("table", f"row {row + 1}", reason, "Keep one, or tell runs apart.")
    return stack(
        _gap(_by_group(rows, "recall"), run) for run, rows in table.groupby("run", sort=False)
    )


def _by_group(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Sums of a column of each class in each known group."""
    sums = rows.pivot_table(column, "class_name", "group", aggfunc="sum")
    return sums.drop(columns=NONE, errors="ignore")


def _gap(
    recalls: pd.DataFrame, run: Any, attribute: str = "", limits: Any = (np.nan, np.nan)
) -> pd.DataFrame:
    """Scores of one run from a table of classes by groups."""
    if len(recalls.columns) < 2:
        reason = "has less than two groups to compare"
        raise InputError("groups", None, reason, "Give the recall of each class in each group.")
    values = recalls.to_numpy()
    signed = values[:, 0] - values[:, 1] if values.shape[1] == 2 else np.ptp(values, axis=1)
    left_out = np.isnan(signed)
    total = np.abs(signed[~left_out]).sum() if not left_out.all() else np.nan
    prefix = f"{attribute}: " if attribute else ""
    names = [prefix + str(name) for name in recalls.index]
    return stack(
        [
            score_frame("recall_difference", names, signed, *limits, run=run),
            score_frame("opportunity_gap", attribute, total, run=run),
            score_frame("classes_without_recall", attribute, left_out.sum(), run=run),
        ]
    )


def opportunity_gap_of_predictions(
    predictions: pd.DataFrame, groups: pd.DataFrame, *, confidence: float = 0.95
) -> pd.DataFrame:
    """`opportunity_gap` in percentage points from predictions, for each attribute of the groups.

    With two groups, differences of recall have Newcombe's interval. Images of an unknown attribute
    are left out, and counted.
    """
    require_classes(predictions, "recall")
    predictions = predictions.reset_index(drop=True)
    checked = check_groups(groups)
    at = known_rows(predictions["image"], checked["image"], "predictions")
    attributes = checked.drop(columns="image").iloc[at].reset_index(drop=True)
    right = predictions["n"] * (predictions["class_name"] == predictions["predicted"])
    table = predictions[["class_name", *RUN, "n"]].assign(right=right)
    scores = []
    for name in attributes:
        for method, seed, rows in runs(table.assign(group=attributes[name])):
            run, unknown = (method, seed), rows["n"][rows["group"] == NONE].sum()
            hits, of = (_by_group(rows, column) for column in ("right", "n"))
            limits: Any = (np.nan, np.nan)
            if len(of.columns) == 2:
                (a, b), (of_a, of_b) = (part.fillna(0).to_numpy().T for part in (hits, of))
                low, high = newcombe(a, of_a, b, of_b, confidence)
                limits = 100 * low, 100 * high
            gap = _gap(100 * hits / of.where(of > 0), run, str(name), limits)
            scores.append(with_left_out(gap, unknown, str(name), run=run))
    return stack(scores)


def _unit(vectors: FloatArray, source: str) -> FloatArray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(length).all():
        row = int(np.argmin(np.isfinite(length)))
        reason = "the embedding is NaN or infinite"
        raise InputError(source, f"row {row + 1}", reason, "Correct it, or leave the row out.")
    return np.asarray(vectors / np.where(length == 0, 1, length), dtype=np.float64)


class RecallOptions(AccuracyOptions):
    """Options of the metric retrieval_recall.

    Parameters
    ----------
    k : int
        How many images are retrieved.
    """

    k: int = Field(default=1, ge=1)


def _retrieval_recall(inputs: Inputs, options: Any) -> pd.DataFrame:
    texts, images = inputs.need("texts"), inputs.need("embeddings")
    rows = known_rows(inputs.ids_of("texts"), inputs.ids_of("embeddings"), "texts", "embeddings")
    vectors = (table.drop(columns="image").to_numpy(np.float64) for table in (texts, images))
    ranks = retrieval_ranks(next(vectors), next(vectors), rows)
    if inputs.groups is None:
        return retrieval_recall(ranks, k=options.k, confidence=options.confidence)
    groups = check_groups(inputs.groups)
    at = known_rows(inputs.ids_of("texts"), groups["image"], "texts")
    frames: list[pd.DataFrame] = []
    for name, column in groups.iloc[at, 1:].reset_index(drop=True).items():
        scores = retrieval_recall(ranks, column, **options.model_dump())
        kept = scores[scores["group"] != ""] if frames else scores
        frames.append(with_left_out(kept, (column == NONE).sum(), str(name), what="texts"))
    return stack(frames)


def _opportunity_gap(inputs: Inputs, options: Any) -> pd.DataFrame:
    if inputs.predictions is None:
        return opportunity_gap(inputs.need("table"))
    return opportunity_gap_of_predictions(
        inputs.predictions, inputs.need("groups"), confidence=options.confidence
    )


PLUGINS = (
    MetricPlugin(
        "retrieval_recall",
        "R@K: texts whose image is among the K most similar ones, of all and by group.",
        options=RecallOptions,
        takes=("texts", "embeddings"),
        may_take=("groups",),
        compute=_retrieval_recall,
    ),
    MetricPlugin(
        "opportunity_gap",
        "Sum over classes of the difference of recall between groups. A table has class_name, "
        "group and recall.",
        options=AccuracyOptions,
        takes=("predictions|table", "groups|table"),
        compute=_opportunity_gap,
    ),
)
