"""CLIP: the default model, ViT-B/32, the commit of its weights, and the loader."""

from cobalance.graph.libraries import transformers
from cobalance.ingest.models.options import ModelOptions
from cobalance.ingest.models.vision import VisionModel, open_vision

CLIP = "openai/clip-vit-base-patch32"
"""Its weights have no licence on the hub; their authors' code is under MIT, and their model card
leaves deployed uses out of scope."""

CLIP_REVISION = "c237dc49a33fc61debc9276459120b7eac67e7ef"
"""The hub's own conversion to safetensors: the main branch has a pickle."""


def load_clip(options: ModelOptions, revision: str = CLIP_REVISION) -> VisionModel:
    """Load CLIP's two encoders; as `cobalance.ingest.models.vision.open_vision` does."""
    return open_vision(
        options, transformers.CLIPModel, transformers.CLIPImageProcessorPil, revision
    )
