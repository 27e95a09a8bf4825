import shutil
from pathlib import Path

import numpy as np
import pytest

from generation.backends.backend import ImageOptions
from generation.backends.compositing.framing import (
    choose_model_size,
    choose_output_size,
    crop_source,
    fit_source,
    resize_mask,
)
from generation.backends.inpaint import InpaintOptions
from generation.backends.inpaint import open_backend as open_inpaint
from generation.backends.pipelines.diffusion import DiffusionBackend
from generation.image_request import GenerationError, ImageRequest, SourceImage
from graph.errors import JobBlockedError, OptionError
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Find


@pytest.fixture(scope="module")
def backend(pipelines: Find) -> DiffusionBackend:
    return open_inpaint(InpaintOptions(model=pipelines("sd-inpaint"), steps=2))


def test_seeds(backend: DiffusionBackend, ask: Ask) -> None:
    suite.check_seeds(backend, ask()[0])


@pytest.mark.parametrize(
    ("name", "steps"),
    # the errors of the tiny transformer grow with the steps, to 2.8e-6 after 20
    [("sd-inpaint", suite.STEPS), ("sdxl-inpaint", suite.STEPS), ("flux-fill", 4)],
)
def test_batches(
    pipelines: Find,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    steps: int,
    batch_options: dict[str, object],
) -> None:
    settings = InpaintOptions.model_validate(
        {
            "model": pipelines(name),
            **batch_options,
            "steps": steps,
            "width_px": 64,
            "height_px": 64,
        }
    )
    suite.check_batches(open_inpaint(settings), ask(4), monkeypatch)


def test_refusals(backend: DiffusionBackend, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.check_refusals(backend, ask()[0], monkeypatch)


def test_provenance(backend: DiffusionBackend) -> None:
    suite.check_provenance(backend, "inpaint", "sd-inpaint")


@pytest.mark.parametrize("size", [(60, 84), (64, 64), (37, 151), (200, 160)])
def test_protected_pixels_are_the_sources(
    backend: DiffusionBackend, ask: Ask, size: tuple[int, int]
) -> None:
    request = ask(1, *size)[0]
    made = backend.generate([request])[0]
    assert request.source is not None
    assert made.mask is not None
    assert made.image.shape == (*size, 3)
    assert np.array_equal(made.mask, request.source.mask)
    assert np.array_equal(made.image[made.mask], request.source.image[made.mask])
    outside = ~made.mask
    assert (made.image[outside] != request.source.image[outside]).any(axis=1).mean() > 0.9


@pytest.mark.parametrize("name", ["sd-inpaint", "sdxl-inpaint", "flux-fill"])
def test_a_size_of_ones_own(pipelines: Find, ask: Ask, name: str) -> None:
    settings = InpaintOptions(model=pipelines(name), steps=1, width_px=72, height_px=96)
    request = ask(1, 60, 84)[0]
    assert request.source is not None
    made = open_inpaint(settings).generate([request])[0]
    image, mask, _ = fit_source(request.source, (96, 72))
    assert made.image.shape == (96, 72, 3)
    assert made.mask is not None
    assert np.array_equal(made.mask, mask)
    assert np.array_equal(made.image[mask], image[mask])


def test_the_model_sees_the_object_and_not_what_was_around_it(
    backend: DiffusionBackend, ask: Ask
) -> None:
    request = ask(1, 64, 64)[0]
    assert request.source is not None
    source = request.source
    elsewhere = source.image.copy()
    elsewhere[~source.mask] = 77
    other = SourceImage("other", "other.png", elsewhere, source.mask)
    one = backend.generate([request])[0]
    two = backend.generate([ImageRequest("q", "bird", (), request.prompt, request.seed, other)])[0]
    assert np.array_equal(one.image, two.image)


def test_fewer_steps_than_strength_leaves(pipelines: Find) -> None:
    settings = InpaintOptions(model=pipelines("sd-inpaint"), steps=3, strength=0.3)
    with pytest.raises(OptionError, match=r"3 steps at strength 0\.3 leave none"):
        open_inpaint(settings)


def test_a_model_of_text_to_image_is_refused(pipelines: Find) -> None:
    with pytest.raises(JobBlockedError, match=r"4 channels, not 9\. Give a model trained for inp"):
        open_inpaint(InpaintOptions(model=pipelines("sd-text2img")))


def test_a_flux_that_takes_no_mask_is_refused(pipelines: Find, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(pipelines("flux-fill"), tmp_path / "flux"))
    config = folder / "transformer" / "config.json"
    config.write_text(config.read_text("utf-8").replace('"in_channels": 264', '"in_channels": 4'))
    with pytest.raises(JobBlockedError, match="its transformer does not take a mask"):
        open_inpaint(InpaintOptions(model=str(folder)))


def test_a_negative_prompt_that_would_be_lost(pipelines: Find) -> None:
    settings = InpaintOptions(model=pipelines("flux-fill"), negative_prompt="people")
    with pytest.raises(OptionError, match="FluxFillPipeline takes no negative prompt"):
        open_inpaint(settings)


def _source(height: int, width: int, *window: slice) -> SourceImage:
    image = np.random.default_rng(1).integers(0, 255, (height, width, 3), dtype=np.uint8)
    mask = np.zeros((height, width), bool)
    mask[window] = True
    return SourceImage("i", "i.png", image, mask)


def test_a_fitted_source_keeps_its_shape() -> None:
    source = _source(40, 80, slice(10, 30), slice(20, 60))
    image, mask, scale = fit_source(source, (64, 64))
    assert (image.shape, scale) == ((64, 64, 3), 0.8)
    rows, columns = np.nonzero(mask)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (24, 39, 16, 47)


def test_a_thin_object_survives_and_one_that_vanishes_is_an_error() -> None:
    mask = np.zeros((100, 100), bool)
    mask[50, 20:80] = True
    assert resize_mask(mask, (10, 10)).any()
    full = _source(100, 100, slice(1, 100), slice(0, 100))
    with pytest.raises(GenerationError, match="cannot be told from the rest at 8 × 8"):
        fit_source(full, (8, 8))


def test_the_other_side_follows() -> None:
    source = _source(60, 90, slice(0, 9), slice(0, 9))
    assert choose_output_size(ImageOptions(height_px=64), source) == (64, 96)
    assert choose_output_size(ImageOptions(), source) == (60, 90)
    assert choose_output_size(ImageOptions(width_px=8, height_px=64), source) == (64, 8)


def test_very_long_images_stay_within_what_a_model_can_paint() -> None:
    height, width = choose_model_size((10, 10_000), 512, 8, is_set=False)
    assert (height, width) == (128, 2048)


def test_a_crop_keeps_the_object_in_view() -> None:
    source = _source(40, 100, slice(10, 20), slice(80, 100))
    assert np.array_equal(crop_source(source, (40, 40)), source.image[:, 60:])
    assert crop_source(source, (80, 80)).shape == (80, 80, 3)
