"""Download what is loaded, or find it in the cache."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import diffusers
import huggingface_hub
import pytest

from cobalance.graph.errors import JobBlockedError
from cobalance.ingest.models.checkpoints import find_checkpoint
from cobalance.ingest.models.loading import load_model

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


def test_a_model_in_a_subfolder(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
