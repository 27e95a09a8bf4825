"""How many of the known attributes were proposed, and how many of the proposed differ."""

import numpy as np

from cobalance.graph.arrays import FloatArray


def vocabulary_recall(known: FloatArray, proposed: FloatArray, beta: float = 0.8) -> float:
    """The share of known attributes that some proposed one matches (GELDA, equation 1).

    Parameters
    ----------
    known, proposed : float array, shape (attributes, dimensions)
        Text embeddings, of any length above 0.
    beta : float
        A match has a cosine above it.

    Returns
    -------
    float
        NaN where nothing is known.

    Examples
    --------
    >>> known = np.eye(2)
    >>> proposed = np.array([[0.9, 0.7], [0.0, 0.0]])[:1] / np.sqrt(0.9**2 + 0.7**2)
    >>> vocabulary_recall(known, np.eye(2)), vocabulary_recall(known, proposed)
    (1.0, 0.0)
    """
    if not len(known):
        return float("nan")
    if not len(proposed):
        return 0.0
    return float(np.mean(best_cosines(known, proposed) > beta))


def best_cosines(known: FloatArray, proposed: FloatArray) -> FloatArray:
    """The highest cosine of each known embedding with a proposed one, shape (known,)."""
    best: FloatArray = (_unit(known) @ _unit(proposed).T).max(axis=1)
    return best


def effective_dimension(embeddings: FloatArray, share: float = 0.95) -> tuple[int, float]:
    """Principal components that hold a share of the variance, and that number by attribute.

    GELDA (section 4.1): "the number of principal components needed to capture 95% of the variance
    in the embedding space spanned by a set of attributes".

    Parameters
    ----------
    embeddings : float array, shape (attributes, dimensions)
        They are centred here.
    share : float
        Of the variance.

    Returns
    -------
    int, float
        0 components where nothing varies; the fraction is NaN without attributes.

    Examples
    --------
    >>> effective_dimension(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    (1, 0.25)
    """
    n = len(embeddings)
    if n == 0:
        return 0, float("nan")
    centred = embeddings - embeddings.mean(axis=0)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2
    total = variances.sum()
    if total <= np.finfo(np.float64).eps * max(1.0, float((embeddings**2).sum())):
        return 0, 0.0
    # a tolerance, so that a share that is reached exactly is not missed by rounding
    needed = int(np.searchsorted(np.cumsum(variances) / total, share - 1e-12)) + 1
    return needed, needed / n


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: FloatArray = vectors / np.maximum(lengths, np.finfo(np.float64).tiny)
    return unit
