"""CLIP: embeddings of images, of length 1.

Radford et al., "Learning Transferable Visual Models From Natural Language Supervision" (2021).
`clip_336` is ViT-L/14 at 336 pixels, as CMMD embeds images: each one whole, squeezed into a square,
where `clip` crops, as CLIP does (Jayasumana et al., "Rethinking FID", CVPR 2024).
"""

from typing import Any

from pydantic import Field

from cobalance.base import Plugin, torch
from cobalance.evaluation.training.features.vision import VisionFeatures
from cobalance.vision import CLIP, ModelOptions, load_clip

_LICENCE = "none named on the hub; its code is under MIT"
_REVISION_336 = "ce19dc912ca5cd21c8a653c79e251e808ccabcd1"


class ClipFeatureOptions(ModelOptions):
    """Options of the features clip."""

    model: str = CLIP
    batch_size: int = Field(default=32, ge=1, le=1024)


class Clip336Options(ModelOptions):
    """Options of the features clip_336."""

    model: str = "openai/clip-vit-large-patch14-336"
    batch_size: int = Field(default=16, ge=1, le=1024)


def open_clip(options: ClipFeatureOptions) -> VisionFeatures:
    """Load the model."""
    return VisionFeatures(load_clip(options), embed)


def open_clip_336(options: Clip336Options) -> VisionFeatures:
    """Load the model, to see images whole."""
    vision = load_clip(options, _REVISION_336)
    side = vision.model.config.vision_config.image_size
    vision.processor.size = {"height": side, "width": side}
    vision.processor.do_center_crop = False
    return VisionFeatures(vision, embed)


def embed(model: Any, pixels: Any) -> Any:
    """Embeddings of a batch of pixels, of length 1."""
    return torch.nn.functional.normalize(
        model.get_image_features(pixel_values=pixels).pooler_output
    )


PLUGINS = (
    Plugin(
        "clip",
        "Image embeddings of CLIP.",
        "train",
        ClipFeatureOptions,
        _LICENCE,
        open=open_clip,
    ),
    Plugin(
        "clip_336",
        "Image embeddings of CLIP ViT-L/14 at 336 pixels, as of CMMD.",
        "train",
        Clip336Options,
        _LICENCE,
        open=open_clip_336,
    ),
)
