import inspect
import shutil
from pathlib import Path

import pytest

from cobalance.generation.backends.inpaint import InpaintOptions, open_backend as open_inpaint
from cobalance.graph.errors import OutOfMemoryError
from cobalance.ingest.models.loading import quiet
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Copied, Find, paste


def test_a_pipeline_that_mixes_a_batch_gets_one_image_at_a_time(
    others: Find, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = InpaintOptions(model=others("kandinsky-inpaint"), steps=4, width_px=64, height_px=64)
    suite.check_batches(open_inpaint(settings), ask(4), monkeypatch)


def test_kandinsky_paints_in_steps_of_64_px(others: Find, ask: Ask) -> None:
    settings = InpaintOptions(
        model=others("kandinsky-inpaint"), steps=1, width_px=72, height_px=104
    )
    backend = open_inpaint(settings)
    assert backend.runner.multiple_px == 64
    assert backend.generate(ask())[0].image.shape == (104, 72, 3)


@pytest.mark.parametrize(
    ("name", "px"),
    [
        ("pixart", 256),
        ("pixart-odd", 64),
        ("sana", 1024),
        ("sd3", 64),
        ("flux", 1024),
        ("flux-kontext", 1024),
    ],
)
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
    odd = {"use_resolution_binning": False} if name == "pixart-odd" else {}
    with pytest.raises(EnoughError), quiet():
        pipeline(prompt="a cat", num_inference_steps=1, **odd)
    assert asked == [(px, px)]


@pytest.mark.parametrize("name", ["pixart", "pixart-odd", "sana", "flux", "flux-kontext"])
def test_a_size_of_ones_own_is_painted(others: Find, name: str) -> None:
    runner = paste(others(name)).runner
    assert runner.paint(["a cat"], [1], (64, 128), {}).shape == (1, 64, 128, 3)


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
