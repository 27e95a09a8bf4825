import inspect
import shutil
from dataclasses import replace
from functools import wraps
from pathlib import Path

import numpy as np
import pytest

from cobalance.base.errors import OptionError, OutOfMemoryError
from cobalance.generation.backends.paste import PasteOptions, open_backend as open_paste
from cobalance.vision.models.loading import quiet
from tests.generation.backends.suite import Ask, Copied, Find, paste


@pytest.mark.parametrize(("name", "px"), [("sd3", 64), ("flux", 1024), ("flux-kontext", 1024)])
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
    with pytest.raises(EnoughError), quiet():
        pipeline(prompt="a cat", num_inference_steps=1)
    assert asked == [(px, px)]


@pytest.mark.parametrize("name", ["sd3", "flux", "flux-kontext"])
def test_a_size_of_ones_own_is_painted(others: Find, name: str) -> None:
    runner = paste(others(name)).runner
    assert runner.paint(["a cat"], [1], (64, 128), {}, {}).shape == (1, 64, 128, 3)


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


@pytest.mark.parametrize(
    ("name", "scale", "problem"),
    [
        ("flux", None, "FluxPipeline would ignore the negative prompt: its model was distilled"),
        ("flux-kontext", None, "FluxKontextPipeline would ignore the negative prompt"),
        ("sd3", 1.0, r"would ignore the negative prompt: the guidance scale is 1\.0"),
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


def test_a_negative_prompt_that_is_heeded(others: Find, ask: Ask) -> None:
    size = {"width_px": 64, "height_px": 64}
    images = [
        paste(others("sd3"), negative_prompt=words, **size).generate(ask())[0].image
        for words in ("", "people")
    ]
    assert not np.array_equal(*images)


def test_a_prompt_is_encoded_once(
    pipelines: Find, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = open_paste(PasteOptions(model=pipelines("sd-text2img"), steps=1))
    kind = type(backend.runner.pipeline)
    encode, asked = kind.encode_prompt, list[str]()

    @wraps(encode)
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
