"""Read weights that are one file: safetensors, or a torch checkpoint whose SHA-256 is known."""

import hashlib
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cobalance.base import JobBlockedError, T, safetensors, torch
from cobalance.vision.models.checkpoints import describe_error

_INSIDE = ("state_dict", "model")


def with_prefix(prefix: str, values: Mapping[str, T]) -> dict[str, T]:
    """Values whose names have a prefix, such as tensors of a part, by their names without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in values.items()
        if name.startswith(prefix)
    }


def read_weights(path: str, sha256: str | None = None) -> "dict[str, torch.Tensor]":
    """Read named tensors, onto the CPU.

    A checkpoint of torch is a pickle: it is read with ``weights_only=True``, which runs nothing
    that it brings, and only after its digest was compared.

    Parameters
    ----------
    path : str
        A ``.safetensors`` file, or one that ``torch.save`` wrote; of nested ones the
        ``state_dict`` or ``model`` inside.
    sha256 : str or None
        The file's digest, in hexadecimal. Safetensors can do without.

    Raises
    ------
    JobBlockedError
        There is no such file, it is damaged or another one, or a pickle without a digest.
    """
    from safetensors.torch import load_file

    file = Path(path).expanduser()
    if not file.is_file():
        raise JobBlockedError(
            f"The weights {path} are not here: there is no such file. Download them from their "
            "publisher, and give the path."
        )
    is_safe = file.suffix == ".safetensors"
    if sha256 is None and not is_safe:
        raise JobBlockedError(
            f"The weights {path} are a pickle, and no sha256 says which. Give the digest that "
            "their publisher names, or the weights as safetensors."
        )

    try:
        if sha256 is not None:
            _check_digest(file, sha256)
        values: Any
        if is_safe:
            values = load_file(file)
        else:
            values = torch.load(file, map_location="cpu", weights_only=True)
    except (
        OSError,
        safetensors.SafetensorError,
        RuntimeError,
        EOFError,
        pickle.UnpicklingError,
    ) as error:
        raise JobBlockedError(
            f"The weights {path} cannot be read ({describe_error(error)}). Copy or download them "
            "again."
        ) from error

    while isinstance(values, Mapping):
        inner = next((values[name] for name in _INSIDE if name in values), None)
        if not isinstance(inner, Mapping):
            break
        values = inner
    is_named = isinstance(values, Mapping) and all(
        isinstance(value, torch.Tensor) for value in values.values()
    )
    if not is_named or not values:
        raise JobBlockedError(
            f"The weights {path} are not named tensors. Give a state dictionary that torch or "
            "safetensors saved."
        )
    return dict(values)


def _check_digest(file: Path, sha256: str) -> None:
    """Raise JobBlockedError for a file of another digest."""
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != sha256.strip().lower():
        raise JobBlockedError(
            f"The weights {file} have the SHA-256 {digest}, not {sha256}: they are damaged "
            "or others. Download them again, or correct the digest."
        )


def fill(module: Any, weights: "Mapping[str, torch.Tensor]", path: str) -> Any:
    """Put weights into a module, for inference; JobBlockedError where they are of another one."""
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        raise JobBlockedError(
            f"The weights {path} do not fit the model: {describe_error(error)}. Give those of this "
            "model."
        ) from error
    return module.eval()
