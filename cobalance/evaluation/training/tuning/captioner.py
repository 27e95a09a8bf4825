"""Captioners that are fine-tuned, and BLIP as one."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from transformers import AutoTokenizer, BlipForConditionalGeneration, BlipImageProcessorPil

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.networks.model import consecutive
from cobalance.evaluation.training.tuning.fitting import tune
from cobalance.evaluation.training.tuning.options import CaptionerOptions
from cobalance.vision import VisionModel, load_processor, open_vision, quiet

BLIP_REVISION = "refs/pr/50"
"""Converted to safetensors by the hub; the main branch is a pickle."""


@dataclass(frozen=True, eq=False)
class TunedCaptioner(ABC):
    """A captioner of any form.

    Parameters
    ----------
    vision : VisionModel
        In single precision.
    tokenizer : tokenizer of transformers
    words : str
        The list of words that tell which group a caption names.
    beams, max_tokens : int
        Of the search for a caption.
    about : dict
        Of its training, for provenance.
    """

    vision: VisionModel
    tokenizer: Any
    words: str = "gensynth"
    beams: int = 3
    max_tokens: int = 30
    about: dict[str, Any] = field(default_factory=dict)

    def captions(self, images: Examples) -> list[str]:
        """A caption for each image, by beam search: the same each time."""
        captions: list[str] = []
        for rows in consecutive(len(images), self.vision.batch_size):
            with self.vision.computing(f"captions of {len(rows)} images"), quiet():
                tokens = self.generate(
                    self.vision.pixels(images.read(rows)),
                    num_beams=self.beams,
                    do_sample=False,
                    max_new_tokens=self.max_tokens,
                )
            captions += self.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        return [" ".join(caption.split()) for caption in captions]

    def describe(self) -> dict[str, Any]:
        """Model, search and training, for provenance; JSON values."""
        search = {"beams": self.beams, "max_tokens": self.max_tokens}
        return {**self.vision.describe(), **search, **self.about}

    @abstractmethod
    def generate(self, pixels: torch.Tensor, **search: Any) -> Any:
        """The words of a caption for each image, as tokens."""

    @abstractmethod
    def loss(self, pixels: torch.Tensor, captions: Sequence[str]) -> torch.Tensor:
        """Mean loss of a batch."""

    def after_step(self) -> None:  # noqa: B027
        """Nothing is to be kept in bounds."""


@dataclass(frozen=True, eq=False)
class BlipCaptioner(TunedCaptioner):
    """A captioner whose model is a BlipForConditionalGeneration, with BERT's tokenizer."""

    def generate(self, pixels: torch.Tensor, **search: Any) -> Any:
        """The words of a caption for each image."""
        return self.vision.model.generate(pixel_values=pixels, **search)

    def loss(self, pixels: torch.Tensor, captions: Sequence[str]) -> torch.Tensor:
        """Cross-entropy of the captions' next words, meaned over words."""
        model, device = self.vision.model, self.vision.device
        text = model.config.text_config
        tokens = self.tokenizer(
            list(captions),
            padding=True,
            max_length=min(text.max_position_embeddings, self.max_tokens + 2),
            truncation=True,
            return_tensors="pt",
        )
        words, mask = tokens["input_ids"].to(device), tokens["attention_mask"].to(device)

        # A caption is made after this word, which stands in place of [CLS].
        words[:, 0] = text.bos_token_id
        labels = words.masked_fill(mask == 0, -100)
        loss: torch.Tensor = model(
            pixel_values=pixels, input_ids=words, attention_mask=mask, labels=labels
        ).loss
        return loss.float()


def tune_captioner(
    options: CaptionerOptions, training: Examples, validation: Examples | None, run: Run
) -> BlipCaptioner:
    """Open BLIP, in single precision, and fine-tune it on images and captions.

    Further errors are those of `cobalance.evaluation.training.tuning.fitting.tune`.

    Raises
    ------
    OptionError
        There is no such device.
    JobBlockedError
        The model is missing, incomplete or of the wrong kind.
    """
    single = options.model_copy(update={"dtype": "float32"})
    vision = open_vision(single, BlipForConditionalGeneration, BlipImageProcessorPil, BLIP_REVISION)
    tokenizer = load_processor(AutoTokenizer, vision.checkpoint)
    model = BlipCaptioner(vision, tokenizer, **options.search())
    return replace(model, about=tune(model, options, training, validation, run))
