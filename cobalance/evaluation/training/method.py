"""Interfaces of training: methods and learners."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from cobalance.base import Options, Plugin, Progress, silent, torch
from cobalance.evaluation.training.examples import Examples, Floats, IntArray, split_rows
from cobalance.evaluation.training.model import Captioner, Model, SavableModel

Strengths = Annotated[
    tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...], Field(min_length=1)
]
"""Inverse strengths of a penalty, as scikit-learn's C: one positive number or more."""


@dataclass(frozen=True)
class LearnerPlugin(Plugin):
    """The declaration of a learner.

    Parameters
    ----------
    is_network : bool
        Whether it trains a network with torch, which methods that change loss, outputs or
        augmentation need.
    """

    is_network: bool = False


@dataclass(frozen=True)
class MethodPlugin(Plugin):
    """The declaration of a training method.

    Parameters
    ----------
    needs_groups : bool
        Whether it reads the groups of training images.
    needs_validation_groups : bool
        Whether it reads the groups of held-out images.
    needs_validation : bool
        Whether it selects by held-out images, unless told otherwise.
    own_model : bool
        Whether it fine-tunes a model of its own, and no learner: opened, it is an `OwnModel`.
    network_only : bool
        Whether it changes loss, outputs or augmentation, which needs torch: it cannot train the
        linear model on frozen features with scikit-learn.
    multi_label : bool
        Whether it takes images with several labels each.
    reference : str
        The paper, with its section.
    """

    needs_groups: bool = False
    needs_validation_groups: bool = False
    needs_validation: bool = False
    own_model: bool = False
    network_only: bool = False
    multi_label: bool = True
    reference: str = ""


class Learner(ABC):
    """A way to fit models: a linear one on frozen features, or a network on images."""

    def prepare(self, training: Examples) -> "Learner":
        """The learner, fitted to the training images in all that a run's fits share.

        It sees the training images as they are, before a method repeats or leaves out any.
        """
        del training
        return self

    @abstractmethod
    def open_kept(self, folder: Path) -> SavableModel | None:
        """The model that was saved in a folder; None without one."""

    def draw_weights(self, images: Examples) -> Floats | None:
        """Random sample weights by the seed, or None; for methods that fit heads themselves."""
        del images
        return None

    @abstractmethod
    def fit(
        self,
        training: Examples,
        validation: Examples | None,
        method: "Method",
        *,
        epochs: int | None = None,
        stage: str = "",
    ) -> Model:
        """Fit a model.

        Parameters
        ----------
        validation : Examples or None
            Selects the epoch; test images never do.
        epochs : int, optional
            In place of the learner's own.
        stage : str
            Names the checkpoint of a method that fits more than one model.
        """


@dataclass(frozen=True)
class Run:
    """Seed, folders and progress of a training run.

    Parameters
    ----------
    seed : int
        Of every random choice.
    folder : Path or None
        Where checkpoints are kept to resume from; None to keep none.
    cache : Path or None
        Where features of frozen models are kept for all runs; None to keep none.
    """

    seed: int
    folder: Path | None = None
    progress: Progress = silent
    cache: Path | None = None

    @property
    def seed_folder(self) -> Path | None:
        """The part of the folder for this seed."""
        return None if self.folder is None else self.folder / f"seed-{self.seed}"

    def generator(self, *purpose: int) -> np.random.Generator:
        """A generator of this seed, independent for each purpose."""
        return np.random.default_rng([self.seed, *purpose])


OwnModel = Callable[[Examples, Examples | None, Run], Model | Captioner]
"""Fine-tunes a model of its own on training images; validation images select its epoch."""


@dataclass(frozen=True, eq=False)
class Batch:
    """A network's outputs for a batch of training images, with labels.

    Parameters
    ----------
    outputs : tensor, shape (n_images, n_outputs)
        Of the last layer.
    features : tensor, shape (n_images, n_features)
        What the last layer reads.
    labels : tensor, shape (n_images,) or (n_images, n_classes)
        As in `Examples`.
    domains : tensor, shape (n_images,)
        As in `Examples`.
    epoch : int
        From 0.
    auxiliary : module or None
        What `Method.auxiliary` gave.
    """

    outputs: "torch.Tensor"
    features: "torch.Tensor"
    labels: "torch.Tensor"
    domains: "torch.Tensor"
    epoch: int = 0
    auxiliary: "torch.nn.Module | None" = None


