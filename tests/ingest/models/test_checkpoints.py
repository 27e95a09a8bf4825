"""Checkpoints in folders: found, verified, and described by a digest."""

import shutil
from collections.abc import Callable
from pathlib import Path

import diffusers
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import CLIPTextModel, CLIPTokenizer

from cobalance.graph.errors import JobBlockedError, OptionError
from cobalance.ingest.models.checkpoints import Checkpoint, find_checkpoint
from cobalance.ingest.models.loading import load_model, load_processor

Find = Callable[[str], str]
Copied = Callable[[str], Path]
UNET = "unet/diffusion_pytorch_model.safetensors"


def test_a_pipeline_in_a_folder(pipelines: Find) -> None:
    folder = pipelines("sd-text2img")
    checkpoint = find_checkpoint(folder)
    assert checkpoint.name == folder
    assert checkpoint.label == "sd-text2img"
    assert checkpoint.revision is None
    assert checkpoint.weights == (
        "text_encoder/model.safetensors",
        UNET,
        "vae/diffusion_pytorch_model.safetensors",
    )
    pipeline = load_model(diffusers.StableDiffusionPipeline, checkpoint, dtype=torch.float32)
    assert pipeline.unet.config.in_channels == 4


def test_a_model_of_transformers(pipelines: Find) -> None:
    folder = Path(pipelines("sd-text2img"))
    checkpoint = find_checkpoint(str(folder / "text_encoder"))
    assert checkpoint.weights == ("model.safetensors",)
    assert load_model(CLIPTextModel, checkpoint).config.hidden_size == 32
    tokenizer = load_processor(CLIPTokenizer, find_checkpoint(str(folder)), subfolder="tokenizer")
    assert tokenizer.model_max_length == 77


def test_the_digest_follows_the_content_and_not_the_place(copied: Copied, tmp_path: Path) -> None:
    folder = copied("sd-text2img")
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    digest = find_checkpoint(str(folder)).weights_sha256
    assert digest == find_checkpoint(str(other)).weights_sha256
    tensors = load_file(other / UNET)
    tensors["conv_in.bias"] = tensors["conv_in.bias"] + 1
    save_file(tensors, other / UNET, metadata={"format": "pt"})
    assert digest != find_checkpoint(str(other)).weights_sha256


def test_the_digest_is_of_what_was_opened(copied: Copied) -> None:
    folder = copied("sd-text2img")
    checkpoint = find_checkpoint(str(folder))
    digest = checkpoint.weights_sha256
    (folder / UNET).write_bytes(b"another model's")
    assert checkpoint.weights_sha256 == digest
    shutil.rmtree(folder)
    assert checkpoint.weights_sha256 == digest
    with pytest.raises(JobBlockedError, match=r"safetensors cannot be read \(FileNotFoundError"):
        assert Checkpoint("m", None, folder, (UNET,)).weights_sha256


@pytest.mark.parametrize("name", ["/no/such/folder", "no-such-folder", "./no/folder", "a/b/c"])
def test_a_folder_that_is_not_there(name: str) -> None:
    with pytest.raises(JobBlockedError, match=r"there is no such folder\. Give the folder"):
        find_checkpoint(name)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match=r"neither model_index\.json nor config\.json"):
        find_checkpoint(str(tmp_path))


def test_a_folder_has_no_revisions(pipelines: Find) -> None:
    with pytest.raises(OptionError, match="a folder, which has no revision 'main'"):
        find_checkpoint(pipelines("sd-text2img"), revision="main")


def test_an_unreadable_index(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / "model_index.json").write_text("{", "utf-8")
    with pytest.raises(JobBlockedError, match=r"model_index\.json cannot be read"):
        find_checkpoint(str(folder))


def test_weights_cut_short(copied: Copied) -> None:
    folder = copied("sd-text2img")
    whole = (folder / UNET).read_bytes()
    for length in (len(whole) - 1, 100, 0):
        (folder / UNET).write_bytes(whole[:length])
        with pytest.raises(JobBlockedError, match=f"{UNET} is damaged or cut short"):
            find_checkpoint(str(folder))


def test_pickles_are_refused(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / UNET).unlink()
    torch.save({"a": torch.zeros(1)}, folder / "unet" / "diffusion_pytorch_model.bin")
    with pytest.raises(JobBlockedError, match="unet: the weights are pickles, which can run any"):
        find_checkpoint(str(folder))


def test_missing_weights(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / UNET).unlink()
    with pytest.raises(JobBlockedError, match="unet: there are no weights"):
        find_checkpoint(str(folder))


def test_the_variant_is_taken_where_a_part_has_nothing_else(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / UNET).rename(folder / "unet" / "diffusion_pytorch_model.fp16.safetensors")
    checkpoint = find_checkpoint(str(folder))
    assert checkpoint.variant == "fp16"
    assert "unet/diffusion_pytorch_model.fp16.safetensors" in checkpoint.weights
    load_model(diffusers.StableDiffusionPipeline, checkpoint)


def test_a_model_in_a_subfolder(pipelines: Find) -> None:
    folder = Path(pipelines("sd-text2img"))
    checkpoint = find_checkpoint(str(folder), subfolder="unet")
    assert checkpoint.folder == folder / "unet"
    assert (checkpoint.label, checkpoint.weights) == ("unet", (UNET.removeprefix("unet/"),))
    with pytest.raises(JobBlockedError, match=r"sd-text2img/decoder is not a model"):
        find_checkpoint(str(folder), subfolder="decoder")
