from dataclasses import replace

import numpy as np
import pytest

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.paste import PasteOptions, open_backend as open_paste
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Find


@pytest.fixture(scope="module")
def backend(pipelines: Find) -> DiffusionBackend:
    return open_paste(PasteOptions(model=pipelines("sd-text2img"), steps=2))


def test_it_is_registered(pipelines: Find) -> None:
    settings = PasteOptions(model=pipelines("sd-text2img"))
    backend = BACKENDS.open("paste", settings)
    assert backend.needs_source
    assert backend.describe()["settings"]["steps"] == 50
    assert backend.describe()["settings"]["guidance_scale"] == 7.5
    assert backend.describe()["scheduler"] == "PNDMScheduler"


class TestPaste(suite.ObjectKeptTests):
    name = "paste"
    model = "sd-text2img"


@pytest.mark.parametrize("name", ["sd-text2img", "sdxl-text2img"])
def test_batches(
    pipelines: Find,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    batch_options: dict[str, object],
) -> None:
    settings = PasteOptions.model_validate({"model": pipelines(name), **batch_options})
    suite.check_batches(open_paste(settings), ask(4), monkeypatch)


def test_details(backend: DiffusionBackend, ask: Ask) -> None:
    made = backend.generate(ask())[0]
    assert made.details is not None
    assert made.details["placement"] == "keep"
    assert made.details["scale"] == 1


def test_requests_of_several_sizes_in_their_order(backend: DiffusionBackend, ask: Ask) -> None:
    wide, tall = ask(2, 40, 80), ask(2, 80, 40)
    mixed = [wide[0], tall[0], wide[1], tall[1]]
    shapes = [made.image.shape for made in backend.generate(mixed)]
    assert shapes == [(40, 80, 3), (80, 40, 3)] * 2


def test_a_size_of_ones_own(pipelines: Find, ask: Ask) -> None:
    settings = PasteOptions(model=pipelines("sd-text2img"), steps=1, width_px=72, height_px=96)
    suite.check_own_size(open_paste(settings), ask()[0])


def test_a_seeded_place(pipelines: Find, ask: Ask) -> None:
    settings = PasteOptions(model=pipelines("sd-text2img"), steps=1, placement="resample")
    backend, request = open_paste(settings), ask()[0]
    first, again = backend.generate([request])[0], backend.generate([request])[0]
    assert suite.same(first, again)
    others = backend.generate([replace(request, seed=seed) for seed in range(5)])
    boxes = {tuple(made.details["box"]) for made in others if made.details}
    assert len(boxes) == 5
    for made in others:
        assert made.kept is None
        assert made.mask is not None
        assert made.details is not None
        assert 0.7 <= made.details["scale"] <= 1.3
        rows, columns = np.nonzero(made.mask)
        box = [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1]
        assert made.details["box"] == box


def test_a_model_for_inpainting_is_refused(pipelines: Find) -> None:
    with pytest.raises(JobBlockedError, match=r"takes 9 channels, not 4\. Give a text-to-image"):
        open_paste(PasteOptions(model=pipelines("sd-inpaint")))


def test_a_model_of_another_kind_is_refused(pipelines: Find) -> None:
    folder = f"{pipelines('sd-text2img')}/text_encoder"
    with pytest.raises(JobBlockedError, match="cannot be loaded as AutoPipelineForText2Image"):
        open_paste(PasteOptions(model=folder))


def test_settings_that_do_not_fit_one_another(pipelines: Find) -> None:
    settings = PasteOptions(model=pipelines("sd-text2img"), compile=True, offload="sequential")
    with pytest.raises(OptionError, match="cannot be offloaded layer by layer"):
        open_paste(settings)
