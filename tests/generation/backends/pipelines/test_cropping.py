"""Objects that are painted in crops: what the model sees, and what stays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from cobalance.base.errors import OptionError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.inpaint import InpaintOptions, open_backend as open_inpaint
from cobalance.generation.backends.pipelines import cropping
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from cobalance.generation.image_request import ImageRequest, SourceImage
from tests.generation.backends import suite
from tests.generation.backends.suite import Ask, Find

masks = arrays(bool, strategies.tuples(*[strategies.integers(1, 60)] * 2))


@pytest.fixture(scope="module")
def painter(pipelines: Find) -> DiffusionBackend:
    settings = {"model": pipelines("sd-inpaint"), "steps": 2, "paint": "object", "crop": True}
    return open_inpaint(InpaintOptions.model_validate(settings))


def two_far_apart() -> ImageRequest:
    image = np.random.default_rng(1).integers(0, 255, (240, 400, 3), dtype=np.uint8)
    mask = np.zeros((240, 400), bool)
    mask[10:30, 20:50] = mask[200:220, 330:350] = True
    return ImageRequest("q", "bird", (), "a cat", 7, SourceImage("i", "i.png", image, mask))


def changed(request: ImageRequest, image: np.ndarray) -> np.ndarray:
    assert request.source is not None
    return (image != request.source.image).any(axis=2)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("size", [(60, 84), (37, 151), (300, 200)])
def test_all_outside_the_objects_stays(
    painter: DiffusionBackend, ask: Ask, size: tuple[int, int], two: bool
) -> None:
    request = ask(1, *size, two=two)[0]
    assert request.source is not None
    made = painter.generate([request])[0]
    mask = request.source.mask
    assert not changed(request, made.image)[~mask].any()
    inner = ndimage.binary_erosion(mask, iterations=2, border_value=1)
    assert changed(request, made.image)[inner].mean() > 0.9
    assert made.kept is not None
    assert np.array_equal(made.kept, ~mask)
    assert np.array_equal(made.mask, mask)


def test_objects_far_apart_are_painted_in_turn_each_at_the_models_own_size(
    painter: DiffusionBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = two_far_apart()
    assert request.source is not None
    seen = []
    pipeline = type(painter.runner.pipeline)
    call = pipeline.__call__

    def recorded(*args: object, **options: Any) -> object:
        seen.extend(options["image"])
        return call(*args, **options)

    monkeypatch.setattr(pipeline, "__call__", recorded)
    made = painter.generate([request])[0]
    # Half of the longer side at each side, and 16 pixels at least.
    assert made.details["crops"] == [[0, 4, 46, 66], [184, 314, 236, 366]]
    areas = [picture.width * picture.height for picture in seen]
    assert areas == pytest.approx([64 * 64] * 2, rel=0.3)
    assert not changed(request, made.image)[~request.source.mask].any()

    # Two such requests are two runs of the model, not four.
    seen.clear()
    monkeypatch.undo()
    runs = []
    paint = painter.runner.paint

    def counted(prompts: Any, *args: Any) -> np.ndarray:
        runs.append(len(prompts))
        return paint(prompts, *args)

    monkeypatch.setattr(painter.runner, "paint", counted)
    painter.generate([request, request])
    assert runs == [2, 2]


def test_the_new_passes_into_the_old_within_the_outline(
    painter: DiffusionBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted = []

    def constant(*args: Any) -> np.ndarray:
        painted.append(args)
        return np.full((len(args[0]), *args[2], 3), 0.5, np.float32)

    monkeypatch.setattr(painter.runner, "paint", constant)
    request = two_far_apart()
    made = painter.generate([request])[0]
    assert len(painted) == len(made.details["crops"]) == 2
    assert request.source is not None
    inner = cropping.feather_inside(request.source.mask, 2) == 1
    assert (made.image[inner] == 128).all()
    rim = request.source.mask & ~inner
    expected = cropping.feather_inside(request.source.mask, 2)[rim][:, np.newaxis]
    mixed = request.source.image[rim] * (1 - expected) + 128 * expected
    assert np.abs(made.image[rim] - mixed).max() <= 0.5


def test_a_small_object_has_more_of_the_models_pixels(pipelines: Find) -> None:
    mask = np.zeros((3000, 4000), bool)
    mask[1400:1600, 1900:2100] = True
    image = np.zeros((3000, 4000, 3), np.uint8)
    request = ImageRequest("q", "bird", (), "a cat", 7, SourceImage("i", "i.png", image, mask))

    shares = {}
    for crop in (False, True):
        options = {"model": pipelines("sd-inpaint"), "paint": "object", "crop": crop}
        backend = open_inpaint(InpaintOptions.model_validate(options))
        assert request.source is not None
        task = backend.prepare(request.source, 7)
        shares[crop] = np.count_nonzero(np.asarray(task.inputs["mask_image"]))
    # A model of 64 pixels sees it as one square of 8 in the whole image, and on 32 by 32 in a crop.
    assert shares[True] >= 2 * shares[False]
    assert shares[True] == 32 * 32


@pytest.mark.parametrize("thin", suite.THIN, ids=str)
def test_the_thinnest_object_is_painted(
    painter: DiffusionBackend, ask: Ask, thin: tuple[slice, slice]
) -> None:
    request = suite.with_object(ask(1, 64, 64)[0], thin)
    made = painter.generate([request])[0]
    assert request.source is not None
    assert changed(request, made.image)[request.source.mask].mean() > 0.9
    assert not changed(request, made.image)[~request.source.mask].any()


def test_the_surroundings_are_not_painted_in_crops() -> None:
    with pytest.raises(OptionError) as caught:
        BACKENDS.check("inpaint", {"crop": True})
    assert str(caught.value) == (
        "The backend inpaint: crop paints the object in a crop of the image. Set paint to object."
    )


@given(masks, strategies.floats(0, 3))
def test_each_object_is_in_one_crop_and_no_two_overlap(mask: np.ndarray, context: float) -> None:
    crops = cropping.find_crops(mask, context)
    covered = np.zeros(mask.shape, int)
    for crop in crops:
        covered[crop.slices] += 1
    assert (covered[mask] == 1).all()
    assert covered.max(initial=0) <= 1
    assert len(crops) <= cropping.MOST_CROPS
    assert bool(crops) == bool(mask.any())


@given(masks, strategies.integers(0, 5))
def test_weights_are_of_the_mask_alone_and_reach_1(mask: np.ndarray, width_px: int) -> None:
    weights = cropping.feather_inside(mask, width_px)
    assert (weights[~mask] == 0).all()
    assert (weights[mask] > 0).all()
    assert weights.max(initial=0) <= 1
    objects, n_objects = ndimage.label(mask, np.ones((3, 3)))
    for number in range(1, n_objects + 1):
        assert weights[objects == number].max() == 1
    if width_px == 0:
        assert (weights[mask] == 1).all()


def test_many_specks_share_one_crop() -> None:
    mask = np.zeros((900, 900), bool)
    mask[50::150, 50::150] = True
    (crop,) = cropping.find_crops(mask, 0.5)
    rows, columns = np.nonzero(mask)
    assert crop.top <= rows.min() < rows.max() < crop.bottom
    assert crop.left <= columns.min() < columns.max() < crop.right


def test_crops_are_painted_by_brushnet_too(opened: Callable[..., Any], ask: Ask) -> None:
    backend = opened(crop=True, context=1.0)
    request = ask(1, 200, 160)[0]
    made = backend.generate([request])[0]
    assert request.source is not None
    assert not changed(request, made.image)[~request.source.mask].any()
    assert changed(request, made.image)[request.source.mask].mean() > 0.9
    assert len(made.details["crops"]) == 1
