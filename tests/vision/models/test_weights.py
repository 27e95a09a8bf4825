"""Weights of one file: digests, pickles, and what is no state dictionary."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from cobalance.base.errors import JobBlockedError
from cobalance.vision.models.weights import fill, read_weights

TENSORS = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("around", [(), ("state_dict",), ("model", "state_dict")])
def test_checkpoints_of_torch_need_their_digest(tmp_path: Path, around: tuple[str, ...]) -> None:
    path, values = tmp_path / "w.pth", dict[str, Any](TENSORS)
    for name in around:
        values = {name: values, "epoch": 3}
    torch.save(values, path)
    assert fill(torch.nn.Linear(2, 1), read_weights(str(path), digest(path)), "w").bias == 0
    with pytest.raises(JobBlockedError, match="no sha256 says which"):
        read_weights(str(path))
    with pytest.raises(JobBlockedError, match=f"have the SHA-256 {digest(path)}, not 00ff"):
        read_weights(str(path), "00ff")


def test_safetensors_need_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    save_file(TENSORS, path)
    assert set(read_weights(str(path))) == set(TENSORS)
    with pytest.raises(JobBlockedError, match="do not fit the model"):
        fill(torch.nn.Linear(3, 1), read_weights(str(path), digest(path).upper()), str(path))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(JobBlockedError, match="cannot be read"):
        read_weights(str(path))


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("kind", ["hostile", "list", "names", "empty", "text"])
def test_what_is_no_state_dictionary(tmp_path: Path, kind: str) -> None:
    path, trap = tmp_path / "w.pt", tmp_path / "trap"
    content = {"hostile": Hostile(trap), "list": [1], "names": {"a": "b"}, "empty": {}}
    if kind == "text":
        path.write_text("no weights", "utf-8")
    else:
        torch.save(content[kind], path)
    with pytest.raises(JobBlockedError, match=r"cannot be read|not named tensors"):
        read_weights(str(path), digest(path))
    assert not trap.exists()
