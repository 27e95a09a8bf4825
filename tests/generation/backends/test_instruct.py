import json
from dataclasses import replace

import numpy as np
import pytest

from cobalance.base.errors import JobBlockedError
from cobalance.generation.backends.compositing.framing import fit_source
from cobalance.generation.backends.instruct import InstructOptions, open_backend as open_instruct
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Copied, Find


@pytest.fixture(scope="module")
def backend(pipelines: Find) -> DiffusionBackend:
    return open_instruct(InstructOptions(model=pipelines("sd-ip2p"), steps=2))


class TestInstruct(suite.BackendTests):
    name = "instruct"
    model = "sd-ip2p"

    def test_the_image_guidance_is_recorded(self, backend: DiffusionBackend) -> None:
        settings = backend.describe()["settings"]
        assert (settings["guidance_scale"], settings["image_guidance_scale"]) == (7.5, 1.5)


def test_batches(
    pipelines: Find,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    batch_options: dict[str, object],
) -> None:
    settings = InstructOptions.model_validate({"model": pipelines("sd-ip2p"), **batch_options})
    suite.check_batches(open_instruct(settings), ask(4), monkeypatch)


def test_the_presets(pipelines: Find) -> None:
    faithful = open_instruct(InstructOptions(model=pipelines("sd-ip2p"))).describe()
    assert faithful["settings"]["steps"] == 100
    assert faithful["scheduler"] == "EulerAncestralDiscreteScheduler"
    fast = open_instruct(InstructOptions(model=pipelines("sd-ip2p"), preset="fast")).describe()
    assert (fast["settings"]["steps"], fast["scheduler"]) == (20, "DPMSolverMultistepScheduler")


@pytest.mark.parametrize("size", [(60, 84), (37, 151)])
def test_images_have_the_sources_size_and_no_mask(
    backend: DiffusionBackend, ask: Ask, size: tuple[int, int]
) -> None:
    made = backend.generate(ask(1, *size))[0]
    assert made.image.shape == (*size, 3)
    assert made.mask is None


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("size", [(60, 84), (37, 151), (101, 53)])
def test_a_crop_is_edited_and_all_outside_its_box_is_kept(
    pipelines: Find, ask: Ask, size: tuple[int, int], two: bool
) -> None:
    backend = open_instruct(InstructOptions(model=pipelines("sd-ip2p"), steps=1, crop=True))
    request = ask(1, *size, two=two)[0]
    made = backend.generate([request])[0]
    assert request.source is not None
    rows, columns = np.nonzero(request.source.mask)
    box = [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1]
    outside = np.ones(size, bool)
    outside[box[0] : box[2], box[1] : box[3]] = False
    suite.check_kept(request, made, outside)
    assert made.mask is None
    assert made.details == {"scale": 1.0, "box": box}


def test_the_model_sees_the_crop_alone_at_its_own_size(
    pipelines: Find, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = open_instruct(InstructOptions(model=pipelines("sd-ip2p"), steps=1, crop=True))
    request = ask(1, 80, 80)[0]
    assert request.source is not None
    elsewhere = request.source.image.copy()
    elsewhere[50:] = 7
    other = replace(request, source=replace(request.source, image=elsewhere))
    one, two = backend.generate([request, other])
    assert np.array_equal(one.image[:50], two.image[:50])
    sizes = list[tuple[int, int]]()
    paint = backend.runner.paint

    def recorded(prompts: object, seeds: object, size: tuple[int, int], *rest: object) -> object:
        sizes.append(size)
        return paint(prompts, seeds, size, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(backend.runner, "paint", recorded)
    backend.generate([request])
    ((height, width),) = sizes  # a crop of 20 × 14 px, with the area of 64² px
    assert abs(height * width - 64 * 64) < 64 * 16
    assert height > width


def test_a_crop_in_an_image_of_ones_own_size(pipelines: Find, ask: Ask) -> None:
    own = {"model": pipelines("sd-ip2p"), "steps": 1, "crop": True}
    settings = InstructOptions.model_validate({**own, "width_px": 72, "height_px": 96})
    request = ask()[0]
    made = open_instruct(settings).generate([request])[0]
    assert request.source is not None
    image, mask, _ = fit_source(request.source, (96, 72))
    rows, columns = np.nonzero(mask)
    outside = np.ones((96, 72), bool)
    outside[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = False
    assert np.array_equal(made.image[outside], image[outside])
    assert made.kept is None


def test_the_image_guidance_matters(pipelines: Find, ask: Ask) -> None:
    weak, strong = (
        open_instruct(
            InstructOptions(model=pipelines("sd-ip2p"), steps=2, image_guidance_scale=scale)
        ).generate(ask())[0]
        for scale in (1, 5)
    )
    assert not np.array_equal(weak.image, strong.image)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("sd-text2img", "takes 4 channels, not 8"),
        ("sd-inpaint", "takes 9 channels, not 8"),
        ("flux-fill", "FluxFillPipeline paints over an image, and does not edit it"),
    ],
)
def test_models_of_other_kinds_are_refused(pipelines: Find, name: str, problem: str) -> None:
    with pytest.raises(JobBlockedError, match=f"{problem}. Give a model that edits"):
        open_instruct(InstructOptions(model=pipelines(name)))


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("model_index.json", "_class_name", "StableDiffusionXLInstructPix2PixPipeline"),
        ("unet/config.json", "addition_embed_type", "text_time"),
    ],
)
def test_xl_is_refused_when_it_is_opened(copied: Copied, file: str, name: str, value: str) -> None:
    folder = copied("sd-ip2p")
    config = {**json.loads((folder / file).read_text("utf-8")), name: value}
    (folder / file).write_text(json.dumps(config), "utf-8")
    with pytest.raises(JobBlockedError, match=r"XL is not supported\. Give a model .* 1\.5's kind"):
        open_instruct(InstructOptions(model=str(folder)))
