from dataclasses import replace
from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import pytest
import torch

from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.brushnet import BrushNetOptions
from cobalance.generation.backends.compositing.framing import fit_source
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from cobalance.generation.image_request import ImageRequest, SourceImage
from cobalance.vision.models.loading import quiet
from tests.generation.backends import suite
from tests.generation.backends.conftest import Open
from tests.generation.backends.suite import Ask, Find


@pytest.fixture(scope="module")
def backend(opened: Open) -> DiffusionBackend:
    return opened()


def source_of(request: ImageRequest) -> SourceImage:
    assert request.source is not None
    return request.source


def paint_without(parts: dict[str, Any], request: ImageRequest) -> Any:
    """What diffusers' own pipeline paints from the same words with the same noise."""
    generator = torch.Generator("cpu").manual_seed(request.seed & 0xFFFF_FFFF)
    with quiet():  # NumPy 2 warns about UniPC's arrays
        unipc = diffusers.UniPCMultistepScheduler.from_config(parts["scheduler"].config)
        plain = diffusers.StableDiffusionPipeline(
            **{**parts, "scheduler": unipc}, requires_safety_checker=False
        )
        plain.set_progress_bar_config(disable=True)
        return plain(
            request.prompt,
            height=64,
            width=64,
            num_inference_steps=2,
            generator=[generator],
            output_type="np",
        ).images


class TestBrushNet(suite.BackendTests):
    name = "brushnet"
    model = "sd-text2img"

    def test_both_models_are_recorded(self, backend: DiffusionBackend, opened: Open) -> None:
        about = backend.describe()
        assert about["pipeline"] == "StableDiffusionBrushNetPipeline"
        settings = about["settings"]
        assert settings["brushnet_model"] == "random_mask_brushnet_ckpt"
        assert settings["brushnet_revision"] is None
        assert settings["conditioning_scale"] == 1
        other = opened("zeros").describe()
        assert other["weights_sha256"] == about["weights_sha256"]
        digests = {one["settings"]["brushnet_weights_sha256"] for one in (about, other)}
        assert sorted(len(digest) for digest in digests) == [64, 64]


def test_it_is_made_as_in_the_authors_example(pipelines: Find, branches: Find) -> None:
    folder = Path(branches("random_mask_brushnet_ckpt"))
    settings = BrushNetOptions(
        model=pipelines("sd-text2img"),
        brushnet_model=str(folder.parent),
        brushnet_subfolder=folder.name,
    )
    about = BACKENDS.open("brushnet", settings).describe()
    assert about["scheduler"] == "UniPCMultistepScheduler"
    assert about["scheduler_config"]["beta_start"] == 0.00085
    assert about["scheduler_config"]["steps_offset"] == 1
    chosen = {name: about["settings"][name] for name in ("steps", "guidance_scale", "area_px")}
    assert chosen == {"steps": 50, "guidance_scale": 7.5, "area_px": 589_824}
    assert about["settings"]["conditioning_scale"] == 1
    assert about["settings"]["brushnet_model"] == "random_mask_brushnet_ckpt"


def test_the_preset_fast_has_fewer_steps(opened: Open) -> None:
    about = opened(preset="fast", steps=None).describe()
    assert about["scheduler"] == "DPMSolverMultistepScheduler"
    assert about["settings"]["steps"] == 20


@pytest.mark.parametrize("size", [(60, 84), (64, 64), (37, 151), (200, 160), (9, 300)])
def test_what_surrounds_the_object_is_kept_bit_by_bit(
    backend: DiffusionBackend, ask: Ask, size: tuple[int, int]
) -> None:
    request = ask(1, *size)[0]
    source = source_of(request)
    made = backend.generate([request])[0]
    assert made.image.shape == (*size, 3)
    assert made.image.dtype == np.uint8
    assert made.mask is not None
    assert np.array_equal(made.mask, source.mask)
    suite.check_kept(request, made, ~source.mask)


