"""Embeddings of attributes' names, to tell which of them mean the same."""

from collections.abc import Sequence
from typing import Any

from graph.arrays import FloatArray


def tfidf_embeddings(texts: Sequence[str], n: tuple[int, int] = (2, 4)) -> FloatArray:
    """TF-IDF of the letters in a row of each text: spelling, and no meaning.

    A stand-in for a text encoder where there is none: "blue bill" and "bill that is blue" are
    similar, "sofa" and "couch" are not.

    Parameters
    ----------
    texts : sequence of str
        Weights are theirs.
    n : tuple of two int
        Shortest and longest of the runs of letters, which end at words' ends.

    Returns
    -------
    float array, shape (texts, runs of letters)
    """
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(text.strip() for text in texts):
        return np.zeros((len(texts), 1))
    vectors: Any = TfidfVectorizer(analyzer="char_wb", ngram_range=n).fit_transform(texts)
    found: FloatArray = vectors.toarray()
    return found
