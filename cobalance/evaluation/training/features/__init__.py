"""Features of images that training does not change, by name."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.base import Plugin
    from cobalance.evaluation.training.features.features import Features

FEATURES: "Plugins[Features, Plugin]" = Plugins(
    "features",
    {
        "pixels": "cobalance.evaluation.training.features.pixels",
        "dinov2": "cobalance.evaluation.training.features.dinov2",
        "clip": "cobalance.evaluation.training.features.clip",
        "clip_336": "cobalance.evaluation.training.features.clip",
        "inception": "cobalance.evaluation.training.features.inception",
    },
)
"""Features; each declares its options and the extra that it needs."""

USUAL = "clip"
"""The features of embeddings unless others are named."""