def test_two_objects_in_one_image(backend: DiffusionBackend, ask: Ask) -> None:
    request = ask(1, 61, 83)[0]
    mask = np.zeros((61, 83), bool)
    mask[0, 0] = mask[40:61, 60:83] = True
    source = SourceImage("i", "i.png", source_of(request).image, mask)
    request = replace(request, source=source)
    made = backend.generate([request])[0]
    suite.check_kept(request, made, ~mask)
    assert made.details == {"scale": 1.0, "box": [0, 0, 61, 83]}


def test_a_size_of_ones_own(opened: Open, ask: Ask) -> None:
    """The source is fitted to it, and no pixel promised."""
    request = ask()[0]
    made = opened(width_px=72, height_px=96).generate([request])[0]
    image, mask, _ = fit_source(source_of(request), (96, 72))
    assert made.image.shape == (96, 72, 3)
    assert made.kept is None
    assert made.mask is not None
    assert np.array_equal(made.mask, mask)
    assert np.array_equal(made.image[~mask], image[~mask])


@pytest.mark.parametrize(
    ("size", "area_px", "painted"),
    [
        ((64, 64), 64 * 64, (64, 64)),
        ((480, 640), 768 * 768, (664, 888)),
        ((640, 480), 768 * 768, (888, 664)),
        ((333, 500), 768 * 768, (624, 944)),
        ((100, 100), 768 * 768, (768, 768)),
    ],
)
def test_as_many_pixels_are_painted_as_asked_for(
    opened: Open,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    area_px: int,
    painted: tuple[int, int],
) -> None:
    backend = opened(area_px=area_px)
    asked: list[tuple[int, int]] = []

    def paint(*args: Any) -> Any:
        asked.append(args[2])
        return np.zeros((1, *args[2], 3), np.float32)

    monkeypatch.setattr(backend.runner, "paint", paint)
    assert backend.generate(ask(1, *size))[0].image.shape == (*size, 3)
    assert asked == [painted]


@pytest.mark.parametrize("guidance_scale", suite.GUIDANCE_SCALES)
@pytest.mark.parametrize("preset", ["faithful", "fast"])
def test_batches(
    opened: Open,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    guidance_scale: float | None,
    preset: str,
) -> None:
    backend = opened(steps=suite.STEPS, guidance_scale=guidance_scale, preset=preset)
    suite.check_batches(backend, ask(4, 64, 64), monkeypatch)


@pytest.mark.parametrize(("branch", "scale"), [("zeros", 1.0), ("random_mask_brushnet_ckpt", 0.0)])
def test_without_residuals_it_paints_what_the_base_paints(
    opened: Open,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    pipelines: Find,
    branch: str,
    scale: float,
) -> None:
    """Bit by bit."""
    request = ask(1, 64, 64)[0]
    backend = opened(branch, conditioning_scale=scale)
    painted = suite.Floats(backend, monkeypatch).of([request])
    with quiet():
        base = diffusers.StableDiffusionPipeline.from_pretrained(pipelines("sd-text2img"))
    assert np.array_equal(painted, paint_without(base.components, request))


