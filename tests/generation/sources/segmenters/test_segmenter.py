import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cobalance.base.errors import JobBlockedError, OptionError, OutOfMemoryError, UnknownNameError
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.generation.sources.segmenters.segmenter import InstanceSegmenter, find_parts
from tests.generation.filters.making import noise

BOX = (4.0, 4.0, 30.0, 20.0)


def test_memory(each: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    name, folder = each
    segmenter: Any = SEGMENTERS.open(name, {"model": str(folder)})

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(segmenter.vision.model, "forward", fail)
    with pytest.raises(OutOfMemoryError, match="on one image"):
        segmenter.segment(noise(), BOX)


def test_memory_for_the_model(each: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    name, folder = each

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr("transformers.PreTrainedModel.to", fail)
    with pytest.raises(OutOfMemoryError, match=r"the model .+\. Use a smaller model"):
        SEGMENTERS.open(name, {"model": str(folder)})


def test_the_description_is_of_what_was_loaded(each: tuple[str, Path], tmp_path: Path) -> None:
    name, found = each
    folder = shutil.copytree(found, tmp_path / "model")
    segmenter = SEGMENTERS.open(name, {"model": str(folder)})
    shutil.rmtree(folder)
    assert len(segmenter.describe()["weights_sha256"]) == 64


def test_registry(tmp_path: Path) -> None:
    assert list(SEGMENTERS) == ["sam", "parsing", "people", "clipseg"]
    with pytest.raises(
        UnknownNameError, match=r"unknown segmenter 'paint'.* Known: clipseg, parsing, people, sam"
    ):
        SEGMENTERS.open("paint")
    for name in SEGMENTERS:
        with pytest.raises(OptionError, match=f"The segmenter {name} has no option 'box'"):
            SEGMENTERS.open(name, {"box": 1})
        with pytest.raises(JobBlockedError, match="no such folder"):
            SEGMENTERS.open(name, {"model": str(tmp_path / "nothing")})


def test_parts_of_a_segmenter_that_names_none(sam: Path, parsing: Path) -> None:
    """What it finds as a whole is the one part; others tell their own by name."""
    segmenter: Any = SEGMENTERS.open("parsing", {"model": str(parsing)})
    image = noise()
    parts = find_parts(segmenter, "parsing")(image)
    assert list(parts) == segmenter.describe()["settings"]["labels"]
    union = np.logical_or.reduce(list(parts.values()))
    assert np.array_equal(union, segmenter.segment(image, None))
    assert sum(part.sum() for part in parts.values()) == union.sum()
    assert not isinstance(segmenter, InstanceSegmenter)
    whole: Any = SEGMENTERS.open("sam", {"model": str(sam)})
    with pytest.raises(GenerationError, match="has no box for its object"):
        find_parts(whole, "sam")(image)
