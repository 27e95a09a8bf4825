"""Vision models on a device: loading, preprocessing, batches, provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from cobalance.base import Image, T, torch
from cobalance.vision.images import ImageArray
from cobalance.vision.models.checkpoints import Checkpoint, find_checkpoint
from cobalance.vision.models.devices import (
    SMALLER_MODEL,
    choose_device,
    choose_dtype,
    out_of_memory,
)
from cobalance.vision.models.loading import load_model, load_processor, software
from cobalance.vision.models.options import ModelOptions

_PROCESSOR_FILE = "preprocessor_config.json"
TEXTS_AT_ONCE = 64
"""Texts encoded at once; bounds the memory of a large vocabulary."""


@dataclass(frozen=True, eq=False)
class VisionModel:
    """A vision model on its device, with its image processor.

    Parameters
    ----------
    processor : image processor of transformers
        A Pillow variant, so that an image gives the same input with and without torchvision.
    weights_sha256 : str
        Digest of the weights, taken when they were loaded.
    """

    model: Any
    processor: Any
    checkpoint: Checkpoint
    weights_sha256: str
    device: torch.device
    dtype: torch.dtype
    batch_size: int

    def pixels(self, images: Sequence[ImageArray]) -> torch.Tensor:
        """Preprocessed images, of shape (images, 3, height, width)."""
        pictures = [Image.fromarray(image) for image in images]
        values: torch.Tensor = self.processor(images=pictures, return_tensors="pt")["pixel_values"]
        return values.to(self.device, self.dtype)

    def tokens(
        self, tokenizer: Any, texts: Sequence[str], **options: Any
    ) -> dict[str, torch.Tensor]:
        """Texts for the model's text encoder, padded to its length, on the model's device."""
        tokens = tokenizer(
            list(texts),
            padding="max_length",
            max_length=self.model.config.text_config.max_position_embeddings,
            truncation=True,
            return_tensors="pt",
            **options,
        )

        names = [name for name in ("input_ids", "attention_mask") if name in tokens]
        return {name: tokens[name].to(self.device) for name in names}

    @contextmanager
    def computing(self, what: str) -> Iterator[None]:
        """Run a `with` block without gradients; an OutOfMemoryError names its step."""
        with out_of_memory(what), torch.inference_mode():
            yield

    def batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """Split items into batches."""
        for start in range(0, len(items), self.batch_size):
            yield items[start : start + self.batch_size]

    def describe(self) -> dict[str, Any]:
        """Model, weights, device and versions, for provenance; JSON values."""
        return {
            "model": self.checkpoint.label,
            "revision": self.checkpoint.revision,
            "weights_sha256": self.weights_sha256,
            "device": self.device.type,
            "dtype": str(self.dtype).removeprefix("torch."),
            "software": software("torch", "transformers", "pillow"),
        }


def embed_new(
    known: dict[str, torch.Tensor],
    texts: Sequence[str],
    embed: Callable[[Sequence[str]], torch.Tensor],
) -> torch.Tensor:
    """Embeddings of texts, each encoded once and kept in `known`: (texts, dimensions)."""
    new = [text for text in dict.fromkeys(texts) if text not in known]
    for start in range(0, len(new), TEXTS_AT_ONCE):
        group = new[start : start + TEXTS_AT_ONCE]
        known.update(zip(group, unit_rows(embed(group)), strict=True))
    return torch.stack(list(map(known.__getitem__, texts)))


def unit_rows(features: torch.Tensor) -> torch.Tensor:
    """Rows of unit length."""
    return features / features.norm(dim=-1, keepdim=True)


def encode_once(encode: Callable[..., Any]) -> Callable[..., Any]:
    """An encoder of images that keeps the last result; a batch is known by its tensor."""
    last: list[tuple[torch.Tensor, Any]] = []

    # `wraps`, as the library looks at the encoder's parameters.
    @wraps(encode)
    def encode_new(pixel_values: torch.Tensor, *rest: Any, **options: Any) -> Any:
        if not last or last[0][0] is not pixel_values:
            # The last result frees its memory before the next one is computed.
            last.clear()
            last.append((pixel_values, encode(pixel_values, *rest, **options)))
        result = last[0][1]
        # A list is copied, as its caller may change it.
        return list(result) if isinstance(result, list) else result

    return encode_new


def open_vision(
    options: ModelOptions, kind: Any, processor_kind: Any, revision: str = "main"
) -> VisionModel:
    """Find a model, and load it onto its device together with its image processor.

    Parameters
    ----------
    options : ModelOptions
        Model, device, precision and batch size.
    kind, processor_kind : type
        Classes with ``from_pretrained``; for the processor see `VisionModel`.
    revision : str
        Revision of the default model.

    Raises
    ------
    OptionError, MachineError
        There is no such device, or it does not have this precision.
    JobBlockedError
        The model is missing, incomplete or of the wrong kind.
    OutOfMemoryError
        The device has no room for it.
    """
    checkpoint = find_checkpoint(options.model, options.revision_or(revision), options.offline)
    return load_vision(options, checkpoint, kind, processor_kind)


def load_vision(
    options: ModelOptions, checkpoint: Checkpoint, kind: Any, processor_kind: Any, **loading: Any
) -> VisionModel:
    """Load a checkpoint that was found already, as `open_vision` does.

    `loading` are further arguments of the model's ``from_pretrained``; the others and the errors
    are those of `open_vision`.
    """
    processor = load_processor(processor_kind, _with_processor(checkpoint))
    device = choose_device(options.device)
    dtype = choose_dtype(options.dtype, device)

    with out_of_memory(f"the model {checkpoint.label}", SMALLER_MODEL):
        model = load_model(kind, checkpoint, dtype=dtype, **loading).to(device).eval()
    return VisionModel(
        model=model,
        processor=processor,
        checkpoint=checkpoint,
        # Taken now, as the folder may change later.
        weights_sha256=checkpoint.weights_sha256,
        device=device,
        dtype=dtype,
        batch_size=options.batch_size,
    )


def _with_processor(checkpoint: Checkpoint) -> Checkpoint:
    """Folder of the image processor: for a component of a pipeline it is beside the model's."""
    beside = checkpoint.folder.parent / "feature_extractor"
    if (checkpoint.folder / _PROCESSOR_FILE).exists() or not (beside / _PROCESSOR_FILE).exists():
        return checkpoint
    return replace(checkpoint, folder=beside)
