"""Models that look at images: loaded, fed with pixels, and described."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from PIL import Image

from ingest.images.arrays import ImageArray
from ingest.models.checkpoints import Checkpoint, find_checkpoint, load, software
from ingest.models.devices import SMALLER_MODEL, choose_device, choose_dtype, out_of_memory
from ingest.models.options import ModelOptions

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class VisionModel:
    """A model on its device, with what turns images into its input.

    Parameters
    ----------
    model : module of torch
        Ready for inference.
    processor : image processor of transformers
        One of the variants that use Pillow, so that the same image gives the same input whether
        torchvision is installed or not.
    checkpoint : Checkpoint
        Where the weights are from.
    device : torch.device
        Where it computes.
    dtype : torch.dtype
        In which precision.
    batch_size : int
        How many images it looks at together.
    """

    model: Any
    processor: Any
    checkpoint: Checkpoint
    device: torch.device
    dtype: torch.dtype
    batch_size: int

    def pixels(self, images: Sequence[ImageArray]) -> torch.Tensor:
        """The model's input for images, of shape (images, 3, height, width)."""
        pictures = [Image.fromarray(image) for image in images]
        values: torch.Tensor = self.processor(images=pictures, return_tensors="pt")["pixel_values"]
        return values.to(self.device, self.dtype)

    @contextmanager
    def computing(self, what: str) -> Iterator[None]:
        """Run a `with` block without gradients; what it does is named where memory is full.

        Raises
        ------
        OutOfMemoryError
            The block has run out of memory.
        """
        with out_of_memory(what), torch.inference_mode():
            yield

    def batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """The items, so many at a time as are looked at together."""
        for start in range(0, len(items), self.batch_size):
            yield items[start : start + self.batch_size]

    def describe(self) -> dict[str, Any]:
        """Model, revision and weights, and where they compute, for provenance; for JSON."""
        return {
            "model": self.checkpoint.label,
            "revision": self.checkpoint.revision,
            "weights_sha256": self.checkpoint.weights_sha256(),
            "device": self.device.type,
            "dtype": str(self.dtype).removeprefix("torch."),
            "software": software("torch", "transformers", "pillow"),
        }


def find_model(options: ModelOptions, revision: str = "main") -> Checkpoint:
    """The files of the model that the options name.

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
    loader: Callable[..., Any] = load,
) -> VisionModel:
    """A model loaded onto its device, with its image processor.

    Parameters
    ----------
    options : ModelOptions
        Where and how it computes.
    checkpoint : Checkpoint
        From `find_model`.
    kind : type
        The model's class, with ``from_pretrained``.
    processor : image processor of transformers
        See `VisionModel`; from `ingest.models.checkpoints.load_processor`.
    loader : callable
        What loads it, given class, checkpoint and ``dtype``.

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
    checkpoint.weights_sha256()  # of what is loaded; the folder may be gone when it is asked for
    return VisionModel(model, processor, checkpoint, device, dtype, options.batch_size)
