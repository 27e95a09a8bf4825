"""Fine-tune a model on pairs of images and captions, and go on where it was interrupted."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from cobalance.base import DataError, replacing
from cobalance.evaluation.training import loop
from cobalance.evaluation.training.examples import Examples, split_rows
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.networks.model import consecutive
from cobalance.evaluation.training.networks.pixels import read_batches
from cobalance.evaluation.training.selection import check_rule
from cobalance.evaluation.training.tuning.options import TuningOptions
from cobalance.vision import (
    VisionModel,
    choose_dtype,
    find_checkpoint,
    load_model,
    out_of_memory,
    quiet,
    with_prefix,
)

_ELSEWHERE = (
    "device",
    "offline",
    "model",
    "revision",
    "layout",
    "weights_file",
    "language_model",
    "scorer",
    "folder",
)
"""Options that do not decide the weights beside the pretrained ones, whose digest is known."""
RECORD = "training.json"
"""Written last into a model's folder: where it is, the model is whole."""


class Tunable(Protocol):
    """A model that learns from images and captions."""

    @property
    def vision(self) -> VisionModel:
        """The model on its device, in single precision."""

    def loss(self, pixels: torch.Tensor, captions: Sequence[str]) -> torch.Tensor:
        """Mean loss of a batch."""

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of transformers, which is kept with the model."""

    def after_step(self) -> None:
        """Keep parameters in bounds after a step of the optimiser."""


def tune(
    model: Tunable,
    options: TuningOptions,
    training: Examples,
    validation: Examples | None,
    run: Run,
) -> dict[str, Any]:
    """Fine-tune a model in place.

    An epoch shows each image with one of its captions, drawn anew; images without captions are
    left out. With a folder in its run, a fit keeps its last epoch and at the end the model, and a
    fit with the same data and settings goes on after that epoch, to equal weights: all random
    choices follow from seed and epoch.

    Returns
    -------
    dict
        JSON values: ``losses`` (training, by epoch), ``validation_losses``, ``selection``,
        ``pairs`` (images with captions), ``seed`` and ``digest``.

    Raises
    ------
    OptionError
        Too few images have captions, there are no validation images to select by, the loss is not
        finite, or the folder has another run's model.
    OutOfMemoryError
        The device has too little memory for a batch.
    """
    pairs = with_captions(training, "training")
    check_rule(options.select, validation)
    held_out = None
    if options.select != "last" and validation is not None:
        held_out = with_captions(validation, "validation")
    digest = _digest(model, options, pairs, held_out, run)

    folder = None if run.seed_folder is None else run.seed_folder / "model"
    if folder is not None and (folder / RECORD).is_file():
        record: dict[str, Any] = json.loads((folder / RECORD).read_text("utf-8"))
        loop.check_digest(record["digest"], digest, folder)
        module = model.vision.model
        tuned = load_model(type(module), find_checkpoint(str(folder)), dtype=torch.float32)
        _load(module, _parameters_by_name(tuned))
        return record

    patience = options.patience or math.inf
    epochs = loop.Loop(options.epochs, patience, digest, run.seed_folder, run.progress)
    with loop.reproducible():
        history = epochs.train(_Tuning(model, options, pairs, held_out, run.seed))
    model.vision.model.eval()

    record = {
        "losses": history.losses,
        "validation_losses": [-value for value in history.values],
        "selection": {"rule": options.select, "epoch": history.epoch + 1},
        "pairs": len(pairs),
        "seed": run.seed,
        "digest": digest,
    }
    if folder is not None:
        _save(model, record, folder)
        epochs.delete_checkpoints()
    return record


def _save(model: Tunable, record: Mapping[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        for part in (model.vision.model, model.vision.processor, model.tokenizer):
            part.save_pretrained(folder)
    with replacing(folder / RECORD) as file:
        file.write_text(json.dumps(record, indent=2), "utf-8")


def with_captions(images: Examples, what: str) -> Examples:
    """The images that have captions; DataError where these are fewer than two."""
    rows = np.flatnonzero(list(map(bool, images.captions)))
    if len(rows) < 2:
        raise DataError(
            f"{len(rows)} of {len(images):,} {what} images have captions, and at least two are "
            "needed. Load the dataset with captions, or choose another."
        )
    return images.take(rows)


@dataclass(eq=False)
class _Tuning:
    """A model that is being fine-tuned; see `cobalance.evaluation.training.loop.Fit`."""

    model: Tunable
    options: TuningOptions
    training: Examples
    validation: Examples | None
    seed: int

    def __post_init__(self) -> None:
        # Biases and the weights of normalisations, which have one dimension, do not decay.
        parameters = self.model.vision.model.parameters()
        trained = [values for values in parameters if values.requires_grad]
        matrices = [values for values in trained if values.ndim >= 2]
        vectors = [values for values in trained if values.ndim < 2]
        groups = [
            {"params": matrices, "weight_decay": self.options.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=self.options.learning_rate)

    def train_epoch(self, epoch: int) -> float:
        """Train an epoch, from 0; return its mean loss."""
        rng = loop.epoch_generator(self.seed, 1, epoch)
        order = rng.permutation(len(self.training))
        batches = loop.without_single(split_rows(order, self.options.batch_size))
        # One caption of each image, drawn anew in each epoch.
        draws = zip(rng.random(len(self.training)), self.training.captions, strict=True)
        captions = [choices[int(draw * len(choices))] for draw, choices in draws]

        n_steps, step = len(batches) * self.options.epochs, len(batches) * epoch
        module = self.model.vision.model.train()
        total = 0.0
        for rows, pixels in read_batches(self.training, batches, self._fit):
            for group in self.optimiser.param_groups:
                group["lr"] = learning_rate(self.options, step, n_steps)
            with out_of_memory(f"training on {len(rows)} images", loop.SMALLER):
                loss = self._loss(pixels, [captions[row] for row in rows])
                self.optimiser.zero_grad(set_to_none=True)
                torch.autograd.backward(loss)
                self.optimiser.step()
            self.model.after_step()
            total += loss.item() * len(rows)
            step += 1

        module.eval()
        return loop.check_finite(total / len(self.training), epoch, self.options.learning_rate)

    def judge(self) -> tuple[float, dict[str, Any]] | None:
        """The validation loss, with its sign turned."""
        if self.validation is None:
            return None
        return -self._validation_loss(self.validation), {}

    def weights(self) -> loop.Tensors:
        """Parameters by name, tied ones once."""
        return _parameters_by_name(self.model.vision.model)

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put back the weights of an epoch."""
        _load(self.model.vision.model, weights)

    def state(self) -> loop.Tensors:
        """Weights, and the optimiser's state."""
        optimiser = loop.add_prefix("optimiser.", loop.optimiser_tensors(self.optimiser))
        return loop.add_prefix("model.", self.weights()) | optimiser

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Resume from `state`."""
        self.load_weights(with_prefix("model.", state))
        loop.restore_optimiser(self.optimiser, with_prefix("optimiser.", state))

    def _validation_loss(self, images: Examples) -> float:
        """Mean loss of each image with its first caption."""
        total = 0.0
        batches = consecutive(len(images), self.options.batch_size)
        with torch.inference_mode():
            for rows, pixels in read_batches(images, batches, self._fit):
                captions = [images.captions[row][0] for row in rows]
                total += self._loss(pixels, captions).item() * len(rows)
        return total / len(images)

    def _fit(self, image: Any, _: int) -> torch.Tensor:
        return self.model.vision.pixels([image])[0]

    def _loss(self, pixels: torch.Tensor, captions: list[str]) -> torch.Tensor:
        device = self.model.vision.device
        dtype = choose_dtype(self.options.dtype, device)
        with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
            return self.model.loss(pixels.to(device), captions)


def learning_rate(options: TuningOptions, step: int, steps: int) -> float:
    """Learning rate of a step, from 0: a linear warm-up, then a cosine.

    Examples
    --------
    >>> options = TuningOptions(model="m", learning_rate=1.0, warmup=0.5)
    >>> [round(learning_rate(options, step, 8), 3) for step in range(8)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 0.854, 0.5, 0.146]
    """
    n_warm = round(options.warmup * steps)
    if step < n_warm:
        return options.learning_rate * (step + 1) / n_warm
    return options.learning_rate * loop.cosine(step - n_warm, steps - n_warm)


def _parameters_by_name(module: torch.nn.Module) -> loop.Tensors:
    """Parameters by name, tied ones once."""
    return {name: values.detach() for name, values in module.named_parameters()}


def _load(module: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    with torch.no_grad():
        for name, values in module.named_parameters():
            values.copy_(weights[name])


def _digest(
    model: Tunable, options: TuningOptions, training: Examples, held_out: Examples | None, run: Run
) -> str:
    """SHA-256 of all that decides the result, but the pixels."""
    facts = options.model_dump(mode="json", exclude={*_ELSEWHERE})
    pairs = [
        [list(images.ids), list(map(list, images.captions))]
        for images in (training, held_out)
        if images
    ]
    text = json.dumps(
        [type(model).__name__, facts, run.seed, model.vision.weights_sha256, pairs], sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()
