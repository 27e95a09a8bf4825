"""Embed names with the text encoder of CLIP."""

from collections.abc import Sequence

import torch

from generation.filters.clip import ClipOptions, open_filter
from graph.arrays import FloatArray


class ClipTexts:
    """Embeds texts with CLIP, where its weights are on this machine.

    Raises
    ------
    JobBlockedError
        They are not.
    """

    def __init__(self, options: ClipOptions) -> None:
        self._clip = open_filter(options)
        self.label = f"{self._clip.vision.checkpoint.label}"

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        """Embeddings of shape (texts, dimensions)."""
        vision = self._clip.vision
        rows = []
        with vision.computing("CLIP on names"):
            for batch in vision.batches(list(texts)):
                tokens = self._clip.tokenizer(
                    list(batch),
                    padding="max_length",
                    max_length=vision.model.config.text_config.max_position_embeddings,
                    truncation=True,
                    return_tensors="pt",
                )
                known = {
                    name: tokens[name].to(vision.device) for name in ("input_ids", "attention_mask")
                }
                rows.append(vision.model.get_text_features(**known).pooler_output.double().cpu())
        found: FloatArray = torch.cat(rows).numpy()
        return found
