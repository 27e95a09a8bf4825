"""What embeds texts."""

from collections.abc import Sequence
from typing import Protocol

from cobalance.evaluation.training.examples import Floats


class TextFeatures(Protocol):
    """Embeds texts, such as captions."""

    def read(self, texts: Sequence[str], seed: int) -> Floats:
        """Embeddings, shape (n_texts, n_features), each of length 1, or 0 where it says nothing."""
        ...
