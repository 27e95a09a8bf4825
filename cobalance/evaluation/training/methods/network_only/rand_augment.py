"""RandAugment: random photometric and geometric changes of each training image."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from cobalance.evaluation.training.method import Method, MethodPlugin
from cobalance.evaluation.training.methods.network_only.augmenting import (
    Augmenting,
    AugmentingOptions,
)

if TYPE_CHECKING:
    import torch


class RandAugmentOptions(AugmentingOptions):
    """Options of the method rand-augment.

    Parameters
    ----------
    operations : int
        Changes an image (N).
    magnitude : int
        How strong they are, to 30 (M).
    """

    operations: int = Field(default=2, ge=1, le=14)
    magnitude: int = Field(default=9, ge=0, le=30)


PLUGIN = MethodPlugin(
    "rand-augment",
    "Changes each image at random, in colour and shape: RandAugment.",
    extra="train",
    options=RandAugmentOptions,
    network_only=True,
    reference='Cubuk et al., "RandAugment" (2020), section 3; torchvision\'s, with its defaults.',
)


@dataclass(frozen=True)
class RandAugment(Augmenting):
    """Each image is changed by itself, with torch's generator."""

    operations: int = 2
    magnitude: int = 9

    def augment(self, images: "torch.Tensor") -> "tuple[torch.Tensor, None]":
        """Changed images, of the same shape."""
        import torch
        from torchvision.transforms import v2

        change = v2.RandAugment(self.operations, self.magnitude)
        return torch.stack([change(image) for image in images]), None


def open_method(options: RandAugmentOptions) -> Method:
    """Open the method."""
    return RandAugment(
        options.model_dump(),
        added=options.added,
        operations=options.operations,
        magnitude=options.magnitude,
    )
