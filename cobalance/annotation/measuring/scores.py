"""Scores of labels against ground truth (AUC, F1), their macro means, and vocabulary recall."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import BoolArray, FloatArray, InputError, sklearn
from cobalance.ingest import read_start


def label_scores(
    concepts: list[str], scores: FloatArray, labels: BoolArray, truth: FloatArray
) -> pd.DataFrame:
    """How well scores and labels agree with ground truth, concept by concept.

    Images without any score could not be read, and are left out. Where an image has scores, but
    none for a concept, a detector has found nothing: less than any score.

    Parameters
    ----------
    concepts : list of str
    scores : float array, shape (images, concepts)
        NaN where there is none.
    labels : bool array, shape (images, concepts)
        Whether images are labelled with concepts.
    truth : float array, shape (images, concepts)
        1 where the image shows the concept, 0 where it does not, NaN where nobody can tell.

    Returns
    -------
    pandas.DataFrame
        A row a concept: ``concept``, ``images`` (that were compared), ``shown`` (of these, with
        the concept), ``not_visible`` and ``unread`` (left out), ``auc``, ``precision``, ``recall``
        and ``f1``. The AUC is NaN where all images or none show the concept, and where it has no
        score at all; a share of no images is NaN.
    """
    unread = np.asarray(np.isnan(scores).all(axis=1))
    columns = zip(scores.T, labels.T, truth.T, strict=True)
    rows = [
        (concept, *_compare(*of_concept, unread))
        for concept, of_concept in zip(concepts, columns, strict=True)
    ]
    names = ["concept", "images", "shown", "not_visible", "unread"]
    return pd.DataFrame(rows, columns=[*names, "auc", "precision", "recall", "f1"])


def _compare(
    scores: FloatArray, labels: BoolArray, truth: FloatArray, unread: BoolArray
) -> tuple[int, int, int, int, float, float, float, float]:
    unseen = np.isnan(truth)
    used = ~unread & ~unseen

    shown, labelled = truth[used] > 0, labels[used]
    hits = int((shown & labelled).sum())

    return (
        int(used.sum()),
        int(shown.sum()),
        int((unseen & ~unread).sum()),
        int(unread.sum()),
        auc(scores[used], shown),
        _share(hits, int(labelled.sum())),
        _share(hits, int(shown.sum())),
        _share(2 * hits, int(labelled.sum() + shown.sum())),
    )


def auc(scores: FloatArray, shown: BoolArray) -> float:
    """Area under the ROC curve; NaN of one class alone, and without any score.

    Examples
    --------
    >>> auc(np.array([0.2, np.nan, 0.2]), np.array([True, False, False]))
    0.75
    """
    missing = np.isnan(scores)
    if missing.all() or shown.all() or not shown.any():
        return float("nan")
    # Ranks, as scikit-learn takes no infinite score; a missing one is below all others.
    ranks = np.unique(np.where(missing, -np.inf, scores), return_inverse=True)[1]
    return float(sklearn.metrics.roc_auc_score(shown, ranks))


class Macro(NamedTuple):
    """A mean over concepts, of how many it is, and how many have no value and are left out."""

    value: float
    n: int
    left_out: int


def macro(values: npt.ArrayLike) -> Macro:
    """Unweighted mean over concepts, as in published tables.

    Examples
    --------
    >>> macro([0.5, float("nan"), 1.0])
    Macro(value=0.75, n=2, left_out=1)
    """
    numbers = np.asarray(values, dtype=np.float64)
    known = numbers[~np.isnan(numbers)]
    value = float(known.mean()) if len(known) else float("nan")
    return Macro(value, len(known), len(numbers) - len(known))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


GROUP, STANDS_FOR = "dataset", "attributes"


def macro_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean over attributes of each column of numbers, for each dataset.

    Parameters
    ----------
    scores : pandas.DataFrame
        A row an attribute; a column of scores a model, and perhaps ``dataset``. A row that is the
        mean of several attributes has their number in ``attributes``, and counts as so many.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``model`` (the column's name), ``macro``, ``attributes`` and ``left_out``
        (without a value), in the table's order.

    Examples
    --------
    >>> macro_table(pd.DataFrame({"attribute": ["a", "b"], "BLIP": [0.5, 0.75]})).values.tolist()
    [['', 'BLIP', 0.625, 2, 0]]
    """
    models = [name for name in scores.select_dtypes(np.number) if name not in (GROUP, STANDS_FOR)]
    if STANDS_FOR in scores:
        times = pd.to_numeric(scores[STANDS_FOR], errors="coerce").fillna(0).clip(lower=0)
        scores = scores.loc[scores.index.repeat(times.astype(int))].reset_index(drop=True)
    groups = scores[GROUP] if GROUP in scores else pd.Series("", index=scores.index)

    rows = []
    for name, group in scores.groupby(groups, sort=False):
        rows += [(name, model, *macro(group[model])) for model in models]
    return pd.DataFrame(rows, columns=["dataset", "model", "macro", "attributes", "left_out"])


def read_macro_table(path: Path) -> pd.DataFrame:
    """Read a CSV table of scores, and return `macro_table` of it; InputError if it has none."""
    read_start(path)
    try:
        scores = pd.read_csv(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = f"is no table that can be read ({error})"
        raise InputError(str(path), None, reason, "Save it as CSV.") from error

    means = macro_table(scores)
    if means.empty:
        reason = "has no column of numbers"
        raise InputError(str(path), None, reason, "Write a row an attribute, a column a model.")
    return means


BETA = 0.8
"""A proposed attribute matches a known one above this cosine (GELDA)."""


def vocabulary_recall(known: FloatArray, proposed: FloatArray) -> float:
    """The share of known attributes that some proposed one matches (GELDA, equation 1).

    Parameters
    ----------
    known, proposed : float array, shape (attributes, dimensions)
        Text embeddings, of any length above 0.

    Returns
    -------
    float
        NaN where nothing is known.
    """
    if not len(known):
        return float("nan")
    if not len(proposed):
        return 0.0
    best = (_unit(known) @ _unit(proposed).T).max(axis=1)
    return float(np.mean(best > BETA))


def effective_dimension(embeddings: FloatArray) -> tuple[int, float]:
    """Principal components that hold 95% of the variance, and that number by attribute.

    GELDA (section 4.1): "the number of principal components needed to capture 95% of the variance
    in the embedding space spanned by a set of attributes".

    Parameters
    ----------
    embeddings : float array, shape (attributes, dimensions)
        They are centred here.

    Returns
    -------
    int, float
        0 components where nothing varies; the fraction is NaN without attributes.
    """
    n = len(embeddings)
    if n == 0:
        return 0, float("nan")

    centred = embeddings - embeddings.mean(axis=0)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2
    total = variances.sum()
    # Equal embeddings differ by rounding alone.
    if total <= np.finfo(np.float64).eps * max(1.0, float((embeddings**2).sum())):
        return 0, 0.0

    # A tolerance, so that a share that is reached exactly is not missed by rounding.
    needed = int(np.searchsorted(np.cumsum(variances) / total, 0.95 - 1e-12)) + 1
    return needed, needed / n


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.finfo(np.float64).tiny))
