"""What holds of few families of pipelines, on tiny ones of each."""

import inspect
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from generation.backends.inpaint import InpaintOptions
from generation.backends.inpaint import open_backend as open_inpaint
from generation.backends.paste import PasteOptions
from generation.backends.paste import open_backend as open_paste
from generation.backends.pipelines.diffusion import DiffusionBackend
from graph.errors import JobBlockedError, OptionError, OutOfMemoryError
from ingest.models.loading import quiet
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Copied, Find
from tests.tiny.other_pipelines import save_other_pipeline


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """The folder of a tiny pipeline, by its name in `tests.tiny.other_pipelines`."""
    root = tmp_path_factory.mktemp("others")

    def find(name: str) -> str:
        if not (root / name).is_dir():
            save_other_pipeline(name, root)
        return str(root / name)

    return find


def paste(model: str, **settings: object) -> DiffusionBackend:
    return open_paste(PasteOptions.model_validate({"model": model, "steps": 2, **settings}))


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


@pytest.mark.parametrize(("name", "steps"), [("sana", 20), ("sd3", 20)])
def test_fast_leaves_a_flow_its_scheduler(others: Find, ask: Ask, name: str, steps: int) -> None:
    faithful = open_paste(PasteOptions(model=others(name)))
    fast = open_paste(PasteOptions(model=others(name), preset="fast"))
    assert fast.runner.pipeline.scheduler.config == faithful.runner.pipeline.scheduler.config
    about = fast.describe()
    assert about["scheduler"] == faithful.describe()["scheduler"]
    assert about["settings"]["steps"] == steps
    few = {"preset": "fast", "steps": 2, "width_px": 64, "height_px": 64}
    assert paste(others(name), **few).generate(ask())[0].image.shape == (64, 64, 3)


def test_fast_leaves_a_combined_pipeline_its_scheduler(others: Find) -> None:
    settings = InpaintOptions(model=others("kandinsky-inpaint"), preset="fast")
    about = open_inpaint(settings).describe()
    assert (about["scheduler"], about["settings"]["steps"]) == ("DDIMScheduler", 20)


@pytest.mark.parametrize("name", ["use_exponential_sigmas", "use_beta_sigmas", "use_lu_lambdas"])
def test_fast_takes_the_place_of_other_noise_levels(copied: Copied, name: str) -> None:
    folder = copied("sd-text2img")
    file = folder / "scheduler" / "scheduler_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), name: True}), "utf-8")
    fast = open_paste(PasteOptions(model=str(folder), preset="fast"))
    assert fast.describe()["scheduler"] == "DPMSolverMultistepScheduler"
    config = fast.runner.pipeline.scheduler.config
    assert (config["use_karras_sigmas"], config[name]) == (True, False)


@pytest.mark.parametrize(
    ("name", "scale", "problem"),
    [
        ("flux", None, "FluxPipeline would ignore the negative prompt: its model was distilled"),
        ("flux-kontext", None, "FluxKontextPipeline would ignore the negative prompt"),
        ("sd3", 1.0, r"would ignore the negative prompt: the guidance scale is 1\.0"),
        ("sana", 0.5, r"the guidance scale is 0\.5\. Set one above 1"),
    ],
)
def test_a_negative_prompt_that_would_be_ignored(
    others: Find, name: str, scale: float | None, problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        paste(others(name), negative_prompt="people", guidance_scale=scale)
    paste(others(name), guidance_scale=scale)


def test_a_negative_prompt_without_guidance(pipelines: Find) -> None:
    for name in ("sd-text2img", "sdxl-text2img"):
        with pytest.raises(OptionError, match=r"the guidance scale is 1\.0"):
            paste(pipelines(name), negative_prompt="people", guidance_scale=1.0)


def test_a_negative_prompt_of_a_distilled_u_net(copied: Copied) -> None:
    folder = copied("sd-text2img")
    runner = paste(str(folder)).runner
    pipeline = runner.pipeline
    pipeline.unet.register_to_config(time_cond_proj_dim=8)
    settings = runner.options.model_copy(update={"negative_prompt": "people"})
    with pytest.raises(OptionError, match="its U-Net was distilled to paint without one"):
        type(runner)(pipeline, runner.checkpoint, settings, {}, runner.device, runner.dtype)


def test_a_negative_prompt_that_is_heeded(others: Find, ask: Ask) -> None:
    size = {"width_px": 64, "height_px": 64}
    images = [
        paste(others("sd3"), negative_prompt=words, **size).generate(ask())[0].image
        for words in ("", "people")
    ]
    assert not np.array_equal(*images)


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


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("controlnet", "StableDiffusionControlNetPipeline needs a picture that guides it"),
        ("deepfloyd", "IFPipeline paints small pictures pixel by pixel, without latents"),
    ],
)
def test_pipelines_for_other_tasks(others: Find, name: str, problem: str) -> None:
    with pytest.raises(JobBlockedError, match=f"{problem}.*Give a text-to-image model"):
        open_paste(PasteOptions(model=others(name)))


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
