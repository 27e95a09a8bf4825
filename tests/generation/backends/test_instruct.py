import json

import numpy as np
import pytest

from generation.backends.instruct import InstructOptions
from generation.backends.instruct import open_backend as open_instruct
from generation.backends.pipelines.diffusion import DiffusionBackend
from graph.errors import JobBlockedError
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
        ("flux-fill", "it has no U-Net"),
    ],
)
def test_models_of_other_kinds_are_refused(pipelines: Find, name: str, problem: str) -> None:
    with pytest.raises(JobBlockedError, match=f"{problem}. Give a model trained as Instruct"):
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
