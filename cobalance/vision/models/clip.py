"""CLIP: the default model, ViT-B/32, the commit of its weights, the loader, and cosines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import positions_of, transformers
from cobalance.vision.images import ImageArray
from cobalance.vision.models.loading import load_processor
from cobalance.vision.models.options import ModelOptions
from cobalance.vision.models.vision import VisionModel, open_vision

CLIP = "openai/clip-vit-base-patch32"
"""Its weights have no licence on the hub; their authors' code is under MIT, and their model card
leaves deployed uses out of scope."""

CLIP_REVISION = "c237dc49a33fc61debc9276459120b7eac67e7ef"
"""The hub's own conversion to safetensors: the main branch has a pickle."""

CLIPSCORE_WEIGHT = 2.5
"""The factor by which CLIPScore multiplies a cosine (Hessel et al., EMNLP 2021, section 3)."""


class ClipModelOptions(ModelOptions):
    """Options of a CLIP; its model is ViT-B/32 by default."""

    model: str = CLIP


@dataclass(frozen=True, eq=False)
class ImageTextClip:
    """CLIP's two encoders with their image processor and tokenizer."""

    vision: VisionModel  # a CLIPModel
    tokenizer: Any  # a transformers.CLIPTokenizer

    def cosines(
        self, images: Sequence[ImageArray], texts: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Cosine similarity of each image with its text."""
        if not images:
            return np.empty(0)

        model = self.vision.model
        image_rows = [
            _unit_rows(model.get_image_features(pixel_values=self.vision.pixels(batch)))
            for batch in self.vision.batches(images)
        ]

        # The images of a query share their prompt: each text is encoded once.
        unique_texts = list(dict.fromkeys(texts))
        text_rows = [
            _unit_rows(model.get_text_features(**self.vision.tokens(self.tokenizer, batch)))
            for batch in self.vision.batches(unique_texts)
        ]
        positions = positions_of(unique_texts)
        row_of_image = [positions[text] for text in texts]

        return np.vecdot(np.concatenate(image_rows), np.concatenate(text_rows)[row_of_image])


def load_clip(options: ModelOptions, revision: str = CLIP_REVISION) -> VisionModel:
    """Load CLIP's two encoders; as `cobalance.vision.models.vision.open_vision` does."""
    return open_vision(
        options, transformers.CLIPModel, transformers.CLIPImageProcessorPil, revision
    )


def load_image_text_clip(options: ModelOptions) -> ImageTextClip:
    """Load CLIP's two encoders and the tokenizer; raises as `load_clip`."""
    vision = load_clip(options)
    return ImageTextClip(vision, load_processor(transformers.CLIPTokenizer, vision.checkpoint))


def _unit_rows(features: Any) -> npt.NDArray[np.float64]:
    """Embeddings of unit length, one a row."""
    values = features.pooler_output.double().cpu().numpy()
    return values / np.linalg.norm(values, axis=1, keepdims=True)
