"""One fit of a network: its modules, optimiser and state, an epoch at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from cobalance.evaluation.training import loop
from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.method import Batch, Method
from cobalance.evaluation.training.networks.model import NetworkModel, linear
from cobalance.evaluation.training.networks.options import NetworkOptions
from cobalance.evaluation.training.networks.pixels import make_variation, read_batches
from cobalance.evaluation.training.selection import RULES
from cobalance.vision import Classifier, ClassifierSettings, Network, out_of_memory, with_prefix


@dataclass(eq=False)
class Fitting:
    """A network that is being fitted; see `cobalance.evaluation.training.loop.Fit`.

    Random choices follow from seed, stage and epoch alone: nothing of earlier epochs is needed to
    go on, but what `state` gives. Validation images select the epoch, unless it is the last.
    """

    options: NetworkOptions
    method: Method
    training: Examples
    validation: Examples | None
    sample_weights: Floats
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

    def train_epoch(self, epoch: int) -> float:
        """Train an epoch, from 0; return its mean loss.

        Raises
        ------
        DivergedError
            The loss is not finite.
        OutOfMemoryError
            The device has too little memory for a batch.
        """
        rng = loop.epoch_generator(*self.seed, epoch)
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(self.options, epoch, self.epochs)
        batches = list(self.method.batches(self.training, self.options.batch_size, rng))
        batches = loop.without_single(batches)
        n_images = sum(map(len, batches))
        fit = make_variation(
            self.settings, self.options.crop, self.options.flip, rng.random((n_images, 5))
        )

        self.network.train()
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for rows, pixels in read_batches(self.training, batches, fit):
            with out_of_memory(f"training on {len(rows)} images", loop.SMALLER):
                total += self._step(rows, pixels, epoch) * len(rows)
        return loop.check_finite(total.item() / n_images, epoch, self.options.learning_rate)

    def judge(self) -> tuple[float, dict[str, Any]] | None:
        """Value of the rule on the validation images, and each class's mean probability."""
        if self.validation is None or self.options.select == "last":
            return None
        probabilities = self.model().probabilities(self.validation)
        facts = {"confidence": _confidence(probabilities, self.validation)}
        return RULES[self.options.select](probabilities, self.validation), facts

    def weights(self) -> loop.Tensors:
        """Weights of the network."""
        return self.network.state_dict()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put back the weights of an epoch."""
        self.network.load_state_dict(weights)

    def _step(self, rows: IntArray, pixels: torch.Tensor, epoch: int) -> torch.Tensor:
        """Loss of one step."""
        pixels, mixed = self.method.augment(pixels)
        labels = torch.from_numpy(self.training.labels[rows]).to(self.device)
        domains = torch.from_numpy(self.training.domains[rows]).to(self.device)
        inputs = self.settings.normalise(pixels.to(self.device))
        with torch.autocast(self.device.type, self.dtype, enabled=self.dtype != torch.float32):
            features = self.network.backbone(inputs)
            outputs = self.network.head(features)

        batch = Batch(outputs.float(), features.float(), labels, domains, epoch, self.auxiliary)
        losses = self.method.losses(batch)
        if mixed is not None:
            others, share = mixed[0].to(self.device), mixed[1]
            other_batch = replace(batch, labels=labels[others], domains=domains[others])
            losses = share * losses + (1 - share) * self.method.losses(other_batch)
        losses = losses * torch.from_numpy(self.sample_weights[rows]).to(losses)
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
        weight = head.weight.detach().double().cpu().numpy()
        bias = head.bias.detach().double().cpu().numpy()
        finished = linear(*self.method.finish(weight, bias, len(self.settings.classes)))
        settings = replace(self.settings, n_outputs=finished.out_features)
        if about is not None:
            settings = replace(settings, about=about)

        network = Network(self.network.backbone, finished.to(self.device))
        return NetworkModel(
            Classifier(network, settings, self.device, self.dtype, self.options.batch_size)
        )

    def state(self) -> loop.Tensors:
        """All that later epochs depend on."""
        modules: loop.Tensors = dict(loop.add_prefix("network.", self.network.state_dict()))
        if self.auxiliary is not None:
            modules |= loop.add_prefix("auxiliary.", self.auxiliary.state_dict())
        modules |= loop.add_prefix("optimiser.", loop.optimiser_tensors(self.optimiser))
        arrays = self.method.state.items()
        tensors = {name: torch.from_numpy(np.asarray(array)) for name, array in arrays}
        return modules | loop.add_prefix("method.", tensors)

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Resume from `state`."""
        self.network.load_state_dict(with_prefix("network.", state))
        if self.auxiliary is not None:
            self.auxiliary.load_state_dict(with_prefix("auxiliary.", state))
        loop.restore_optimiser(self.optimiser, with_prefix("optimiser.", state))

        tensors = with_prefix("method.", state)
        if tensors:
            arrays = {name: values.numpy() for name, values in tensors.items()}
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
    return options.learning_rate * loop.cosine(epoch, epochs)


def _confidence(probabilities: Floats, images: Examples) -> dict[str, float] | None:
    """Mean probability of each class in images of the class; None with several labels an image."""
    if images.labels.ndim == 2:
        return None
    return {
        images.classes[label]: float(probabilities[images.labels == label, label].mean())
        for label in np.unique(images.labels)
    }
