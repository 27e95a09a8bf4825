"""Train a model epoch by epoch, select one, and go on where a run was interrupted.

Checkpoints are a safetensors file each, with facts as JSON in the header. A checkpoint replaces the
one before in one step, so that a run that is killed at any moment goes on from the last epoch that
it finished.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from cobalance.base import ConflictError, DataError, DivergedError, Progress
from cobalance.evaluation.training.examples import IntArray

SMALLER = "Use smaller batches or images, a smaller model, or bfloat16."
_FACTS = "facts"
Tensors = dict[str, torch.Tensor]


def write_checkpoint(
    path: Path, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]
) -> None:
    """Replace a checkpoint, or make it with its folder; facts are JSON values."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    save_file(
        {name: values.detach().cpu().contiguous() for name, values in tensors.items()},
        unfinished,
        {_FACTS: json.dumps(facts)},
    )

    # On the disk before it has its name: a checkpoint is whole, or the one before.
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)


def read_checkpoint(path: Path) -> tuple[Tensors, dict[str, Any]] | None:
    """Tensors and facts; None where there is no checkpoint.

    Raises
    ------
    DataError
        The file is damaged.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads(file.metadata()[_FACTS])
            return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"The checkpoint {path} is damaged. Delete it to train from the start."
        ) from error


class Fit(Protocol):
    """A model in training; random choices follow from seed and epoch alone."""

    def train_epoch(self, epoch: int) -> float:
        """Train an epoch, from 0; return its mean loss."""

    def judge(self) -> tuple[float, dict[str, Any]] | None:
        """How good it is, more being better, with JSON facts; None to take the last epoch."""

    def weights(self) -> Tensors:
        """The weights, which share memory with the model."""

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Load weights from `weights`."""

    def state(self) -> Tensors:
        """All that later epochs depend on."""

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Resume from `state`."""


@dataclass
class History:
    """Losses and values of all epochs, and the selected epoch.

    Parameters
    ----------
    losses : list of float
        Mean training loss of each epoch.
    values : list of float
        What `Fit.judge` said after each epoch; empty where the last is taken.
    epoch : int
        The selected one, from 0.
    facts : dict
        Of the selected epoch, from `Fit.judge`.
    """

    losses: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    epoch: int = -1
    facts: dict[str, Any] = field(default_factory=dict)

    def is_over(self, epochs: int, patience: float) -> bool:
        """Whether all epochs are trained, or so many that were no better."""
        if len(self.losses) >= epochs:
            return True
        if not self.values:
            return False
        since_best = len(self.values) - 1 - int(np.argmax(self.values))
        return since_best >= patience


@dataclass(frozen=True)
class Loop:
    """How long is trained, and where checkpoints are kept.

    Parameters
    ----------
    epochs : int
        At most.
    patience : float
        Stop after so many epochs without a better one.
    digest : str
        Of all that decides the result; checkpoints of another one are refused.
    folder : Path or None
        Of the checkpoints; None to keep none.
    progress : Progress
    """

    epochs: int
    patience: float
    digest: str
    folder: Path | None
    progress: Progress

    def train(self, fit: Fit) -> History:
        """Train the remaining epochs, and load the selected epoch's weights.

        Raises
        ------
        ConflictError
            The folder has the checkpoint of another run.
        DataError
            A checkpoint is damaged.
        """
        history, best = self._resume(fit)
        while not history.is_over(self.epochs, self.patience):
            epoch = len(history.losses)
            self.progress("training", epoch, self.epochs)
            history.losses.append(fit.train_epoch(epoch))

            judgement = fit.judge()
            if judgement is not None:
                value, facts = judgement
                if not history.values or value > max(history.values):
                    history.epoch, history.facts = epoch, facts
                    # Copies, as the weights share memory with the model, which is trained on.
                    weights = fit.weights().items()
                    best = {name: values.detach().cpu().clone() for name, values in weights}
                    if self.folder is not None:
                        write_checkpoint(self._best, best, {"epoch": epoch, "facts": facts})
                history.values.append(value)

            if self.folder is not None:
                done = {"losses": history.losses, "values": history.values}
                write_checkpoint(self._last, fit.state(), {"digest": self.digest, **done})

        self.progress("training", self.epochs, self.epochs)
        if best:
            fit.load_weights(best)
        else:
            history.epoch = len(history.losses) - 1
        return history

    def _resume(self, fit: Fit) -> tuple[History, Tensors]:
        """History and best weights of a run that was interrupted, restored into `fit`, if any."""
        history = History()
        last = None if self.folder is None else read_checkpoint(self._last)
        if self.folder is None or last is None:
            return history, {}

        state, facts = last
        check_digest(facts["digest"], self.digest, self.folder)
        fit.restore(state)
        history.losses, history.values = facts["losses"], facts["values"]
        best, selected = read_checkpoint(self._best) or ({}, {"epoch": -1, "facts": {}})
        history.epoch, history.facts = selected["epoch"], selected["facts"]
        return history, best

    def delete_checkpoints(self) -> None:
        """Delete the checkpoints, when the model is saved."""
        self._last.unlink(missing_ok=True)
        self._best.unlink(missing_ok=True)

    @property
    def _last(self) -> Path:
        return (self.folder or Path()) / "checkpoint.safetensors"

    @property
    def _best(self) -> Path:
        return (self.folder or Path()) / "best.safetensors"


@contextmanager
def reproducible() -> Iterator[None]:
    """Leave torch's generators as they were, and let cuDNN compute alike each time."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with (
        torch.random.fork_rng(devices),
        torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True),
    ):
        yield


def epoch_generator(*seed: int) -> np.random.Generator:
    """The generator of an epoch, from which torch's is seeded, too."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(int(rng.integers(2**62)))
    return rng


def without_single(batches: list[IntArray]) -> list[IntArray]:
    """Batches of which the last has two images or more, as normalisation and contrasts need."""
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [np.concatenate(batches[-2:])]
    return batches


def check_finite(loss: float, epoch: int, learning_rate: float) -> float:
    """An epoch's loss; DivergedError where it is NaN or infinite."""
    if not math.isfinite(loss):
        raise DivergedError(
            f"The loss is not a finite number in epoch {epoch + 1}. Lower the learning rate, "
            f"now {learning_rate:g}, or train in float32."
        )
    return loss


def cosine(done: float, whole: float) -> float:
    """Share of the learning rate after some steps: from 1 to 0 along a cosine, as in SGDR."""
    return (1 + math.cos(math.pi * done / whole)) / 2


def add_prefix(prefix: str, tensors: Mapping[str, torch.Tensor]) -> Tensors:
    """Tensors with a prefix before their names."""
    return {f"{prefix}{name}": values for name, values in tensors.items()}


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> Tensors:
    """State of an optimiser, as tensors named ``parameter.quantity``."""
    return {
        f"{parameter}.{quantity}": values
        for parameter, quantities in optimiser.state_dict()["state"].items()
        for quantity, values in quantities.items()
        if values is not None
    }


def restore_optimiser(
    optimiser: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]
) -> None:
    """Restore an optimiser's state from `optimiser_tensors`."""
    state: dict[int, Tensors] = {}
    for name, values in tensors.items():
        parameter, quantity = name.split(".", maxsplit=1)
        state.setdefault(int(parameter), {})[quantity] = values
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})


def check_digest(saved: str, digest: str, folder: Path) -> None:
    """Raise ConflictError unless a folder's model is of the same data and settings."""
    if saved != digest:
        raise ConflictError(
            f"The folder {folder} has a model of other data or settings. Choose another folder, or "
            "delete this one to train again."
        )
