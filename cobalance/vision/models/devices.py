"""Choose a device and a precision, and report when memory runs out."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from cobalance.base import MachineError, OptionError, OutOfMemoryError, torch

_FULL = ("out of memory", "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED")
"""Messages of plain RuntimeErrors that mean out of memory."""
_SMALLER_BATCHES = "Make fewer images at once, smaller ones, or offload the model."
SMALLER_MODEL = "Use a smaller model, half precision, or another device."
"""Advice where a model does not fit."""


def gpu_memory_gb() -> float:
    """Memory of the GPU that ``auto`` chooses, in GB; 0 where it chooses none of NVIDIA or AMD."""
    if not torch.cuda.is_available():
        return 0.0
    _, total_bytes = torch.cuda.mem_get_info()
    return float(total_bytes / 1e9)


def choose_device(device: str = "auto") -> torch.device:
    """Choose a device by name; ``auto`` is a GPU if available.

    Raises
    ------
    OptionError
        torch knows no such device.
    MachineError
        This machine has none.

    Examples
    --------
    >>> choose_device("cpu")
    device(type='cpu')
    """
    has_mps = torch.backends.mps.is_available()
    if device == "auto":
        if torch.cuda.is_available():
            device = "cuda"
        elif has_mps:
            device = "mps"
        else:
            device = "cpu"
        return torch.device(device)
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise OptionError(
            f"torch has no device {device!r}. Use auto, cpu, cuda, cuda:1 or mps."
        ) from error

    available = ["cpu"]
    if has_mps:
        available.append("mps")
    available += [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    # The first device of a kind needs no number, and only GPUs have one in the list.
    names = {*available, *(name.partition(":")[0] for name in available)}
    name = chosen.type if chosen.index in (None, 0) else str(chosen)
    if name not in names:
        raise MachineError(
            f"This machine has no device {device!r} that its torch can use. Use auto, or one of "
            f"{', '.join(available)}."
        )
    return chosen


def choose_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """Choose a precision by name; ``auto`` is half precision on a GPU, else single.

    Raises
    ------
    OptionError
        There is no such precision, or the device cannot compute in it.

    Examples
    --------
    >>> choose_dtype("auto", torch.device("cpu"))
    torch.float32
    """
    if dtype == "auto":
        if device.type == "cpu":
            return torch.float32
        # Not where older GPUs only emulate it.
        bfloat16 = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if bfloat16 else torch.float16

    names = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
    if dtype not in names:
        raise OptionError(f"Unknown precision {dtype!r}. Use auto, {', '.join(names)}.")
    if dtype == "float16" and device.type == "cpu":
        raise OptionError(
            "A CPU does not compute these models in float16. Use float32 or bfloat16."
        )
    return names[dtype]


@contextmanager
def out_of_memory(what: str, advice: str = _SMALLER_BATCHES) -> Iterator[None]:
    """Free memory and raise OutOfMemoryError when a ``with`` block runs out of it.

    Parameters
    ----------
    what : str
        What does not fit, for the message: ``"4 images of 512 × 512"``.
    advice : str
        What to do, as sentences.

    Raises
    ------
    OutOfMemoryError
        The block has run out of the device's memory, or the machine's.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        is_full = isinstance(error, (torch.OutOfMemoryError, MemoryError))
        if not is_full and not any(sign in str(error) for sign in _FULL):
            raise

        # The frames of the traceback still hold the tensors that filled the memory.
        traceback.clear_frames(error.__traceback__)
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        elif torch.backends.mps.is_available():
            torch.mps.empty_cache()
        raise OutOfMemoryError(f"The device has too little memory for {what}. {advice}") from error
