"""Embeddings of captions, by name."""

from cobalance.evaluation.training.texts.texts import TextFeatures
from cobalance.graph.plugins import Plugins

TEXT_FEATURES: Plugins[TextFeatures] = Plugins(
    "text features",
    {
        "clip": "cobalance.evaluation.training.texts.clip",
        "tfidf": "cobalance.evaluation.training.texts.tfidf",
    },
)
"""Embeddings of texts; each declares its options and the extra that it needs."""
