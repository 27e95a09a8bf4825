"""DINOv2: features of the class token.

Oquab et al., "DINOv2: Learning Robust Visual Features without Supervision" (2023).
"""

from pydantic import Field

from cobalance.base import Plugin, transformers
from cobalance.evaluation.training.features.vision import VisionFeatures
from cobalance.vision import ModelOptions, open_vision


class Dinov2Options(ModelOptions):
    """Options of the features dinov2."""

    model: str = "facebook/dinov2-small"
    batch_size: int = Field(default=32, ge=1, le=1024)


PLUGIN = Plugin(
    "dinov2", "Features of DINOv2.", "train", Dinov2Options, licence="Apache License 2.0"
)


def open_features(options: Dinov2Options) -> VisionFeatures:
    """Load the model."""
    vision = open_vision(options, transformers.Dinov2Model, transformers.BitImageProcessorPil)
    return VisionFeatures(
        vision, lambda model, pixels: model(pixel_values=pixels).last_hidden_state[:, 0]
    )
