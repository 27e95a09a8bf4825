"""CLIP: embeddings of images, of length 1.

Radford et al., "Learning Transferable Visual Models From Natural Language Supervision" (2021).
"""

from typing import Any

from pydantic import Field

from cobalance.evaluation.training.features.vision import VisionFeatures
from cobalance.graph.plugins import Plugin
from cobalance.ingest.models.clip import CLIP, load_clip
from cobalance.ingest.models.options import ModelOptions


class ClipFeatureOptions(ModelOptions):
    """Options of the features clip."""

    model: str = CLIP
    batch_size: int = Field(default=32, ge=1, le=1024)


PLUGIN = Plugin(
    "clip",
    "Image embeddings of CLIP.",
    "train",
    ClipFeatureOptions,
    licence="none named on the hub; its code is under MIT",
)


def open_features(options: ClipFeatureOptions) -> VisionFeatures:
    """Load the model."""
    return VisionFeatures(load_clip(options), embed)


def embed(model: Any, pixels: Any) -> Any:
    """Embeddings of a batch of pixels, of length 1."""
    from torch.nn import functional

    return functional.normalize(model.get_image_features(pixel_values=pixels).pooler_output)
