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

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.networks.checkpoints import (
    CheckpointFile,
    Tensors,
    check_digest,
    optimiser_tensors,
    prefixed,
    restore_optimiser,
    with_prefix,
)
from cobalance.evaluation.training.networks.model import consecutive
from cobalance.evaluation.training.networks.pixels import read_batches
from cobalance.evaluation.training.tuning.options import TuningOptions
from cobalance.graph.errors import OptionError
from cobalance.ingest.models.checkpoints import find_checkpoint
from cobalance.ingest.models.devices import choose_dtype, out_of_memory
from cobalance.ingest.models.loading import load_model
from cobalance.ingest.models.vision import VisionModel

_ELSEWHERE = (
    *("device", "offline", "model", "revision", "layout", "weights_file", "language_model"),
    *("scorer", "folder"),
)
"""Options that do not decide the weights beside the pretrained ones, whose digest is known."""
RECORD = "training.json"
"""Written last into a model's folder: where it is, the model is whole."""
_SMALLER = "Use smaller batches, a smaller model, or bfloat16."


class Tunable(Protocol):
    """A model that learns from images and captions."""

    @property
    def vision(self) -> VisionModel:
        """The model on its device, in single precision."""
        ...

    def loss(self, pixels: torch.Tensor, captions: Sequence[str]) -> torch.Tensor:
        """Mean loss of a batch."""
        ...

    def after_step(self) -> None:
        """Keep parameters in bounds after a step of the optimiser."""
        ...

    def save(self, folder: Path) -> None:
        """Save weights, tokenizer and image processor, as ``save_pretrained`` does."""
        ...


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
    held = None if options.select == "last" else _held_out(validation)
    digest = _digest(model, options, pairs, held, run)
    folder = None if run.seed_folder is None else run.seed_folder / "model"
    if folder is not None and (folder / RECORD).is_file():
        record: dict[str, Any] = json.loads((folder / RECORD).read_text("utf-8"))
        check_digest(record["digest"], digest, folder)
        module = model.vision.model
        tuned = load_model(type(module), find_checkpoint(str(folder)), dtype=torch.float32)
        _load(module, dict(_named(tuned)))
        return record
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with (
        torch.random.fork_rng(devices),
        torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True),
    ):
        record = _Tuning(model, options, pairs, held, run, digest, folder).train()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        model.save(folder)
        unfinished = folder / f"{RECORD}.unfinished"
        unfinished.write_text(json.dumps(record, indent=2), "utf-8")
        unfinished.replace(folder / RECORD)
        for file in _checkpoints(folder):
            file.delete()
    return record


def with_captions(images: Examples, what: str) -> Examples:
    """The images that have captions; OptionError where these are fewer than two."""
    rows = np.flatnonzero([bool(some) for some in images.captions])
    if len(rows) < 2:
        raise OptionError(
            f"{len(rows)} of {len(images):,} {what} images have captions, and at least two are "
            "needed. Load the dataset with captions, or choose another."
        )
    return images.take(rows)


