"""Embeddings of texts without a model: TF-IDF of their words, reduced by an SVD.

Latent semantic analysis: Deerwester et al., "Indexing by Latent Semantic Analysis" (1990).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cobalance.base import DataError, Options, Plugin, sklearn
from cobalance.evaluation.training.examples import Floats


class TfidfOptions(Options):
    """Options of the text features tfidf.

    Parameters
    ----------
    components : int
        Numbers of an embedding; with fewer words their TF-IDF is taken as it is.
    """

    components: int = Field(default=100, ge=1, le=2000)


PLUGIN = Plugin(
    "tfidf",
    "TF-IDF of words without English stop words, reduced by an SVD; no model.",
    "evaluate",
    TfidfOptions,
)


@dataclass(frozen=True)
class TfidfTexts:
    """TF-IDF of the words of the texts that are embedded together."""

    options: TfidfOptions

    def read(self, texts: Sequence[str], seed: int) -> Floats:
        """Embeddings of length 1, or 0 without any words, shape (n_texts, n_features).

        Raises
        ------
        DataError
            No text has a word that counts.
        """
        counting = sklearn.feature_extraction.text.TfidfVectorizer(stop_words="english")
        try:
            weights = counting.fit_transform(texts)
        # The vocabulary is empty.
        except ValueError as error:
            raise DataError(
                f"{len(texts):,} texts have no words but English stop words and single characters. "
                "Embed them by clip."
            ) from error

        if weights.shape[1] <= self.options.components:
            return np.asarray(weights.toarray())
        svd = sklearn.decomposition.TruncatedSVD(self.options.components, random_state=seed)
        return np.asarray(sklearn.preprocessing.normalize(svd.fit_transform(weights)))


open_text_features = TfidfTexts
