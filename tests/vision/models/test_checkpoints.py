"""Checkpoints in folders: found, verified, and described by a digest."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import diffusers
import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import CLIPTextModel, CLIPTokenizer

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.vision.models.checkpoints import Checkpoint, find_checkpoint
from cobalance.vision.models.loading import load_model, load_processor

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


Find = Callable[[str], str]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipelines: Find) -> Path:
    """A cache of the hub with one commit of one repository, as downloads leave it."""
    commit = "a" * 40
    cached = tmp_path / "models--tiny--sd"
    shutil.copytree(pipelines("sd-text2img"), cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit, "utf-8")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return cached / "snapshots" / commit


def test_offline_the_cache_serves(hub: Path) -> None:
    checkpoint = find_checkpoint("tiny/sd", offline=True)
    assert (checkpoint.name, checkpoint.label) == ("tiny/sd", "tiny/sd")
    assert (checkpoint.revision, checkpoint.folder) == ("a" * 40, hub)
    assert find_checkpoint("tiny/sd", "a" * 40, offline=True) == checkpoint
    load_model(diffusers.StableDiffusionPipeline, checkpoint)


def test_offline_what_is_not_cached_is_refused(hub: Path) -> None:
    with pytest.raises(JobBlockedError, match=r"tiny/other is not on this machine.*hf download"):
        find_checkpoint("tiny/other", offline=True)
    with pytest.raises(JobBlockedError, match="tiny/sd of revision v2 is not on this machine"):
        find_checkpoint("tiny/sd", "v2", offline=True)


def test_only_what_is_loaded_is_downloaded(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(path.relative_to(hub)) for path in hub.rglob("*") if path.is_file()]
    names += ["v1-5-pruned.safetensors", "v1-5.ckpt", "safety_checker/model.safetensors"]
    names += ["unet/diffusion_pytorch_model.fp16.safetensors", "unet/diffusion_pytorch_model.bin"]
    asked: dict[str, Any] = {}

    def info(_: object, model: str, revision: str | None) -> SimpleNamespace:
        files = [SimpleNamespace(rfilename=name) for name in names]
        return SimpleNamespace(sha=hub.name, siblings=files)

    def snapshot(model: str, **options: Any) -> str:
        asked.update(options)
        return str(hub)

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", info)
    monkeypatch.setattr(
        huggingface_hub, "hf_hub_download", lambda model, name, revision: str(hub / name)
    )
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    checkpoint = find_checkpoint("tiny/sd", "main")
    assert asked["revision"] == "main"  # which the cache remembers, for a later time offline
    assert checkpoint.revision == hub.name
    assert sorted(asked["allow_patterns"]) == sorted(
        str(path.relative_to(hub)) for path in hub.rglob("*") if path.is_file()
    )


def test_a_hub_that_fails_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(*args: object, **options: object) -> None:
        raise ConnectionError("Name or service not known\nand more")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", unreachable)
    with pytest.raises(JobBlockedError, match=r"tiny/sd cannot be downloaded: ConnectionError: "):
        find_checkpoint("tiny/sd")


def test_a_model_in_a_subfolder_of_the_hub(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = find_checkpoint("tiny/sd", offline=True, subfolder="unet")
    assert (expected.name, expected.label) == ("tiny/sd/unet", "tiny/sd/unet")
    assert (expected.revision, expected.folder) == ("a" * 40, hub / "unet")
    with pytest.raises(JobBlockedError, match="tiny/sd is not on this machine"):
        find_checkpoint("tiny/sd", offline=True, subfolder="scheduler")
    asked: list[str] = []

    def info(_: object, model: str, revision: str | None) -> SimpleNamespace:
        names = [str(path.relative_to(hub)) for path in hub.rglob("*") if path.is_file()]
        files = [SimpleNamespace(rfilename=name) for name in [*names, "config.json", "unet.json"]]
        return SimpleNamespace(sha=hub.name, siblings=files)

    def snapshot(model: str, **options: Any) -> str:
        asked.extend(options["allow_patterns"])
        return str(hub)

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert find_checkpoint("tiny/sd", subfolder="unet") == expected
    names = ("config.json", "diffusion_pytorch_model.safetensors")
    assert sorted(asked) == [f"unet/{name}" for name in names]
