import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from generation.sources.segmenters import SEGMENTERS
from graph.errors import JobBlockedError, OptionError, OutOfMemoryError, UnknownNameError
from tests.generation.filters.making import noise

BOX = (4.0, 4.0, 30.0, 20.0)


@pytest.mark.parametrize("name", ["sam", "parsing"])
def test_memory(name: str, sam: Path, parsing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = {"sam": sam, "parsing": parsing}[name]
    segmenter: Any = SEGMENTERS.open(name, {"model": str(folder)})

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(segmenter.vision.model, "forward", fail)
    with pytest.raises(OutOfMemoryError, match="on one image"):
        segmenter.segment(noise(), BOX)


@pytest.mark.parametrize("name", ["sam", "parsing"])
def test_memory_for_the_model(
    name: str, sam: Path, parsing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = {"sam": sam, "parsing": parsing}[name]

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr("transformers.PreTrainedModel.to", fail)
    with pytest.raises(OutOfMemoryError, match=r"the model .+\. Use a smaller model"):
        SEGMENTERS.open(name, {"model": str(folder)})


@pytest.mark.parametrize("name", ["sam", "parsing"])
def test_the_description_is_of_what_was_loaded(
    name: str, sam: Path, parsing: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree({"sam": sam, "parsing": parsing}[name], tmp_path / "model")
    segmenter = SEGMENTERS.open(name, {"model": str(folder)})
    shutil.rmtree(folder)
    assert len(segmenter.describe()["weights_sha256"]) == 64


def test_registry(tmp_path: Path) -> None:
    assert list(SEGMENTERS) == ["sam", "parsing"]
    with pytest.raises(UnknownNameError, match=r"unknown segmenter 'paint'. Known: parsing, sam"):
        SEGMENTERS.open("paint")
    for name in SEGMENTERS:
        with pytest.raises(OptionError, match=f"The segmenter {name} has no option 'box'"):
            SEGMENTERS.open(name, {"box": 1})
        with pytest.raises(JobBlockedError, match="no such folder"):
            SEGMENTERS.open(name, {"model": str(tmp_path / "nothing")})
