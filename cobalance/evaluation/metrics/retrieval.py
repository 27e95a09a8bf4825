"""Recall of image retrieval at K, of all texts and by group."""

from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.evaluation.groups import align_groups
from cobalance.evaluation.metrics.group_accuracy import AccuracyOptions
from cobalance.evaluation.metrics.metric import (
    Inputs,
    MetricPlugin,
    score_frame,
    stack,
    with_left_out,
)
from cobalance.evaluation.predictions import known_rows
from cobalance.evaluation.shortcuts import NONE
from cobalance.graph.arrays import STRING, BoolArray, FloatArray, IntArray
from cobalance.graph.diagnosis.intervals import proportions
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
        *((labels.astype(STRING) == name).to_numpy() for name in names),
    ]
    n = np.array([mask.sum() for mask in masks], dtype=np.float64)
    right = np.array([hits[mask].sum() for mask in masks], dtype=np.float64)
    return score_frame(f"recall@{k}", ["", *names], *proportions(right, n, confidence), n)


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
    rows = known_rows(inputs.ids_of("texts"), inputs.ids_of("embeddings"), "texts", "embeddings")
    ranks = retrieval_ranks(inputs.vectors("texts"), inputs.vectors("embeddings"), rows)
    if inputs.groups is None:
        return retrieval_recall(ranks, k=options.k, confidence=options.confidence)
    frames: list[pd.DataFrame] = []
    for name, column in align_groups(inputs.groups, inputs.ids_of("texts"), "texts").items():
        scores = retrieval_recall(ranks, column, **options.model_dump())
        kept = scores[scores["group"] != ""] if frames else scores
        frames.append(with_left_out(kept, (column == NONE).sum(), str(name), what="texts"))
    return stack(frames)


PLUGIN = MetricPlugin(
    "retrieval_recall",
    "R@K: texts whose image is among the K most similar ones, of all and by group.",
    options=RecallOptions,
    takes=("texts", "embeddings"),
    may_take=("groups",),
    compute=_retrieval_recall,
)
