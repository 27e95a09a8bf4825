import json
from dataclasses import replace

import numpy as np
import pytest

from generation.backends import BACKENDS
from generation.backends.compositing.cutout import paste_object, place_object
from generation.backends.compositing.framing import fit_source
from generation.backends.paste import PasteOptions
from generation.backends.paste import open_backend as open_paste
from generation.backends.pipelines.diffusion import DiffusionBackend
from graph.errors import JobBlockedError, OptionError
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


def test_the_fast_preset(pipelines: Find) -> None:
    about = open_paste(PasteOptions(model=pipelines("sd-text2img"), preset="fast")).describe()
    assert about["settings"]["steps"] == 20
    assert about["scheduler"] == "DPMSolverMultistepScheduler"
    assert about["scheduler_config"]["use_karras_sigmas"]
    json.dumps(about, allow_nan=False)


def test_seeds(backend: DiffusionBackend, ask: Ask) -> None:
    suite.check_seeds(backend, ask()[0])


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


def test_refusals(backend: DiffusionBackend, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.check_refusals(backend, ask()[0], monkeypatch)


def test_provenance(backend: DiffusionBackend) -> None:
    suite.check_provenance(backend, "paste", "sd-text2img")


@pytest.mark.parametrize("size", [(60, 84), (64, 64), (37, 151), (200, 160)])
def test_the_object_is_kept_bit_by_bit(
    backend: DiffusionBackend, ask: Ask, size: tuple[int, int]
) -> None:
    request = ask(1, *size)[0]
    made = backend.generate([request])[0]
    assert request.source is not None
    assert made.mask is not None
    assert made.image.shape == (*size, 3)
    assert made.image.dtype == np.uint8
    assert np.array_equal(made.mask, request.source.mask)
    assert np.array_equal(made.image[made.mask], request.source.image[made.mask])
    outside = ~made.mask
    assert (made.image[outside] != request.source.image[outside]).any(axis=1).mean() > 0.9
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
    request = ask(1, 60, 84)[0]
    assert request.source is not None
    made = open_paste(settings).generate([request])[0]
    image, mask, _ = fit_source(request.source, (96, 72))
    assert made.image.shape == (96, 72, 3)
    assert made.mask is not None
    assert np.array_equal(made.mask, mask)
    assert np.array_equal(made.image[mask], image[mask])


def test_a_seeded_place(pipelines: Find, ask: Ask) -> None:
    settings = PasteOptions(model=pipelines("sd-text2img"), steps=1, placement="resample")
    backend, request = open_paste(settings), ask()[0]
    first, again = backend.generate([request])[0], backend.generate([request])[0]
    assert suite.same(first, again)
    others = backend.generate([replace(request, seed=seed) for seed in range(5)])
    boxes = {tuple(made.details["box"]) for made in others if made.details}
    assert len(boxes) == 5
    for made in others:
        assert made.mask is not None
        assert made.details is not None
        assert 0.7 <= made.details["scale"] <= 1.3
        rows, columns = np.nonzero(made.mask)
        box = [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1]
        assert made.details["box"] == box


def test_a_prompt_is_encoded_once(
    pipelines: Find, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = open_paste(PasteOptions(model=pipelines("sd-text2img"), steps=1))
    kind = type(backend.runner.pipeline)
    encode, asked = kind.encode_prompt, list[str]()

    def counted(
        self: object, prompt: str | None = None, *args: object, **options: object
    ) -> object:
        if prompt is not None:
            asked.append(prompt)
        return encode(self, prompt, *args, **options)

    monkeypatch.setattr(kind, "encode_prompt", counted)
    requests = [replace(request, prompt="a photo of forest") for request in ask(4)]
    backend.generate(requests)
    backend.generate(requests[:2])
    backend.generate([replace(requests[0], prompt="sea")])
    assert asked == ["a photo of forest", "sea"]


def test_kept_embeddings_give_the_image_that_the_words_give(pipelines: Find, ask: Ask) -> None:
    negative = {"negative_prompt": "people", "model": pipelines("sd-text2img"), "steps": 2}
    backend = open_paste(PasteOptions.model_validate(negative))
    plain = backend.generate(ask(2))
    pipeline = backend.runner.pipeline
    pipeline.__class__ = type("OtherPipeline", (type(pipeline),), {})
    by_words = type(backend.runner)(
        pipeline,
        backend.runner.checkpoint,
        backend.runner.options,
        {},
        backend.runner.device,
        backend.runner.dtype,
    )
    backend.runner = by_words
    for one, other in zip(plain, backend.generate(ask(2)), strict=True):
        assert np.abs(one.image.astype(int) - other.image).max() <= 1


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


def test_nothing_of_the_sources_background_is_pasted() -> None:
    image = np.full((20, 20, 3), 200, np.uint8)
    mask = np.zeros((20, 20), bool)
    mask[8:12, 8:12] = True
    image[mask] = (10, 20, 30)
    background = np.full((20, 20, 3), 100, np.uint8)
    pasted = paste_object(background, image, mask, feather_px=3)
    assert (pasted[mask] == (10, 20, 30)).all()
    assert pasted.max() <= 100
    # a quarter less of the object at each pixel outwards: 100 - 90 · (3/4, 2/4, 1/4, 0)
    assert pasted[9, 12:17, 0].tolist() == [32, 55, 78, 100, 100]
    assert np.array_equal(paste_object(background, image, mask, 0)[~mask], background[~mask])


def test_a_placed_object_is_whole_and_has_its_own_colours() -> None:
    image = np.full((50, 70, 3), 255, np.uint8)
    mask = np.zeros((50, 70), bool)
    mask[5:45, 3:69] = True
    image[mask] = (9, 99, 199)
    for seed in range(20):
        placed, stands, scale = place_object(image, mask, (24, 80), np.random.default_rng(seed))
        assert stands.any()
        assert (placed[stands] == (9, 99, 199)).all()
        assert stands.sum() == pytest.approx(mask.sum() * scale**2, rel=0.1)
