"""Families that nobody has named: each runs by what its pipeline declares."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.generation.backends.inpaint import InpaintOptions, open_backend as open_inpaint
from cobalance.generation.backends.instruct import InstructOptions, open_backend as open_instruct
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Find

INPAINTING = {
    "flux": "FluxInpaintPipeline",
    "flux-kontext": "FluxKontextInpaintPipeline",
    "flux2-klein": "Flux2KleinInpaintPipeline",
    "sd3": "StableDiffusion3InpaintPipeline",
    "z-image": "ZImageInpaintPipeline",
}
EDITING = {"flux-kontext": "FluxKontextPipeline", "flux2-klein": "Flux2KleinPipeline"}


def small(options: Any, model: str, **more: object) -> Any:
    return options.model_validate(
        {"model": model, "steps": 2, "width_px": 64, "height_px": 64, **more}
    )


@pytest.mark.parametrize("name", INPAINTING)
def test_a_model_inpaints_in_the_pipeline_that_takes_a_mask(
    others: Find, ask: Ask, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    backend = open_inpaint(small(InpaintOptions, others(name)))
    assert type(backend.runner.pipeline).__name__ == INPAINTING[name]

    requests = ask(3, 64, 64)
    for request, made in zip(requests, backend.generate(requests), strict=True):
        assert request.source is not None
        suite.check_kept(request, made, request.source.mask)
    again = backend.generate(requests)
    assert all(map(suite.same, again, backend.generate(requests)))
    suite.check_batches(backend, requests, monkeypatch)


@pytest.mark.parametrize("name", EDITING)
def test_a_model_edits_each_image_by_its_own_words(
    others: Find, ask: Ask, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    backend = open_instruct(small(InstructOptions, others(name)))
    assert type(backend.runner.pipeline).__name__ == EDITING[name]

    # As references of one prompt, the other images would change each of them.
    suite.check_batches(backend, ask(3, 64, 64), monkeypatch)
    made = backend.generate(ask(1, 60, 84))[0]
    assert made.image.shape == (64, 64, 3)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("flux", "FluxPipeline takes no image"), ("z-image", "ZImagePipeline takes no image")],
)
def test_a_model_that_takes_no_image_edits_none(others: Find, name: str, problem: str) -> None:
    with pytest.raises(JobBlockedError, match=f"{problem}.*Give a model that edits"):
        open_instruct(InstructOptions(model=others(name)))


def renamed(model: str, folder: Path, **changes: object) -> str:
    """A copy of a pipeline whose file declares something else."""
    shutil.copytree(model, folder)
    file = folder / "model_index.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), "utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("FuturePipeline", r"diffusers [\d.]+ has no pipeline FuturePipeline"),
        ("utils", r"diffusers [\d.]+ has no pipeline utils"),
        ("PixArtSigmaPipeline", "PixArtSigmaPipeline takes no mask"),
        ("ZImageControlNetPipeline", "ZImageControlNetPipeline needs a picture that guides it"),
    ],
)
def test_a_model_without_a_pipeline_for_masks_is_refused(
    others: Find, tmp_path: Path, kind: str, problem: str
) -> None:
    model = renamed(others("z-image"), tmp_path / "model", _class_name=kind)
    with pytest.raises(JobBlockedError, match=f"{problem}.*Give a model trained for inpainting"):
        open_inpaint(InpaintOptions(model=model))


@pytest.fixture(scope="module")
def klein(others: Find) -> DiffusionBackend:
    return open_inpaint(InpaintOptions(model=others("flux2-klein")))


def test_a_distilled_model_takes_its_few_steps_without_guidance(klein: DiffusionBackend) -> None:
    settings = klein.describe()["settings"]
    assert (settings["steps"], settings["guidance_scale"]) == (4, None)
    with pytest.raises(OptionError, match="would ignore the variants' guidance_scale"):
        klein.check_scales([{"guidance_scale": 3.0}, {"guidance_scale": 5.0}])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"guidance_scale": 4.0}, "would ignore the guidance_scale"),
        ({"negative_prompt": "blurred"}, "takes no negative prompt"),
    ],
)
def test_a_distilled_model_refuses_what_it_would_ignore(
    others: Find, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        open_inpaint(InpaintOptions(model=others("flux2-klein"), **options))


def test_the_same_model_without_distilling_is_guided(others: Find, tmp_path: Path) -> None:
    model = renamed(others("flux2-klein"), tmp_path / "base", is_distilled=False)
    backend = open_inpaint(InpaintOptions(model=model))
    settings = backend.describe()["settings"]
    assert (settings["steps"], settings["guidance_scale"]) == (50, 8.0)
    backend.check_scales([{"guidance_scale": 3.0}, {"guidance_scale": 5.0}])


def test_an_input_that_the_pipeline_has_not_is_refused(others: Find) -> None:
    with pytest.raises(OptionError, match="Flux2KleinPipeline has no image_guidance_scale"):
        open_instruct(InstructOptions(model=others("flux2-klein"), image_guidance_scale=1.5))


@pytest.mark.parametrize(("name", "native_px"), [("z-image", 1024), ("sd3", 64)])
def test_the_size_that_a_model_was_trained_on(others: Find, name: str, native_px: int) -> None:
    runner = open_inpaint(InpaintOptions(model=others(name))).runner
    assert (runner.native_px, runner.multiple_px) == (native_px, 16)
    height, width = runner.model_size((300, 400))
    assert height % 16 == width % 16 == 0
    assert np.isclose(height * width, native_px**2, rtol=0.1)
