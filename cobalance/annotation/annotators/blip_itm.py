"""Annotator that scores texts by BLIP's image-text matching."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobalance.annotation.annotators.annotator import Floats, ScoringAnnotator
from cobalance.base import Plugin, torch, transformers
from cobalance.vision import BlipItmOptions, ImageArray, VisionModel, load_processor, open_vision

PLUGIN = Plugin(
    "blip-itm",
    "BLIP says how probably a text matches the image.",
    extra="models",
    options=BlipItmOptions,
    licence="BSD-3-Clause",
)
REVISION = "c0273606af96037e7a3b2fb0ff4ae9620b517be6"
"""The commit whose weights are safetensors; the main branch has a pickle alone."""
TEXTS_AT_ONCE = 32
"""Texts that are read beside one image at once; bounds the memory."""


@dataclass(frozen=True, eq=False)
class BlipItm(ScoringAnnotator):
    """Scores texts by the matching head of BLIP [1]_.

    An image is encoded once, and its patches are attended to by the tokens of each text. The mask
    of the padding is passed on: without it scores depend on the longest text beside them.

    References
    ----------
    .. [1] Li, J. et al., *BLIP: Bootstrapping language-image pre-training for unified
       vision-language understanding and generation* (ICML 2022), section 3.2.
    """

    name = PLUGIN.name
    vision: VisionModel  # a transformers.BlipForImageTextRetrieval
    tokenizer: Any

    def scores(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Floats:
        """Probability that each text matches each image, of shape (images, texts).

        O(images x texts) passes of the text encoder.
        """
        scores = np.zeros((len(images), len(texts)), np.float32)
        limit = self.vision.model.config.text_config.max_position_embeddings
        groups = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            group = list(texts[start : start + TEXTS_AT_ONCE])
            tokens = self.tokenizer(
                group, padding=True, truncation=True, max_length=limit, return_tensors="pt"
            )
            groups.append((start, tokens))

        row = 0
        for batch in self.vision.batches(images):
            with self.vision.computing(f"image-text matching on {len(batch)} images"):
                states = self.vision.model.vision_model(self.vision.pixels(batch)).last_hidden_state
                for patches in states:
                    for start, tokens in groups:
                        probabilities = self._match(patches, tokens)
                        scores[row, start : start + len(probabilities)] = probabilities
                    row += 1
        return scores

    def describe_model(self) -> Mapping[str, Any]:
        """The model with its weights."""
        return self.vision.describe()

    def _match(self, patches: "torch.Tensor", tokens: "Mapping[str, torch.Tensor]") -> Floats:
        """Probabilities of some texts for the patches of one image."""
        model, ids = self.vision.model, tokens["input_ids"].to(self.vision.device)
        states = model.text_encoder(
            input_ids=ids,
            attention_mask=tokens["attention_mask"].to(self.vision.device),
            encoder_hidden_states=patches.expand(len(ids), -1, -1),
        ).last_hidden_state
        # The head's first output is "no match", and the second one "match".
        return model.itm_head(states[:, 0]).float().softmax(dim=-1)[:, 1].cpu().numpy()


def open_annotator(options: BlipItmOptions) -> BlipItm:
    """Open the annotator and load its model; see `cobalance.base.registry.Plugins`."""
    vision = open_vision(
        options,
        transformers.BlipForImageTextRetrieval,
        transformers.BlipImageProcessorPil,
        REVISION,
    )
    return BlipItm(options, vision, load_processor(transformers.AutoTokenizer, vision.checkpoint))