@dataclass(frozen=True)
class Method:
    """A training method; this one changes nothing, and others override their own steps.

    Parameters
    ----------
    options : Options
        As its declaration has them.
    state : dict of str to float64 array
        What it has counted in the training images or changes from batch to batch, such as the
        group weights of GroupDRO. `prepare` sets it, `reweight` may change the arrays in place, and
        a learner keeps it with its checkpoints.
    """

    options: Options = field(default_factory=Options)
    state: dict[str, Floats] = field(default_factory=dict)

    def prepare(self, training: Examples) -> "Method":
        """The method at the start of a fit, with a fresh state; each learner calls it first.

        Raises
        ------
        OptionError
            The images lack what it needs, such as groups.
        """
        del training
        return self

    @property
    def adapts(self) -> bool:
        """Whether weights follow the losses, so that no solver for constant weights can train it.

        Examples
        --------
        >>> Method().adapts
        False
        """
        return type(self).reweight is not Method.reweight

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """The rows to train on; a row may stand more than once."""
        del rng
        return np.arange(len(training))

    def weights(self, training: Examples) -> Floats:
        """Sample weights, shape (n_images,)."""
        return np.ones(len(training))

    def reweight(self, losses: Floats, groups: IntArray) -> Floats | None:
        """Weights of a batch from its losses, which multiply and are summed; None for their mean.

        They are constants: no gradient flows through them. A method whose weights depend on earlier
        batches keeps them in `state`.
        """
        del losses, groups
        return None

    def batches(
        self, training: Examples, size: int, rng: np.random.Generator
    ) -> Sequence[IntArray]:
        """Rows of each batch of an epoch."""
        return split_rows(rng.permutation(len(training)), size)

    def epochs(self, wanted: int) -> int:
        """Passes over the images for as many updates of the network as epochs are wanted."""
        return wanted

    def outputs(self, n_classes: int, n_domains: int) -> int:
        """How many outputs a network's last layer has in training."""
        del n_domains
        return n_classes

    def auxiliary(self, n_features: int, n_domains: int) -> "torch.nn.Module | None":
        """A module that is trained with a network but is no part of the result."""
        del n_features, n_domains
        return None

    def augment(
        self, images: "torch.Tensor"
    ) -> "tuple[torch.Tensor, tuple[torch.Tensor, float] | None]":
        """Augmented images; if they are mixed, also with which, and the share of their own labels.

        Parameters
        ----------
        images : uint8 tensor, shape (n_images, 3, height, width)
            A batch.

        Returns
        -------
        images : uint8 tensor
            Of the same shape.
        mixed : tuple of an int64 tensor, shape (n_images,), and a float; or None
            Rows of the batch whose labels count, too, and the share of each image's own labels.
        """
        return images, None

    def losses(self, batch: Batch) -> "torch.Tensor":
        """Loss of each image, shape (n_images,): cross-entropy; binary where labels are 0 and 1."""
        if batch.labels.ndim == 1:
            return torch.nn.functional.cross_entropy(batch.outputs, batch.labels, reduction="none")

        labels = batch.labels.to(batch.outputs.dtype)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            batch.outputs, labels, reduction="none"
        )
        return losses.mean(dim=1)

    def finish(self, weight: Floats, bias: Floats, n_classes: int) -> tuple[Floats, Floats]:
        """The last layer as it predicts, from the trained one.

        It has `n_classes` outputs, or as many for each domain, domain by domain. Probabilities are
        the softmax over all of them, summed over domains; with several labels an image, the sigmoid
        of each, summed to 1 at most.
        """
        del n_classes
        return weight, bias

    def train(
        self, learner: Learner, training: Examples, validation: Examples | None, run: Run
    ) -> Model:
        """Fit the model; methods of several stages override it."""
        rows = self.rows(training, run.generator(1))
        return learner.fit(training.take(rows), validation, self)
