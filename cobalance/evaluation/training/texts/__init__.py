"""Embeddings of captions, by name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.base import Plugin
    from cobalance.evaluation.training.examples import Floats


class TextFeatures(Protocol):
    """Embeds texts, such as captions."""

    def read(self, texts: Sequence[str], seed: int) -> "Floats":
        """Embeddings, shape (n_texts, n_features), each of length 1, or 0 where it says nothing."""


TEXT_FEATURES: "Plugins[TextFeatures, Plugin]" = Plugins(
    "text features",
    {
        "clip": "cobalance.evaluation.training.texts.clip",
        "tfidf": "cobalance.evaluation.training.texts.tfidf",
    },
)
"""Embeddings of texts; each declares its options and the extra that it needs."""
