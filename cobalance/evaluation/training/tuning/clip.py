"""CLIP, fine-tuned contrastively, and the classes that it finds without training on them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import CLIPTokenizer

from cobalance.base import OptionError
from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.networks.model import consecutive
from cobalance.evaluation.training.tuning.fitting import tune
from cobalance.evaluation.training.tuning.options import ClipTuningOptions
from cobalance.vision import (
    PHOTO,
    ModelOptions,
    VisionModel,
    load_clip,
    load_open_clip,
    load_processor,
    prompt_for,
)

_LARGEST_SCALE = math.log(100)  # of the logits, as in the CLIP paper's section 2.5


@dataclass(frozen=True, eq=False)
class ZeroShotClip:
    """CLIP as a classifier without a last layer: an image's class is the one whose text is closest.

    Parameters
    ----------
    vision : VisionModel
        A CLIPModel in single precision.
    tokenizer : CLIPTokenizer
    prompt : str
        The text of a class, see `cobalance.vision.models.prompts`, with the class as its concept.
    about : dict
        Of its training, for provenance.
    """

    vision: VisionModel
    tokenizer: CLIPTokenizer
    prompt: str = PHOTO
    about: dict[str, Any] = field(default_factory=dict)

    def probabilities(self, images: Examples) -> Floats:
        """Softmax of the scaled cosines with the classes' texts, shape (n_images, n_classes)."""
        texts = self.embed_texts([prompt_for([name], self.prompt) for name in images.classes])
        scale = self.vision.model.logit_scale.exp().item()
        scaled = scale * self.features(images) @ texts.T
        odds = np.exp(scaled - scaled.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def features(self, images: Examples) -> Floats:
        """Embeddings of images, of length 1, shape (n_images, n_dimensions)."""
        embeddings = [np.empty((0, self.vision.model.config.projection_dim))]
        for rows in consecutive(len(images), self.vision.batch_size):
            with self.vision.computing(f"CLIP on {len(rows)} images"):
                embeddings.append(_rows(self._of_images(self.vision.pixels(images.read(rows)))))
        return np.concatenate(embeddings)

    def embed_texts(self, texts: Sequence[str]) -> Floats:
        """Embeddings of texts, of length 1, shape (n_texts, n_dimensions)."""
        embeddings = [np.empty((0, self.vision.model.config.projection_dim))]
        for batch in self.vision.batches(list(texts)):
            with self.vision.computing(f"CLIP on {len(batch)} texts"):
                embeddings.append(_rows(self._of_texts(batch)))
        return np.concatenate(embeddings)

    def with_head(self, weight: Floats, bias: Floats) -> "ZeroShotClip":
        """Refused: texts are in the place of a last layer."""
        del weight, bias
        raise OptionError(
            "CLIP without training on the classes has no last layer to replace. Train a linear "
            "model on features of CLIP instead."
        )

    def describe(self) -> dict[str, Any]:
        """Model, prompt and training, for provenance; JSON values."""
        return {**self.vision.describe(), "prompt": self.prompt, **self.about}

    def loss(self, pixels: torch.Tensor, captions: Sequence[str]) -> torch.Tensor:
        """Contrastive loss: each image is to find its caption in the batch, and the other way."""
        images, texts = self._of_images(pixels), self._of_texts(captions)
        scores = self.vision.model.logit_scale.exp() * images @ texts.T
        targets = torch.arange(len(scores), device=scores.device)
        find_caption = functional.cross_entropy(scores, targets)
        find_image = functional.cross_entropy(scores.T, targets)
        return (find_caption + find_image) / 2

    def after_step(self) -> None:
        """Keep the scale of the logits between 1 and 100."""
        with torch.no_grad():
            self.vision.model.logit_scale.clamp_(0, _LARGEST_SCALE)

    def _of_images(self, pixels: torch.Tensor) -> torch.Tensor:
        return functional.normalize(
            self.vision.model.get_image_features(pixel_values=pixels).pooler_output.float()
        )

    def _of_texts(self, texts: Sequence[str]) -> torch.Tensor:
        device = self.vision.device
        length = self.vision.model.config.text_config.max_position_embeddings
        tokens = self.tokenizer(
            list(texts), padding=True, max_length=length, truncation=True, return_tensors="pt"
        )
        features = self.vision.model.get_text_features(
            input_ids=tokens["input_ids"].to(device),
            attention_mask=tokens["attention_mask"].to(device),
        )
        return functional.normalize(features.pooler_output.float())


def open_clip(options: ModelOptions) -> ZeroShotClip:
    """Open CLIP, in single precision, from files of transformers or of open_clip.

    Raises
    ------
    OptionError
        There is no such device.
    JobBlockedError
        The model is missing, incomplete or of the wrong kind.
    """
    prompt = options.prompt if isinstance(options, ClipTuningOptions) else PHOTO
    if isinstance(options, ClipTuningOptions) and options.layout == "open_clip":
        return ZeroShotClip(*load_open_clip(options, options.weights_file), prompt)
    single = options.model_copy(update={"dtype": "float32"})
    vision = load_clip(single)
    return ZeroShotClip(vision, load_processor(CLIPTokenizer, vision.checkpoint), prompt)


def tune_clip(
    options: ClipTuningOptions, training: Examples, validation: Examples | None, run: Run
) -> ZeroShotClip:
    """Fine-tune CLIP on pairs of images and captions (Pinpoint Counterfactuals, section 4.4).

    Errors are those of `open_clip` and `cobalance.evaluation.training.tuning.fitting.tune`.
    """
    model = open_clip(options)
    return replace(model, about=tune(model, options, training, validation, run))


def _rows(embeddings: torch.Tensor) -> Floats:
    values: Floats = embeddings.double().cpu().numpy()
    return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True))
