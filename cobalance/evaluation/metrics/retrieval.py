"""Recall of image retrieval at K, of all texts and by group."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from cobalance.base import STRING, BoolArray, FloatArray, IntArray
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
from cobalance.evaluation.table_files import refuse_rows
from cobalance.statistics import proportions

BLOCK = 1_024  # queries ranked at a time


def retrieval_ranks(
    texts: FloatArray, images: FloatArray, relevant: BoolArray | IntArray
) -> IntArray:
    """Rank of the best relevant image of each text among all images by cosine, from 1.

    An image that is as similar as the relevant one counts before it, so that equal embeddings
    retrieve nothing. Cosines are compared exactly: where rounding could decide which of two is
    larger, they are computed again without it, as fractions.

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

    Examples
    --------
    An image is as similar as one that is twice as long:

    >>> retrieval_ranks(np.array([[3.0, 1, 0]]), np.array([[1.0, 1, 0], [2, 2, 0]]), np.array([0]))
    array([2])
    """
    texts, images = _check_finite(texts, "texts"), _check_finite(images, "embeddings")
    distinct, image = np.unique(images, axis=0, return_inverse=True)
    text_units, image_units = _unit(texts), _unit(distinct)
    # Two cosines further apart than rounding can be of a sum of d products are surely different.
    error = 8 * (texts.shape[1] + 4) * np.finfo(np.float64).eps

    ranks = np.empty(len(texts), dtype=np.int64)
    for start in range(0, len(texts), BLOCK):
        rows = slice(start, start + BLOCK)
        right = relevant[rows]
        if right.ndim == 1:
            right = right[:, None] == np.arange(len(images))

        distinct_cosines = text_units[rows] @ image_units.T
        cosines = distinct_cosines[:, image]
        best = np.where(right, cosines, -np.inf).max(axis=1, keepdims=True)
        ranks[rows] = 1 + ((cosines >= best - error) & ~right).sum(axis=1)

        # Images too close to the best one to tell are compared exactly.
        near = np.abs(distinct_cosines - best) <= error
        for row in np.flatnonzero(near.sum(axis=1) > 1):
            columns = np.flatnonzero(near[row, image])
            behind = _count_behind(texts[start + row], images[columns], right[row, columns])
            ranks[start + row] -= behind
    return ranks


def _count_behind(text: FloatArray, images: FloatArray, right: BoolArray) -> int:
    """Count the images that are not right and less similar than the best one that is.

    Parameters
    ----------
    text : float array, shape (d,)
    images : float array, shape (n_images, d)
    right : bool array, shape (n_images,)
        Which of them are right; one at least.
    """
    # All cosines are 0, as in many pairs of sparse vectors.
    if not images[:, text != 0].any():
        return 0
    cosines = _exact_cosines(text, images)
    best = cosines[right].max()
    return int((cosines[~right] < best).sum())


def _exact_cosines(text: FloatArray, images: FloatArray) -> NDArray[np.object_]:
    """The cosines' squares with their signs, times the square of the text's length; slow."""
    numbers = _whole_numbers(images)
    products = numbers @ _whole_numbers(text)
    squares = (numbers**2).sum(axis=1)
    squares[squares == 0] = 1

    signed_squares = products * np.abs(products)
    return np.array(list(map(Fraction, signed_squares, squares)), dtype=object)


def _whole_numbers(vectors: FloatArray) -> NDArray[np.object_]:
    """Python's integers: each vector times a power of two that makes its numbers whole."""
    fractions, exponents = np.frexp(vectors)
    shifts = exponents - exponents.min(axis=-1, keepdims=True, initial=0)
    numbers = np.ldexp(fractions, 53).astype(np.int64).astype(object)
    return np.asarray(numbers << shifts.astype(object))


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
    names = sorted(set(labels.dropna().map(str)) - {NONE, ""})

    masks = [np.ones(len(hits), dtype=bool)]
    masks += [(labels.astype(STRING) == name).to_numpy() for name in names]
    n = np.array(masks).sum(axis=1).astype(np.float64)
    n_right = (np.array(masks) & hits).sum(axis=1).astype(np.float64)
    return score_frame(f"recall@{k}", ["", *names], *proportions(n_right, n, confidence), n)


def _check_finite(vectors: FloatArray, source: str) -> FloatArray:
    refuse_rows(
        ~np.isfinite(vectors).all(axis=1),
        source,
        lambda _: "the embedding is NaN or infinite",
        "Correct it, or leave the row out.",
    )
    return np.asarray(vectors, dtype=np.float64)


def _unit(vectors: FloatArray) -> FloatArray:
    """Scale vectors to a length of 1; zeros stay zeros."""
    # A power of two first, so that no square is too large or too small for a float.
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = np.ldexp(vectors, -np.frexp(largest)[1])
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(length == 0, 1, length))


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
    groups = inputs.get("groups")
    if groups is None:
        return retrieval_recall(ranks, k=options.k, confidence=options.confidence)

    frames: list[pd.DataFrame] = []
    for name, column in align_groups(groups, inputs.ids_of("texts"), "texts").items():
        scores = retrieval_recall(ranks, column, **options.model_dump())
        # The recall of all texts is the same with each attribute.
        if frames:
            scores = scores[scores["group"] != ""]
        frames.append(with_left_out(scores, (column == NONE).sum(), str(name), what="texts"))
    return stack(frames)


PLUGIN = MetricPlugin(
    "retrieval_recall",
    "R@K: texts whose image is among the K most similar ones, of all and by group.",
    options=RecallOptions,
    takes=("texts", "embeddings"),
    may_take=("groups",),
    compute=_retrieval_recall,
)
