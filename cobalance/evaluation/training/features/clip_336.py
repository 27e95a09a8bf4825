"""CLIP ViT-L/14 at 336 pixels, as CMMD embeds images: each one whole, squeezed into a square.

Jayasumana et al., "Rethinking FID" (CVPR 2024). `cobalance.evaluation.training.features.clip`
crops, as CLIP does.
"""

from pydantic import Field

from cobalance.evaluation.training.features.clip import embed
from cobalance.evaluation.training.features.vision import VisionFeatures
from cobalance.graph.plugins import Plugin
from cobalance.ingest.models.clip import load_clip
from cobalance.ingest.models.options import ModelOptions

_REVISION = "ce19dc912ca5cd21c8a653c79e251e808ccabcd1"


class Clip336Options(ModelOptions):
    """Options of the features clip_336."""

    model: str = "openai/clip-vit-large-patch14-336"
    batch_size: int = Field(default=16, ge=1, le=1024)


PLUGIN = Plugin(
    "clip_336",
    "Image embeddings of CLIP ViT-L/14 at 336 pixels, as of CMMD.",
    "train",
    Clip336Options,
    licence="none named on the hub; its code is under MIT",
)


def open_features(options: Clip336Options) -> VisionFeatures:
    """Load the model."""
    vision = load_clip(options, _REVISION)
    side = vision.model.config.vision_config.image_size
    vision.processor.size = {"height": side, "width": side}
    vision.processor.do_center_crop = False
    return VisionFeatures(vision, embed)