@dataclass(frozen=True, eq=False)
class _Tuning:
    """A model that is being fine-tuned."""

    model: Tunable
    options: TuningOptions
    training: Examples
    validation: Examples | None
    run: Run
    digest: str
    folder: Path | None

    def train(self) -> dict[str, Any]:
        """Train what is left, and leave the selected epoch's weights in the model."""
        module = self.model.vision.model
        optimiser = _optimiser(module, self.options)
        losses: list[float] = []
        values: list[float] = []
        best: Tensors = {}
        files = None if self.folder is None else _checkpoints(self.folder)
        if files is not None and (found := files[0].read()) is not None:
            check_digest(found[1]["digest"], self.digest, files[0].path.parent)
            _load(module, with_prefix("model.", found[0]))
            restore_optimiser(optimiser, with_prefix("optimiser.", found[0]))
            losses, values = found[1]["losses"], found[1]["values"]
            best = (files[1].read() or ({}, {}))[0]
        while not self._is_over(losses, values):
            epoch = len(losses)
            self.run.progress("training", epoch, self.options.epochs)
            loss = self._train_epoch(optimiser, epoch)
            if self.validation is not None:
                values.append(self._validation_loss(self.validation))
                if values[-1] == min(values):
                    best = {name: one.detach().cpu().clone() for name, one in _named(module)}
                    if files is not None:
                        files[1].write(best, {})
            losses.append(loss)
            if files is not None:
                state = prefixed("model.", dict(_named(module)))
                state |= prefixed("optimiser.", optimiser_tensors(optimiser))
                facts = {"digest": self.digest, "losses": losses, "values": values}
                files[0].write(state, facts)
        self.run.progress("training", self.options.epochs, self.options.epochs)
        if best:
            _load(module, best)
        module.eval()
        selected = int(np.argmin(values)) if values else len(losses) - 1
        return {
            "losses": losses,
            "validation_losses": values,
            "selection": {"rule": self.options.select, "epoch": selected + 1},
            "pairs": len(self.training),
            "seed": self.run.seed,
            "digest": self.digest,
        }

    def _is_over(self, losses: list[float], values: list[float]) -> bool:
        if not values or self.options.patience is None:
            return len(losses) >= self.options.epochs
        worse = len(values) - 1 - int(np.argmin(values))
        return len(losses) >= self.options.epochs or worse >= self.options.patience

    def _train_epoch(self, optimiser: torch.optim.Optimizer, epoch: int) -> float:
        """Train an epoch, from 0; return its mean loss."""
        rng = np.random.default_rng([self.run.seed, 1, epoch])
        torch.manual_seed(int(rng.integers(2**62)))
        order, size = rng.permutation(len(self.training)), self.options.batch_size
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        if len(batches) > 1 and len(batches[-1]) == 1:  # nothing to tell one pair from
            batches[-2:] = [np.concatenate(batches[-2:])]
        draws = rng.random(len(self.training))
        captions = [
            some[int(draws[at] * len(some))] for at, some in enumerate(self.training.captions)
        ]
        steps = len(batches) * self.options.epochs
        module = self.model.vision.model.train()
        total, done = 0.0, len(batches) * epoch
        for rows, pixels in read_batches(self.training, batches, self._fit):
            for group in optimiser.param_groups:
                group["lr"] = learning_rate(self.options, done, steps)
            with out_of_memory(f"training on {len(rows)} images", _SMALLER):
                loss = self._loss(pixels, [captions[row] for row in rows])
                optimiser.zero_grad(set_to_none=True)
                torch.autograd.backward(loss)
                optimiser.step()
            self.model.after_step()
            total += loss.item() * len(rows)
            done += 1
        module.eval()
        if not math.isfinite(total):
            raise OptionError(
                f"The loss is not a finite number in epoch {epoch + 1}. Lower the learning rate, "
                f"now {self.options.learning_rate:g}, or train in float32."
            )
        return total / len(self.training)

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
    warm = round(options.warmup * steps)
    if step < warm:
        return options.learning_rate * (step + 1) / warm
    return options.learning_rate * (1 + math.cos(math.pi * (step - warm) / (steps - warm))) / 2


def _optimiser(module: torch.nn.Module, options: TuningOptions) -> torch.optim.Optimizer:
    trained = [values for values in module.parameters() if values.requires_grad]
    groups = [
        {"params": [one for one in trained if one.ndim >= 2], "weight_decay": options.weight_decay},
        {"params": [one for one in trained if one.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=options.learning_rate)


def _named(module: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Parameters by name, those that are tied once."""
    return [(name, values.detach()) for name, values in module.named_parameters()]


def _load(module: torch.nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    with torch.no_grad():
        for name, values in module.named_parameters():
            values.copy_(weights[name])


def _checkpoints(folder: Path) -> tuple[CheckpointFile, CheckpointFile]:
    """The last epoch's checkpoint, and the weights of the best epoch."""
    return (
        CheckpointFile(folder.parent / "checkpoint.safetensors"),
        CheckpointFile(folder.parent / "best.safetensors"),
    )


def _held_out(validation: Examples | None) -> Examples:
    if validation is None or not len(validation):
        raise OptionError(
            "The rule 'loss' selects an epoch by validation images, and there are none. Hold some "
            "out, or select the last epoch."
        )
    return with_captions(validation, "validation")


def _digest(
    model: Tunable, options: TuningOptions, training: Examples, held: Examples | None, run: Run
) -> str:
    """Of all that decides the result, but the pixels."""
    facts = options.model_dump(mode="json", exclude={*_ELSEWHERE})
    pairs = [[list(one.ids), list(map(list, one.captions))] for one in (training, held) if one]
    weights = model.vision.weights_sha256
    text = json.dumps([type(model).__name__, facts, run.seed, weights, pairs], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
