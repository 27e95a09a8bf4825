"""Vision models on a device: loading, preprocessing, batches, provenance."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from PIL import Image

from ingest.images.arrays import ImageArray
from ingest.models.checkpoints import Checkpoint, find_checkpoint
from ingest.models.devices import SMALLER_MODEL, choose_device, choose_dtype, out_of_memory
from ingest.models.loading import load_model, software
from ingest.models.options import ModelOptions

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class VisionModel:
    """A vision model on its device, with its image processor.

    Parameters
    ----------
    model : module of torch
        Ready for inference.
    processor : image processor of transformers
        A Pillow variant, so that an image gives the same input with and without torchvision.
    checkpoint : Checkpoint
        Where the weights come from.
    device : torch.device
        Where it runs.
    dtype : torch.dtype
        Precision.
    batch_size : int
        Images per batch.
    """

    model: Any
    processor: Any
    checkpoint: Checkpoint
    device: torch.device
    dtype: torch.dtype
    batch_size: int

    def pixels(self, images: Sequence[ImageArray]) -> torch.Tensor:
        """Preprocessed images, of shape (images, 3, height, width)."""
        pictures = [Image.fromarray(image) for image in images]
        values: torch.Tensor = self.processor(images=pictures, return_tensors="pt")["pixel_values"]
        return values.to(self.device, self.dtype)

    @contextmanager
    def computing(self, what: str) -> Iterator[None]:
        """Run a `with` block without gradients; its name appears in out-of-memory errors.

        Raises
        ------
        OutOfMemoryError
            The block has run out of memory.
        """
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
            "weights_sha256": self.checkpoint.weights_sha256(),
            "device": self.device.type,
            "dtype": str(self.dtype).removeprefix("torch."),
            "software": software("torch", "transformers", "pillow"),
        }


def find_model(options: ModelOptions, revision: str = "main") -> Checkpoint:
    """Find the model that the options name.

    Parameters
    ----------
    options : ModelOptions
        Which model.
    revision : str
        The default model's.

    Raises
    ------
    OptionError, JobBlockedError
        As in `ingest.models.checkpoints.find_checkpoint`.
    """
    return find_checkpoint(options.model, options.revision_or(revision), options.offline)


def open_vision(
    options: ModelOptions,
    checkpoint: Checkpoint,
    kind: Any,
    processor: Any,
    loader: Callable[..., Any] = load_model,
) -> VisionModel:
    """Load a model onto its device, with its image processor.

    Parameters
    ----------
    options : ModelOptions
        Where and how it computes.
    checkpoint : Checkpoint
        From `find_model`.
    kind : type
        The model's class, with ``from_pretrained``.
    processor : image processor of transformers
        See `VisionModel`; from `ingest.models.loading.load_processor`.
    loader : callable
        Called with class, checkpoint and ``dtype``.

    Raises
    ------
    OptionError
        There is no such device, or it does not have this precision.
    JobBlockedError
        The model is incomplete or of the wrong kind.
    OutOfMemoryError
        The device has no room for it.
    """
    device = choose_device(options.device)
    dtype = choose_dtype(options.dtype, device)
    with out_of_memory(f"the model {checkpoint.label}", SMALLER_MODEL):
        model = loader(kind, checkpoint, dtype=dtype).to(device).eval()
    checkpoint.weights_sha256()  # now, as the folder may change later
    return VisionModel(model, processor, checkpoint, device, dtype, options.batch_size)
