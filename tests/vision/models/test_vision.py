"""Contract of the filters and annotators with a vision model."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.base.errors import JobBlockedError, OutOfMemoryError
from cobalance.generation.filters import FILTERS
from tests.tiny.vision import save_clip, save_owlv2, save_safety

Open = Callable[[Path], Any]

LOOKING: dict[str, tuple[Callable[[Path], Path], Open]] = {
    "clip": (save_clip, lambda folder: FILTERS.open("clip", {"model": str(folder)})),
    "objects": (save_owlv2, lambda folder: FILTERS.open("objects", {"model": str(folder)})),
    "safety": (save_safety, lambda folder: FILTERS.open("safety", {"model": str(folder)})),
    "owlv2": (save_owlv2, lambda folder: ANNOTATORS.open("owlv2", {"model": str(folder)})),
}


@pytest.mark.parametrize("name", ["clip", "objects", "owlv2"])
def test_a_tokenizer_without_words(tmp_path: Path, name: str) -> None:
    save, open_it = LOOKING[name]
    folder = save(tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(JobBlockedError, match="incomplete: its CLIPTokenizer tells no words apart"):
        open_it(folder)


@pytest.mark.parametrize("name", LOOKING)
def test_the_description_is_of_what_was_loaded(tmp_path: Path, name: str) -> None:
    save, open_it = LOOKING[name]
    folder = save(tmp_path / "model")
    looking = open_it(folder)
    shutil.rmtree(folder)
    described = looking.describe()
    assert (described["model"], len(described["weights_sha256"])) == ("model", 64)


@pytest.mark.parametrize("name", LOOKING)
def test_a_device_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    save, open_it = LOOKING[name]
    folder = save(tmp_path / "model")

    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr("transformers.PreTrainedModel.to", full)
    message = r"too little memory for the model model\. Use a smaller model, half precision, or"
    with pytest.raises(OutOfMemoryError, match=message):
        open_it(folder)
