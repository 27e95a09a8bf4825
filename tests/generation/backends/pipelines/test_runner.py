import inspect
import shutil
from pathlib import Path

import pytest

from cobalance.graph.errors import OutOfMemoryError
from cobalance.ingest.models.loading import quiet
from tests.generation.backends.suite import Ask, Copied, Find, paste


@pytest.mark.parametrize(("name", "px"), [("sd3", 64), ("flux", 1024), ("flux-kontext", 1024)])
def test_the_native_size_is_what_the_pipeline_paints_by_default(
    others: Find, monkeypatch: pytest.MonkeyPatch, name: str, px: int
) -> None:
    runner = paste(others(name)).runner
    assert runner.native_px == px
    pipeline = runner.pipeline
    signature = inspect.signature(pipeline.prepare_latents)
    asked: list[object] = []

    class EnoughError(Exception):
        pass

    def enough(*args: object, **options: object) -> None:
        given = signature.bind(*args, **options).arguments
        asked.append((given["height"], given["width"]))
        raise EnoughError

    monkeypatch.setattr(pipeline, "prepare_latents", enough)
    with pytest.raises(EnoughError), quiet():
        pipeline(prompt="a cat", num_inference_steps=1)
    assert asked == [(px, px)]


@pytest.mark.parametrize("name", ["sd3", "flux", "flux-kontext"])
def test_a_size_of_ones_own_is_painted(others: Find, name: str) -> None:
    runner = paste(others(name)).runner
    assert runner.paint(["a cat"], [1], (64, 128), {}, {}).shape == (1, 64, 128, 3)


def test_the_description_is_of_what_was_loaded(copied: Copied, ask: Ask, tmp_path: Path) -> None:
    folder = copied("sd-text2img")
    link = tmp_path / "current"
    link.symlink_to(folder)
    backend = paste(str(link))
    before = backend.describe()
    assert before["model"] == "sd-text2img"
    link.unlink()
    shutil.rmtree(folder)
    assert backend.describe() == before
    assert backend.generate(ask())


def test_a_device_without_room_for_the_model(
    pipelines: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("diffusers.StableDiffusionPipeline.to", full)
    with pytest.raises(OutOfMemoryError, match=r"for the model\. Offload it, use half"):
        paste(pipelines("sd-text2img"))
    monkeypatch.setattr("diffusers.StableDiffusionPipeline.from_pretrained", full)
    with pytest.raises(OutOfMemoryError, match=r"the model sd-text2img\. Use a smaller model"):
        paste(pipelines("sd-text2img"))
