"""Devices, precisions, and running out of memory."""

import pytest
import torch

from cobalance.base.errors import MachineError, OptionError, OutOfMemoryError
from cobalance.vision.models.devices import choose_device, choose_dtype, out_of_memory


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_device("cpu") == torch.device("cpu")
    with pytest.raises(OptionError, match="torch has no device 'gpu'"):
        choose_device("gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    assert choose_device("auto") == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda:1")
    assert choose_dtype("auto", torch.device("cuda")) == torch.float16
    with pytest.raises(MachineError, match=r"no device 'cuda:2' .*cpu, cuda:0, cuda:1"):
        choose_device("cuda:2")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    assert choose_dtype("auto", torch.device("cuda")) == torch.bfloat16
    assert choose_dtype("float32", torch.device("cuda")) == torch.float32


def test_no_half_precision_on_a_cpu() -> None:
    assert choose_dtype("bfloat16", torch.device("cpu")) == torch.bfloat16
    with pytest.raises(OptionError, match="does not compute these models in float16"):
        choose_dtype("float16", torch.device("cpu"))
    with pytest.raises(OptionError, match="Unknown precision 'int8'"):
        choose_dtype("int8", torch.device("cpu"))


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("x"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes"),
        MemoryError(),
    ],
)
def test_full_memory(error: Exception) -> None:
    with (
        pytest.raises(OutOfMemoryError, match="too little memory for 3 cats"),
        out_of_memory("3 cats"),
    ):
        raise error


def test_other_errors_pass() -> None:
    with pytest.raises(RuntimeError, match="shapes differ"), out_of_memory("3 cats"):
        raise RuntimeError("shapes differ")