def test_residuals_change_what_is_painted(
    opened: Open, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ask(1, 64, 64)[0]
    painted = {
        scale: suite.Floats(opened(conditioning_scale=scale), monkeypatch).of([request])
        for scale in (0.0, 0.5, 1.0)
    }
    assert np.abs(painted[1.0] - painted[0.0]).max() > 0.01
    assert np.abs(painted[1.0] - painted[0.5]).max() > 0.01


def test_the_model_sees_what_surrounds_the_object_and_the_mask_alone(
    backend: DiffusionBackend, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ask(1, 64, 64)[0]
    source = source_of(request)
    object_changed, rest_changed = source.image.copy(), source.image.copy()
    object_changed[source.mask] = 77
    rest_changed[~source.mask] = 77
    moved = np.roll(source.mask, 16, axis=0)
    floats = suite.Floats(backend, monkeypatch)

    def painted(image: Any, mask: Any) -> Any:
        changed = SourceImage("other", "other.png", image, mask)
        return floats.of([replace(request, source=changed)])

    before = floats.of([request])
    assert np.array_equal(before, painted(object_changed, source.mask))
    assert not np.array_equal(before, painted(rest_changed, source.mask))
    assert not np.array_equal(before, painted(source.image, moved))


@pytest.mark.parametrize("size", [(60, 84), (333, 500)])
def test_nothing_of_the_object_is_seen_in_resized_images(
    backend: DiffusionBackend, ask: Ask, size: tuple[int, int]
) -> None:
    request = ask(1, *size)[0]
    source = source_of(request)
    changed = source.image.copy()
    changed[source.mask] = 255 - changed[source.mask]
    other = SourceImage("other", "other.png", changed, source.mask)
    one, two = (backend.generate([replace(request, source=each)])[0] for each in (source, other))
    assert np.array_equal(one.image, two.image)


@pytest.mark.parametrize("window", [None, *suite.THIN], ids=str)
def test_the_condition_is_black_in_the_hole_and_says_what_is_kept(
    backend: DiffusionBackend,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    window: tuple[slice, slice] | None,
) -> None:
    """The hole is all cells with any of the object, however thin."""
    pipeline = backend.runner.pipeline
    seen: list[Any] = []
    original = type(pipeline.brushnet).forward

    def forward(self: Any, sample: Any, timestep: Any, condition: Any) -> Any:
        seen.append(condition)
        return original(self, sample, timestep, condition)

    monkeypatch.setattr(type(pipeline.brushnet), "forward", forward)
    request = ask(1, 64, 64)[0]
    if window is not None:
        request = suite.with_object(request, window)
    source = source_of(request)
    made = backend.generate([request])[0]
    suite.check_kept(request, made, ~source.mask)
    assert len(seen) == 2  # steps; guidance needs no second look
    cells = suite.cells_of(source.mask)
    hole = np.kron(cells, np.ones((8, 8), bool))
    black = np.where(hole[..., np.newaxis], 0, source.image).astype(np.float32)
    pixels = torch.from_numpy(black / 127.5 - 1).permute(2, 0, 1)[np.newaxis]
    with torch.no_grad():
        latents = pipeline.vae.encode(pixels).latent_dist.mean * 0.18215
    for condition in seen:
        assert condition.shape == (1, 5, 8, 8)
        torch.testing.assert_close(condition[:, :4], latents, rtol=0, atol=1e-5)
        assert np.array_equal(condition[0, 4].numpy(), ~cells)


def test_after_an_error_the_base_is_as_before(
    opened: Open, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = opened()
    request = ask(1, 64, 64)[0]
    parts = dict(backend.runner.pipeline.components)
    del parts["brushnet"]
    expected = paint_without(parts, request)

    def broken(*args: object, **options: object) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(type(backend.runner.pipeline.scheduler), "step", broken)
        with pytest.raises(RuntimeError):
            backend.generate([request])
    assert np.array_equal(paint_without(parts, request), expected)


def test_a_request_may_have_its_own_guidance(
    opened: Open, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    scales = [None, 15.0, 1.0, 15.0]
    requests = [
        replace(request, guidance_scale=scale)
        for request, scale in zip(ask(4, 64, 64), scales, strict=True)
    ]
    made = opened().generate(requests)
    for request, image in zip(requests, made, strict=True):
        alone = opened(guidance_scale=request.guidance_scale)
        expected = alone.generate([replace(request, guidance_scale=None)])[0]
        difference = np.abs(image.image.astype(int) - expected.image.astype(int))
        assert difference.max() <= 1  # of rounding in another batch
    other = opened().generate([replace(requests[1], guidance_scale=None)])[0]
    assert not np.array_equal(made[1].image, other.image)
