"""Scores and labels of images compared with ground truth: AUC, precision, recall, F1."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.graph.arrays import BoolArray, FloatArray


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

    Examples
    --------
    >>> found = label_scores(["sky"], np.array([[0.9], [0.4], [0.6], [0.1]]),
    ...     np.array([[True], [False], [True], [False]]), np.array([[1.0], [1.0], [0.0], [0.0]]))
    >>> found[["auc", "precision", "recall", "f1"]].values.tolist()
    [[0.75, 0.5, 0.5, 0.5]]
    """
    unread = np.asarray(np.isnan(scores).all(axis=1))
    rows = [
        (name, *_compare(scores[:, at], labels[:, at], truth[:, at], unread))
        for at, name in enumerate(concepts)
    ]
    columns = ["concept", "images", "shown", "not_visible", "unread"]
    return pd.DataFrame(rows, columns=[*columns, "auc", "precision", "recall", "f1"])


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
    from sklearn.metrics import roc_auc_score

    ranks = np.unique(np.where(missing, -np.inf, scores), return_inverse=True)[1]
    return float(roc_auc_score(shown, ranks))


class Macro(NamedTuple):
    """A mean over concepts, of how many it is, and how many have no value and are left out."""

    value: float
    n: int
    left_out: int


def macro(values: npt.ArrayLike) -> Macro:
    """The unweighted mean of concepts' values, such as those of a published table.

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
