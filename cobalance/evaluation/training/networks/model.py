"""Trained networks: probabilities and features of images."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cobalance.evaluation.training.examples import Examples, Floats, IntArray, split_rows
from cobalance.evaluation.training.networks.pixels import read_batches, whole
from cobalance.vision import (
    Classifier,
    ModelOptions,
    Network,
    choose_device,
    choose_dtype,
    open_classifier,
)


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A trained network; see `cobalance.evaluation.training.model.Model`.

    Parameters
    ----------
    classifier : Classifier
        The network, with what is needed to use it.
    """

    classifier: Classifier

    def probabilities(self, images: Examples) -> Floats:
        """Probability of each class, shape (n_images, n_classes)."""
        settings = self.classifier.settings
        rows = [np.empty((0, len(settings.classes)))]
        for _, pixels in self._batches(images):
            rows.append(settings.read_out(self.classifier.run(pixels)).cpu().numpy())
        return np.concatenate(rows)

    def features(self, images: Examples) -> Floats:
        """Inputs of the last layer, shape (n_images, n_features)."""
        rows = [np.empty((0, self.classifier.network.head.in_features))]
        for _, pixels in self._batches(images):
            rows.append(self.classifier.run(pixels, features=True).double().cpu().numpy())
        return np.concatenate(rows)

    def with_head(self, weight: Floats, bias: Floats) -> "NetworkModel":
        """The same model with another last layer; `self` stays as it is."""
        backbone = copy.deepcopy(self.classifier.network.backbone)
        network = Network(backbone, linear(weight, bias)).to(self.classifier.device)
        settings = replace(self.classifier.settings, n_outputs=len(bias), confidence=None)
        return NetworkModel(replace(self.classifier, network=network, settings=settings))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it predicts."""
        return tuple(self.classifier.settings.classes)

    def save(self, folder: Path) -> None:
        """Save the model, to open with `open_network`."""
        self.classifier.save(folder)

    def describe(self) -> dict[str, Any]:
        """Where its weights are from, how its epoch was selected, versions; JSON values."""
        return dict(self.classifier.settings.about or {})

    def _batches(self, images: Examples) -> Any:
        batches = consecutive(len(images), self.classifier.batch_size)
        return read_batches(images, batches, whole(self.classifier.settings))


def open_network(
    folder: Path, *, device: str = "auto", dtype: str = "float32", batch_size: int = 128
) -> NetworkModel:
    """Open a saved model.

    Raises
    ------
    OptionError
        There is no such device or precision.
    JobBlockedError
        There is no model, or it is damaged.
    """
    torch_device = choose_device(device)
    options = ModelOptions(model=str(folder), batch_size=min(batch_size, 1024))
    return NetworkModel(open_classifier(options, torch_device, choose_dtype(dtype, torch_device)))


def linear(weight: Floats, bias: Floats) -> torch.nn.Linear:
    """A linear layer of these weights."""
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight))
        layer.bias.copy_(torch.from_numpy(bias))
    return layer


def consecutive(n_images: int, size: int) -> Sequence[IntArray]:
    """Rows in order, in batches."""
    return split_rows(np.arange(n_images), size)
