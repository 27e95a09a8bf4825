"""Checkpoints of a training run: a safetensors file each, with its facts as JSON in the header.

A checkpoint replaces the one before in one step, so that a run that is killed at any moment goes on
from the last epoch that it finished.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from cobalance.graph.errors import OptionError

_FACTS = "facts"
Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class CheckpointFile:
    """One checkpoint.

    Parameters
    ----------
    path : Path
        Its file; the folder is made when it is first written.
    """

    path: Path

    def write(self, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> None:
        """Replace the checkpoint; facts are JSON values."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        save_file(
            {name: values.detach().cpu().contiguous() for name, values in tensors.items()},
            unfinished,
            {_FACTS: json.dumps(facts)},
        )
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(self.path)

    def read(self) -> tuple[Tensors, dict[str, Any]] | None:
        """Tensors and facts; None where there is no checkpoint.

        Raises
        ------
        OptionError
            The file is damaged.
        """
        if not self.path.is_file():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                facts = json.loads(file.metadata()[_FACTS])
                return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise OptionError(
                f"The checkpoint {self.path} is damaged. Delete it to train from the start."
            ) from error

    def delete(self) -> None:
        """Delete the checkpoint, if there is one."""
        self.path.unlink(missing_ok=True)


def prefixed(prefix: str, tensors: Mapping[str, torch.Tensor]) -> Tensors:
    """Tensors with a prefix before their names."""
    return {f"{prefix}{name}": values for name, values in tensors.items()}


def with_prefix(prefix: str, tensors: Mapping[str, torch.Tensor]) -> Tensors:
    """The tensors whose names have a prefix, without it."""
    return {
        name.removeprefix(prefix): values
        for name, values in tensors.items()
        if name.startswith(prefix)
    }


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> Tensors:
    """State of an optimiser, as tensors named ``parameter.quantity``."""
    return {
        f"{parameter}.{quantity}": values
        for parameter, of_one in optimiser.state_dict()["state"].items()
        for quantity, values in of_one.items()
        if values is not None
    }


def restore_optimiser(
    optimiser: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]
) -> None:
    """Put back what `optimiser_tensors` gave."""
    state: dict[int, Tensors] = {}
    for name, values in tensors.items():
        parameter, quantity = name.split(".", maxsplit=1)
        state.setdefault(int(parameter), {})[quantity] = values
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})


def method_tensors(state: Mapping[str, Any]) -> Tensors:
    """State of a method, as tensors that share its memory."""
    return {name: torch.from_numpy(np.asarray(values)) for name, values in state.items()}


def check_digest(found: str, digest: str, folder: Path) -> None:
    """Raise OptionError unless a folder's model is of the same data and settings."""
    if found != digest:
        raise OptionError(
            f"The folder {folder} has a model of other data or settings. Choose another folder, or "
            "delete this one to train again."
        )
