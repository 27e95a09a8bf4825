"""Embeddings of texts by CLIP."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from cobalance.base import Plugin
from cobalance.evaluation.training.examples import Floats
from cobalance.vision import CLIP, ModelOptions


class ClipTextOptions(ModelOptions):
    """Options of the text features clip."""

    model: str = CLIP
    batch_size: int = Field(default=128, ge=1, le=1024)


PLUGIN = Plugin(
    "clip",
    "Text embeddings of CLIP.",
    "train",
    ClipTextOptions,
    licence="none named on the hub; its code is under MIT",
)


@dataclass(frozen=True, eq=False)
class ClipTexts:
    """CLIP's text encoder; the seed changes nothing."""

    model: Any  # a ZeroShotClip, whose module needs torch

    def read(self, texts: Sequence[str], seed: int) -> Floats:
        """Embeddings of length 1, shape (n_texts, n_features)."""
        del seed
        return np.asarray(self.model.embed_texts(texts))


def open_text_features(options: ClipTextOptions) -> ClipTexts:
    """Load the model."""
    from cobalance.evaluation.training.tuning.clip import open_clip

    return ClipTexts(open_clip(options))
