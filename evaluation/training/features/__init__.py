"""Features of images that training does not change, by name."""

from evaluation.training.features.features import Features
from graph.plugins import Plugins

FEATURES: Plugins[Features] = Plugins(
    "features",
    {
        "pixels": "evaluation.training.features.pixels",
        "dinov2": "evaluation.training.features.dinov2",
        "clip": "evaluation.training.features.clip",
        "clip_336": "evaluation.training.features.clip_336",
        "inception": "evaluation.training.features.inception",
    },
)
"""Features; each declares its options and the extra that it needs."""
