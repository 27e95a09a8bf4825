"""Pipelines and models are loaded whole or refused."""

import json
import logging
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diffusers
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertTokenizer, CLIPTokenizer, Qwen2Tokenizer, T5Tokenizer

from cobalance.base.errors import JobBlockedError
from cobalance.vision.models.checkpoints import Checkpoint, find_checkpoint
from cobalance.vision.models.loading import load_model, load_processor, quiet, software
from tests.tiny.text import MERGES, clip_tokenizer
from tests.tiny.vision import save_clip

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


Copied = Callable[[str], Path]


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        ("sd-text2img", "tokenizer"),
        ("sdxl-text2img", "tokenizer_2"),
        ("flux-fill", "tokenizer"),
        ("flux-fill", "tokenizer_2"),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_tokenizer_without_words(copied: Copied, name: str, tokenizer: str, whole: bool) -> None:
    """Which transformers gives an empty vocabulary, so that prompts would not matter."""
    folder = copied(name)
    if whole:
        shutil.rmtree(folder / tokenizer)
    else:
        (folder / tokenizer / "tokenizer.json").unlink()
    with pytest.raises(JobBlockedError, match=r"incomplete: its tokenizer|cannot be loaded as"):
        load_model(diffusers.DiffusionPipeline, find_checkpoint(str(folder)))


def test_the_refusal_of_an_empty_tokenizer_says_what_to_do(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / "tokenizer" / "tokenizer.json").unlink()
    message = r"incomplete: its tokenizer tells no words apart\. Copy or download the tokenizer's"
    with pytest.raises(JobBlockedError, match=message):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_a_tokenizer_that_does_not_know_how_much_is_read(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / "tokenizer" / "tokenizer_config.json").unlink()
    with pytest.raises(JobBlockedError, match=r"its tokenizer gives up to \d+ tokens, not 77\."):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_a_tokenizer_of_another_model(copied: Copied) -> None:
    folder = copied("sd-text2img")
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [*letters, *(f"{letter}</w>" for letter in letters)]
    words += ["<|startoftext|>", "<|endoftext|>"]
    small = {word: number for number, word in enumerate(words)}
    CLIPTokenizer(vocab=small, merges=[], model_max_length=77).save_pretrained(folder / "tokenizer")
    config = folder / "text_encoder" / "config.json"
    read = {**json.loads(config.read_text("utf-8")), "vocab_size": 40}
    (folder / "tokenizer" / "config.json").write_text(json.dumps(read), "utf-8")
    tokens = Checkpoint("m", None, folder / "tokenizer", ())
    with pytest.raises(JobBlockedError, match="knows 54 words, and its model 40"):
        load_processor(CLIPTokenizer, tokens)


@pytest.mark.parametrize("kind", [CLIPTokenizer, BertTokenizer, T5Tokenizer, Qwen2Tokenizer])
def test_a_processor_without_words(tmp_path: Path, kind: Any) -> None:
    folder = save_clip(tmp_path / "clip")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(JobBlockedError, match=r"incomplete|cannot be loaded"):
        load_processor(kind, find_checkpoint(str(folder)))


def test_small_tokenizers_are_tokenizers(tmp_path: Path) -> None:
    """Letters, or bytes with few merges; and of a model with room for more."""
    letters = [chr(code) for code in range(33, 127)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    words += [f"##{letter}" for letter in letters]
    by_letter = BertTokenizer(vocab={word: number for number, word in enumerate(words)})
    clip = clip_tokenizer()
    vocabulary = {word.replace("</w>", "Ġ"): number for word, number in clip.get_vocab().items()}
    merges = [(one, other.replace("</w>", "Ġ")) for one, other in MERGES]
    by_byte = Qwen2Tokenizer(vocab=vocabulary, merges=merges)
    for tokenizer in (by_letter, by_byte, clip):
        folder = tmp_path / type(tokenizer).__name__
        tokenizer.save_pretrained(folder)
        config = {"text_config": {"vocab_size": len(tokenizer) + 100}}
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        load_processor(type(tokenizer), Checkpoint("m", None, folder, ()))
