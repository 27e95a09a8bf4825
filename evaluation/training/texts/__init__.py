"""Embeddings of captions, by name."""

from evaluation.training.texts.texts import TextFeatures
from graph.plugins import Plugins

TEXT_FEATURES: Plugins[TextFeatures] = Plugins(
    "text features",
    {
        "clip": "evaluation.training.texts.clip",
        "tfidf": "evaluation.training.texts.tfidf",
    },
)
"""Embeddings of texts; each declares its options and the extra that it needs."""
