"""One fit of a network: its modules, optimiser and state, an epoch at a time."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.method import Batch, Method
from cobalance.evaluation.training.networks.checkpoints import (
    Tensors,
    method_tensors,
    optimiser_tensors,
    prefixed,
    restore_optimiser,
    with_prefix,
)
from cobalance.evaluation.training.networks.model import NetworkModel, linear
from cobalance.evaluation.training.networks.options import NetworkOptions
from cobalance.evaluation.training.networks.pixels import read_batches, varied
from cobalance.graph.errors import OptionError
from cobalance.ingest.models.classifiers import Classifier, ClassifierSettings, Network
from cobalance.ingest.models.devices import out_of_memory

_SMALLER = "Use smaller batches or images, a smaller model, or bfloat16."


@dataclass(eq=False)
class Fitting:
    """A network that is being fitted.

    Random choices follow from seed, stage and epoch alone: nothing of earlier epochs is needed to
    go on, but what `state` gives.
    """

    options: NetworkOptions
    method: Method
    training: Examples
    weights: Floats
    network: Network
    auxiliary: torch.nn.Module | None
    settings: ClassifierSettings
    device: torch.device
    dtype: torch.dtype
    seed: tuple[int, ...]
    epochs: int

    def __post_init__(self) -> None:
        self.network.to(self.device)
        parameters = list(self.network.parameters())
        if self.auxiliary is not None:
            parameters += self.auxiliary.to(self.device).parameters()
        self.optimiser = make_optimiser(self.options, parameters)

    def train_epoch(self, epoch: int) -> None:
        """Train an epoch, from 0.

        Raises
        ------
        OptionError
            The loss is not finite.
        OutOfMemoryError
            The device has too little memory for a batch.
        """
        rng = np.random.default_rng([*self.seed, epoch])
        torch.manual_seed(int(rng.integers(2**62)))
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(self.options, epoch, self.epochs)
        batches = list(self.method.batches(self.training, self.options.batch_size, rng))
        if len(batches) > 1 and len(batches[-1]) == 1:  # batch normalisation needs two images
            batches[-2:] = [np.concatenate(batches[-2:])]
        draws = rng.random((sum(map(len, batches)), 5))
        fit = varied(self.settings, self.options.crop, self.options.flip, draws)
        self.network.train()
        finite = torch.ones((), dtype=torch.bool, device=self.device)
        for rows, pixels in read_batches(self.training, batches, fit):
            with out_of_memory(f"training on {len(rows)} images", _SMALLER):
                finite &= torch.isfinite(self._step(rows, pixels, epoch))
        if not finite.item():
            raise OptionError(
                f"The loss is not a finite number in epoch {epoch + 1}. Lower the learning rate, "
                f"now {self.options.learning_rate:g}, or train in float32."
            )

    def _step(self, rows: IntArray, pixels: torch.Tensor, epoch: int) -> torch.Tensor:
        """Loss of one step."""
        pixels, mixed = self.method.augment(pixels)
        labels, domains = (
            torch.from_numpy(values[rows]).to(self.device)
            for values in (self.training.labels, self.training.domains)
        )
        inputs = self.settings.normalise(pixels.to(self.device))
        half = self.dtype != torch.float32
        with torch.autocast(self.device.type, self.dtype, enabled=half):
            features = self.network.backbone(inputs)
            outputs = self.network.head(features)
        batch = Batch(outputs.float(), features.float(), labels, domains, epoch, self.auxiliary)
        losses = self.method.losses(batch)
        if mixed is not None:
            others = mixed[0].to(self.device)
            of_others = replace(batch, labels=labels[others], domains=domains[others])
            losses = mixed[1] * losses + (1 - mixed[1]) * self.method.losses(of_others)
        losses = losses * torch.from_numpy(self.weights[rows]).to(losses)
        loss = self._combine(losses, self.training.groups[rows])
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        self.optimiser.step()
        return loss.detach()

    def _combine(self, losses: torch.Tensor, groups: IntArray) -> torch.Tensor:
        if not self.method.adapts:
            return losses.mean()
        shares = self.method.reweight(losses.detach().double().cpu().numpy(), groups)
        if shares is None:
            return losses.mean()
        return (losses * torch.from_numpy(shares).to(losses)).sum()

    def model(self, about: Mapping[str, Any] | None = None) -> NetworkModel:
        """The model as it predicts now; it shares the network's memory."""
        head = self.network.head
        weight, bias = (
            values.detach().double().cpu().numpy() for values in (head.weight, head.bias)
        )
        finished = linear(*self.method.finish(weight, bias, len(self.settings.classes)))
        settings = replace(self.settings, n_outputs=finished.out_features)
        if about is not None:
            settings = replace(settings, about=about)
        network = Network(self.network.backbone, finished.to(self.device))
        batch = self.options.batch_size
        return NetworkModel(Classifier(network, settings, self.device, self.dtype, batch))

    def state(self) -> Tensors:
        """All that later epochs depend on."""
        modules: Tensors = dict(prefixed("network.", self.network.state_dict()))
        if self.auxiliary is not None:
            modules |= prefixed("auxiliary.", self.auxiliary.state_dict())
        modules |= prefixed("optimiser.", optimiser_tensors(self.optimiser))
        return modules | prefixed("method.", method_tensors(self.method.state))

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from what `state` gave."""
        self.network.load_state_dict(with_prefix("network.", state))
        if self.auxiliary is not None:
            self.auxiliary.load_state_dict(with_prefix("auxiliary.", state))
        restore_optimiser(self.optimiser, with_prefix("optimiser.", state))
        of_method = with_prefix("method.", state)
        if of_method:
            arrays = {name: values.numpy() for name, values in of_method.items()}
            self.method = replace(self.method, state=arrays)


def make_optimiser(
    options: NetworkOptions, parameters: list[torch.nn.Parameter]
) -> torch.optim.Optimizer:
    """The optimiser that the options name."""
    rate, decay = options.learning_rate, options.weight_decay
    match options.optimiser:
        case "sgd":
            return torch.optim.SGD(parameters, lr=rate, weight_decay=decay, momentum=0.9)
        case "adamw":
            return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay)
        case _:
            return torch.optim.Adam(parameters, lr=rate, weight_decay=decay)


def learning_rate(options: NetworkOptions, epoch: int, epochs: int) -> float:
    """Learning rate of an epoch, from 0; cosine is that of SGDR without restarts.

    Examples
    --------
    >>> options = NetworkOptions(learning_rate=1.0, schedule="cosine")
    >>> [round(learning_rate(options, epoch, 4), 3) for epoch in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    """
    if options.schedule == "constant":
        return options.learning_rate
    return options.learning_rate * (1 + math.cos(math.pi * epoch / epochs)) / 2
