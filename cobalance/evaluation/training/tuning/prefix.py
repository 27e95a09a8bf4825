"""A captioner in ClipCap's form: CLIP's embedding of the image as the first words of GPT-2."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    AutoTokenizer,
    CLIPVisionConfig,
    CLIPVisionModelWithProjection,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedConfig,
    PreTrainedModel,
)

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.tuning.captioner import TunedCaptioner
from cobalance.evaluation.training.tuning.fitting import tune
from cobalance.evaluation.training.tuning.options import ClipCapOptions
from cobalance.vision import find_checkpoint, load_clip, load_model, load_processor, quiet

GPT2_REVISION = "607a30d783dfa663caf39e06633721c8d4cfcd7e"
IGNORED = -100  # a label that counts in no loss


class PrefixConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """Configuration of `PrefixModel`: its two models, and the length of the prefix."""

    model_type = "cobalance-prefix"
    sub_configs = {"vision_config": CLIPVisionConfig, "text_config": GPT2Config}  # noqa: RUF012
    vision_config: Any = None
    text_config: Any = None
    prefix_length: int = 10

    def __post_init__(self, **kwargs: Any) -> None:
        for name, kind in self.sub_configs.items():
            if not isinstance(getattr(self, name), kind):
                setattr(self, name, kind(**(getattr(self, name) or {})))
        super().__post_init__(**kwargs)  # type: ignore[no-untyped-call]


class PrefixModel(PreTrainedModel):  # type: ignore[no-untyped-call]
    """CLIP's image encoder, frozen; a network of one hidden layer; and GPT-2."""

    config_class = PrefixConfig

    def __init__(self, config: PrefixConfig) -> None:
        super().__init__(config)
        self.clip = CLIPVisionModelWithProjection(config.vision_config)
        self.gpt = GPT2LMHeadModel(config.text_config)

        size = config.text_config.n_embd * config.prefix_length
        self.mapper = nn.Sequential(
            nn.Linear(config.vision_config.projection_dim, size // 2),
            nn.Tanh(),
            nn.Linear(size // 2, size),
        )

        self.clip.requires_grad_(False)
        self.post_init()  # type: ignore[no-untyped-call]

    def prefix(self, pixels: torch.Tensor) -> torch.Tensor:
        """Embeddings before the words, shape (n_images, prefix_length, size of a word)."""
        with torch.no_grad():
            images = self.clip(pixel_values=pixels).image_embeds
        words: torch.Tensor = self.mapper(images)
        return words.view(len(pixels), self.config.prefix_length, -1)


@dataclass(frozen=True, eq=False)
class PrefixCaptioner(TunedCaptioner):
    """A captioner whose model is a `PrefixModel`, with GPT-2's tokenizer."""

    def generate(self, pixels: torch.Tensor, **search: Any) -> Any:
        """The words of a caption for each image."""
        model = self.vision.model
        prefix = model.prefix(pixels)
        whole = torch.ones(prefix.shape[:2], dtype=torch.long, device=prefix.device)
        end = self.tokenizer.eos_token_id
        return model.gpt.generate(
            inputs_embeds=prefix, attention_mask=whole, eos_token_id=end, pad_token_id=end, **search
        )

    def loss(self, pixels: torch.Tensor, captions: Sequence[str]) -> torch.Tensor:
        """Cross-entropy of the captions' words after the prefix, and of their end."""
        model, device = self.vision.model, self.vision.device
        room = model.config.text_config.n_positions - model.config.prefix_length - 1
        n_words, end = min(room, self.max_tokens), self.tokenizer.eos_token_id
        tokens = self.tokenizer(list(captions))["input_ids"]
        rows = [torch.tensor([*caption[:n_words], end]) for caption in tokens]
        words = pad_sequence(rows, batch_first=True, padding_value=IGNORED).to(device)

        prefix = model.prefix(pixels)
        inputs = torch.cat([prefix, model.gpt.transformer.wte(words.clamp(min=0))], dim=1)
        labels = nn.functional.pad(words, (prefix.shape[1], 0), value=IGNORED)
        mask = nn.functional.pad(words != IGNORED, (prefix.shape[1], 0), value=True)
        loss: torch.Tensor = model.gpt(
            inputs_embeds=inputs, attention_mask=mask.long(), labels=labels
        ).loss
        return loss.float()


def open_prefix_captioner(options: ClipCapOptions, seed: int = 0) -> PrefixCaptioner:
    """Open CLIP and GPT-2 in single precision, with a random mapping between them.

    Raises
    ------
    OptionError
        There is no such device.
    JobBlockedError
        A model is missing, incomplete or of the wrong kind.
    """
    single = options.model_copy(update={"dtype": "float32"})
    vision = load_clip(single)
    clip = vision.model
    checkpoint = find_checkpoint(
        options.language_model, options.language(GPT2_REVISION), options.offline
    )
    tokenizer = load_processor(AutoTokenizer, checkpoint)
    gpt = load_model(GPT2LMHeadModel, checkpoint, dtype=torch.float32)

    config = PrefixConfig(
        vision_config=clip.config.vision_config.to_dict()
        | {"projection_dim": clip.config.projection_dim},
        text_config=gpt.config.to_dict(),
        prefix_length=options.prefix_length,
    )
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(seed)
        model: Any = PrefixModel(config)
    model.clip.vision_model.load_state_dict(clip.vision_model.state_dict())
    model.clip.visual_projection.load_state_dict(clip.visual_projection.state_dict())
    model.gpt.load_state_dict(gpt.state_dict())

    digests = f"{vision.weights_sha256} {checkpoint.weights_sha256}"
    language = {"language_model": checkpoint.label, "language_revision": checkpoint.revision}
    placed = replace(
        vision,
        model=model.to(vision.device).eval(),
        weights_sha256=hashlib.sha256(digests.encode()).hexdigest(),
    )
    return PrefixCaptioner(placed, tokenizer, **options.search(), about=language)


def tune_prefix_captioner(
    options: ClipCapOptions, training: Examples, validation: Examples | None, run: Run
) -> PrefixCaptioner:
    """Train the prefix and fine-tune GPT-2 on images and captions [1]_; CLIP stays as it is.

    Errors are those of `open_prefix_captioner` and
    `cobalance.evaluation.training.tuning.fitting.tune`.

    References
    ----------
    .. [1] Mokady, R., Hertz, A. and Bermano, A., *ClipCap: CLIP prefix for image captioning*
       (2021), section 3.
    """
    model = open_prefix_captioner(options, run.seed)
    record = tune(model, options, training, validation, run)
    return replace(model, about={**model.about, **record})
