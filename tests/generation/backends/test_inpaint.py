import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.generation.backends.compositing.framing import fit_source
from cobalance.generation.backends.inpaint import InpaintOptions, open_backend as open_inpaint
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from cobalance.generation.image_request import ImageRequest, SourceImage
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Find


@pytest.fixture(scope="module")
def backend(pipelines: Find) -> DiffusionBackend:
    return open_inpaint(InpaintOptions(model=pipelines("sd-inpaint"), steps=2))


class TestInpaint(suite.ObjectKeptTests):
    name = "inpaint"
    model = "sd-inpaint"


@pytest.mark.parametrize(
    ("name", "steps"),
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


@pytest.mark.parametrize("name", ["sd-inpaint", "sdxl-inpaint", "flux-fill"])
def test_a_size_of_ones_own(pipelines: Find, ask: Ask, name: str) -> None:
    settings = InpaintOptions(model=pipelines(name), steps=1, width_px=72, height_px=96)
    suite.check_own_size(open_inpaint(settings), ask()[0])


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


@pytest.fixture(scope="module")
def painter(pipelines: Find) -> DiffusionBackend:
    settings = InpaintOptions(model=pipelines("sd-inpaint"), steps=2, paint="object")
    return open_inpaint(settings)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("size", [(60, 84), (37, 151), (101, 53), (200, 160)])
def test_the_object_is_painted_and_all_else_is_kept(
    painter: DiffusionBackend, ask: Ask, size: tuple[int, int], two: bool
) -> None:
    request = ask(1, *size, two=two)[0]
    assert request.source is not None
    made = painter.generate([request])[0]
    suite.check_kept(request, made, ~request.source.mask)
    assert np.array_equal(made.mask, request.source.mask)


@pytest.mark.parametrize("name", ["sd-inpaint", "sdxl-inpaint"])
@pytest.mark.parametrize("thin", suite.THIN, ids=str)
def test_the_thinnest_object_is_painted(
    pipelines: Find,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    thin: tuple[slice, slice],
) -> None:
    settings = InpaintOptions(model=pipelines(name), steps=1, paint="object")
    painter = open_inpaint(settings)
    unet = painter.runner.pipeline.unet
    masks = list[np.ndarray]()
    call = type(unet).forward

    def recorded(self: Any, sample: Any, *args: Any, **options: Any) -> Any:
        masks.append(sample[0, 4].numpy())  # after the four channels of the latents
        return call(self, sample, *args, **options)

    monkeypatch.setattr(type(unet), "forward", recorded)
    request = suite.with_object(ask(1, 64, 64)[0], thin)
    made = painter.generate([request])[0]
    assert request.source is not None
    suite.check_kept(request, made, ~request.source.mask)
    assert np.array_equal(masks[0], suite.cells_of(request.source.mask))


def test_two_objects_are_painted_in_one_pass_with_all_their_rims(
    painter: DiffusionBackend, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ask(1, 101, 53, two=True)[0]
    assert request.source is not None
    seen = list[np.ndarray]()
    pipeline = type(painter.runner.pipeline)
    call = pipeline.__call__

    def recorded(*args: object, **options: Any) -> object:
        seen.extend(np.asarray(mask) for mask in options["mask_image"])
        return call(*args, **options)

    monkeypatch.setattr(pipeline, "__call__", recorded)
    painter.generate([request])
    assert len(seen) == 1
    # a pixel of the model shows some of the object as soon as a corner of it does
    rows, columns = (np.arange(side + 1) / side for side in seen[0].shape)
    for row, column in np.argwhere(request.source.mask):
        down = (rows[1:] > row / 101) & (rows[:-1] < (row + 1) / 101)
        right = (columns[1:] > column / 53) & (columns[:-1] < (column + 1) / 53)
        assert (seen[0][np.ix_(down, right)] == 255).all()


def test_the_model_does_not_see_the_object_that_it_paints(
    painter: DiffusionBackend, ask: Ask
) -> None:
    request = ask(1, 64, 64)[0]
    assert request.source is not None
    repainted = request.source.image.copy()
    repainted[request.source.mask] = 77
    other = replace(request, source=replace(request.source, image=repainted))
    one, two = painter.generate([request])[0], painter.generate([other])[0]
    assert np.array_equal(one.image, two.image)


def test_an_object_of_ones_own_size(pipelines: Find, ask: Ask) -> None:
    settings = InpaintOptions(
        model=pipelines("sd-inpaint"), steps=1, width_px=72, height_px=96, paint="object"
    )
    request = ask()[0]
    made = open_inpaint(settings).generate([request])[0]
    assert request.source is not None
    image, mask, _ = fit_source(request.source, (96, 72))
    assert np.array_equal(made.image[~mask], image[~mask])
    assert made.kept is None


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
