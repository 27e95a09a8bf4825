"""Pipelines and models are loaded whole or refused."""

import json
import logging
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import diffusers
import pytest
import torch
from safetensors.torch import load_file, save_file

from cobalance.graph.errors import JobBlockedError
from cobalance.ingest.models.checkpoints import find_checkpoint
from cobalance.ingest.models.loading import load_model, quiet, software

Copied = Callable[[str], Path]


@pytest.mark.parametrize("part", ["unet", "text_encoder", "vae"])
def test_a_missing_tensor_is_not_made_up(copied: Copied, part: str) -> None:
    folder = copied("sd-text2img")
    file = next((folder / part).glob("*.safetensors"))
    tensors = load_file(file)
    del tensors[sorted(tensors)[3]]
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(JobBlockedError, match=r"is not a complete .*: 1 of its tensors"):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_a_missing_part_is_an_error_of_loading(copied: Copied) -> None:
    folder = copied("sd-text2img")
    shutil.rmtree(folder / "scheduler")
    with pytest.raises(JobBlockedError, match="cannot be loaded as StableDiffusionPipeline"):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (["transformers", "NoSuchModel"], r"needs NoSuchModel for text_encoder, which this tra"),
        (["transformers"], r'has \["transformers"\] for text_encoder, which is not a library and'),
        (["transformers", None], r"for text_encoder, which is not a library and a class of it"),
    ],
)
def test_an_index_that_names_no_class(copied: Copied, entry: list[str], problem: str) -> None:
    folder = copied("sd-text2img")
    file = folder / "model_index.json"
    index = {**json.loads(file.read_text("utf-8")), "text_encoder": entry}
    file.write_text(json.dumps(index), "utf-8")
    with pytest.raises(JobBlockedError, match=problem):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


@pytest.mark.parametrize("part", ["unet", "vae", "text_encoder", "tokenizer", "scheduler"])
def test_a_part_that_is_needed_and_null(copied: Copied, part: str) -> None:
    folder = copied("sd-text2img")
    file = folder / "model_index.json"
    index = {**json.loads(file.read_text("utf-8")), part: [None, None]}
    file.write_text(json.dumps(index), "utf-8")
    with pytest.raises(JobBlockedError, match="cannot be loaded as StableDiffusionPipeline"):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_quiet_puts_everything_back() -> None:
    logger = logging.getLogger("diffusers")
    before = logger.level
    with quiet():
        assert logger.level == logging.ERROR
        warnings.warn("noise", stacklevel=1)
    assert logger.level == before


def test_versions_are_those_installed() -> None:
    assert list(software("torch", "no-such-package")) == ["torch"]
    assert torch.__version__.startswith(software("torch")["torch"])
