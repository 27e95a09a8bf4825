"""Annotator with SigLIP: a probability for each text and image, from one pass of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cobalance.annotation.annotators.annotator import Floats, ScoringAnnotator
from cobalance.base import Plugin, torch, transformers
from cobalance.vision import (
    ImageArray,
    Siglip2Options,
    VisionModel,
    embed_new,
    load_processor,
    open_vision,
    unit_rows,
)

PLUGIN = Plugin(
    "siglip2",
    "SigLIP 2 gives each of the dataset's concepts a probability.",
    extra="models",
    options=Siglip2Options,
    licence="Apache-2.0",
)
REVISION = "75de2d55ec2d0b4efc50b3e9ad70dba96a7b2fa2"


@dataclass(frozen=True, eq=False)
class Siglip2(ScoringAnnotator):
    """Scores texts by SigLIP 2 [1]_, or SigLIP; the variants with a fixed image size.

    Each text has a sigmoid of its own, so that its score does not depend on the others. Texts are
    in lower case and padded to the model's length, as they were in training.

    References
    ----------
    .. [1] Tschannen, M. et al., *SigLIP 2: Multilingual vision-language encoders with improved
       semantic understanding, localization, and dense features* (2025).
    """

    name = PLUGIN.name
    vision: VisionModel  # a transformers.SiglipModel
    tokenizer: Any
    _embeddings: "dict[str, torch.Tensor]" = field(default_factory=dict, repr=False)

    def scores(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Floats:
        """Probability that each text matches each image, of shape (images, texts)."""
        if not texts:
            return np.empty((len(images), 0), np.float32)

        model, scores = self.vision.model, [np.empty((0, len(texts)), np.float32)]
        for batch in self.vision.batches(images):
            with self.vision.computing(f"SigLIP on {len(batch)} images"):
                text_units = embed_new(self._embeddings, texts, self._embed)
                features = model.get_image_features(self.vision.pixels(batch)).pooler_output
                cosines = unit_rows(features) @ text_units.T
                logits = cosines * model.logit_scale.exp() + model.logit_bias
                scores.append(logits.float().sigmoid().cpu().numpy())
        return np.concatenate(scores)

    def describe_model(self) -> Mapping[str, Any]:
        """The model with its weights."""
        return self.vision.describe()

    def _embed(self, texts: Sequence[str]) -> "torch.Tensor":
        # SigLIP was trained on texts in small letters.
        lower = list(map(str.lower, texts))
        tokens = self.vision.tokens(self.tokenizer, lower, padding_side="right")
        return self.vision.model.get_text_features(input_ids=tokens["input_ids"]).pooler_output


def open_annotator(options: Siglip2Options) -> Siglip2:
    """Open the annotator and load its model; see `cobalance.base.registry.Plugins`."""
    vision = open_vision(
        options, transformers.SiglipModel, transformers.SiglipImageProcessorPil, REVISION
    )
    return Siglip2(options, vision, load_processor(transformers.AutoTokenizer, vision.checkpoint))
