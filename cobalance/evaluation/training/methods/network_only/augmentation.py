"""Methods that augment the images of a network's batches: RandAugment and CutMix."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cobalance.base import Options, torch
from cobalance.evaluation.training.examples import Examples, IntArray
from cobalance.evaluation.training.method import Method, MethodPlugin


class AugmentingOptions(Options):
    """Options of augmentations.

    Parameters
    ----------
    added : int
        Images that are repeated, drawn at random, so that an epoch has as many as with so many
        generated ones.
    """

    added: int = Field(default=0, ge=0)


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


class CutMixOptions(AugmentingOptions):
    """Options of the method cutmix.

    Parameters
    ----------
    alpha : float
        Of the beta distribution of the share that an image keeps; at 1 all shares are as likely.
    """

    alpha: float = Field(default=1.0, gt=0, allow_inf_nan=False)


@dataclass(frozen=True)
class Augmenting(Method):
    """Trains on augmented images."""

    options: AugmentingOptions

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """All rows, and `added` of them again, as equally as their number allows."""
        n_images = len(training)
        again = np.resize(rng.permutation(n_images), self.options.added)
        return np.concatenate([np.arange(n_images), again])


@dataclass(frozen=True)
class RandAugment(Augmenting):
    """Random photometric and geometric changes of each image, with torch's generator."""

    options: RandAugmentOptions

    def augment(self, images: "torch.Tensor") -> "tuple[torch.Tensor, None]":
        """Changed images, of the same shape."""
        from torchvision.transforms import v2

        change = v2.RandAugment(self.options.operations, self.options.magnitude)
        return torch.stack(list(map(change, images))), None


@dataclass(frozen=True)
class CutMix(Augmenting):
    """A box of another image in each image, one box for all of a batch, and labels by its area."""

    options: CutMixOptions

    def augment(self, images: "torch.Tensor") -> "tuple[torch.Tensor, tuple[torch.Tensor, float]]":
        """Mixed images, and the rows that their boxes are cut from."""
        from torchvision.transforms import v2

        # Each image is a class of its own, so that the mixed labels tell its share.
        classes = torch.eye(len(images))
        mixed, shares = v2.CutMix(alpha=self.options.alpha)(images, classes)
        others = torch.arange(len(images)).roll(1)
        # A single image is mixed with itself.
        share = 1.0 if len(images) == 1 else float(shares[0, 0])
        return mixed, (others, share)


PLUGINS = (
    MethodPlugin(
        "rand-augment",
        "Changes each image at random, in colour and shape: RandAugment.",
        extra="train",
        options=RandAugmentOptions,
        open=RandAugment,
        network_only=True,
        reference='Cubuk et al., "RandAugment" (2020), section 3; torchvision\'s, with its '
        "defaults.",
    ),
    MethodPlugin(
        "cutmix",
        "Puts a box of another image into each image, and mixes their labels by area.",
        extra="train",
        options=CutMixOptions,
        open=CutMix,
        network_only=True,
        reference='Yun et al., "CutMix" (2019), section 3.1; torchvision\'s.',
    ),
)
