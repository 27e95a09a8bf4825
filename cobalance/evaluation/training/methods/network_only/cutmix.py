"""CutMix: a box of another image in each training image, and its labels by the area."""

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


class CutMixOptions(AugmentingOptions):
    """Options of the method cutmix.

    Parameters
    ----------
    alpha : float
        Of the beta distribution of the share that an image keeps; at 1 all shares are as likely.
    """

    alpha: float = Field(default=1.0, gt=0, allow_inf_nan=False)


PLUGIN = MethodPlugin(
    "cutmix",
    "Puts a box of another image into each image, and mixes their labels by area.",
    extra="train",
    options=CutMixOptions,
    network_only=True,
    reference='Yun et al., "CutMix" (2019), section 3.1; torchvision\'s.',
)


@dataclass(frozen=True)
class CutMix(Augmenting):
    """Every batch is mixed, with one box for all of its images."""

    alpha: float = 1.0

    def augment(self, images: "torch.Tensor") -> "tuple[torch.Tensor, tuple[torch.Tensor, float]]":
        """Mixed images, and the rows that their boxes are cut from."""
        import torch
        from torchvision.transforms import v2

        rows = torch.eye(len(images))  # as if each image were a class
        mixed, shares = v2.CutMix(alpha=self.alpha)(images, rows)
        others = torch.arange(len(images)).roll(1)
        own = 1.0 if len(images) == 1 else float(shares[0, 0])
        return mixed, (others, own)


def open_method(options: CutMixOptions) -> Method:
    """Open the method."""
    return CutMix(options.model_dump(), added=options.added, alpha=options.alpha)
