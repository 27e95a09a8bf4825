"""Scales of single requests: which ones the pipeline gets, and which are refused."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.inpaint import InpaintOptions, open_backend as open_inpaint
from cobalance.generation.backends.instruct import InstructOptions, open_backend as open_instruct
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.jobs.variants import Variant, check_scales
from tests.generation.backends.suite import Ask, Find, paste

SMALL = {"steps": 2, "width_px": 64, "height_px": 64}
SCALES = (7.5, 9.5, 15.0)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Mapping[str, Any]]]:
    """The arguments of all calls of a backend's pipeline."""

    def record(backend: DiffusionBackend) -> list[Mapping[str, Any]]:
        calls = list[Mapping[str, Any]]()
        kind = type(backend.runner.pipeline)
        call = kind.__call__

        def recorded(self: object, **options: Any) -> object:
            calls.append(options)
            return call(self, **options)

        recorded.__signature__ = inspect.signature(call)  # type: ignore[attr-defined]
        monkeypatch.setattr(kind, "__call__", recorded)
        return calls

    return record


def test_thirty_candidates_have_ten_of_each_of_three_scales(
    pipelines: Find, ask: Ask, called: Callable[..., list[Mapping[str, Any]]]
) -> None:
    options = InpaintOptions(model=pipelines("sd-inpaint"), paint="object", steps=1)
    backend = open_inpaint(options)
    calls = called(backend)
    requests = [
        replace(one, guidance_scale=SCALES[at % 3], variant=at % 3)
        for at, one in enumerate(ask(30))
    ]
    for start in range(0, 30, 16):  # in chunks, as a worker makes them
        backend.generate(requests[start : start + 16])
    got = Counter[float]()
    for call in calls:
        got[call["guidance_scale"]] += len(call["prompt_embeds"])
    assert got == dict.fromkeys(SCALES, 10)
    assert len(calls) == 6


def test_a_request_gets_its_own_scales_in_any_batch(
    pipelines: Find, ask: Ask, called: Callable[..., list[Mapping[str, Any]]]
) -> None:
    own = {"model": pipelines("sd-ip2p"), "steps": 2}
    mixed = open_instruct(InstructOptions.model_validate(own))
    wanted = [(9.5, 1.5), (15.0, 1.5), (None, None), (9.5, None), (9.5, 1.5), (1.0, None)]
    requests = [
        replace(one, guidance_scale=text, image_guidance_scale=image)
        for one, (text, image) in zip(ask(6), wanted, strict=True)
    ]
    calls = called(mixed)
    made = mixed.generate(requests)
    got = [(call["guidance_scale"], call["image_guidance_scale"]) for call in calls]
    assert got == [(9.5, 1.5), (15.0, 1.5), (7.5, 1.5), (9.5, 1.5), (1.0, 1.5)]
    assert [len(call["prompt_embeds"]) for call in calls] == [2, 1, 1, 1, 1]
    for request, image in zip(requests, made, strict=True):
        given = request.scales
        alone = open_instruct(InstructOptions.model_validate({**own, **given}))
        plain = replace(request, guidance_scale=None, image_guidance_scale=None)
        assert np.abs(alone.generate([plain])[0].image.astype(int) - image.image).max() <= 1


def test_embeddings_are_kept_apart_with_and_without_guidance(pipelines: Find, ask: Ask) -> None:
    """A prompt's embeddings for one are of no use for the other: there is no negative one."""
    model = pipelines("sd-text2img")
    own = {"negative_prompt": "people"}
    mixed = paste(model, **own)
    for scale in (7.5, 1.0, 7.5, 1.0):
        request = replace(ask()[0], guidance_scale=scale)
        alone = paste(model, **({} if scale == 1 else own), guidance_scale=scale)
        expected = alone.generate([replace(request, guidance_scale=None)])[0]
        assert np.array_equal(mixed.generate([request])[0].image, expected.image)


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("pipelines", "sd-text2img"),
        ("pipelines", "sdxl-text2img"),
        ("others", "flux"),
        ("others", "flux-kontext"),
        ("others", "sd3"),
    ],
)
def test_a_scale_is_refused_just_where_it_changes_nothing(
    request: pytest.FixtureRequest, ask: Ask, folder: str, name: str
) -> None:
    backend = paste(request.getfixturevalue(folder)(name), **SMALL)
    one = ask()[0]
    low, high = (
        backend.generate([replace(one, guidance_scale=scale)])[0].image for scale in (3, 15)
    )
    try:
        backend.check_scales([{"guidance_scale": 3.0}, {"guidance_scale": 15.0}])
    except OptionError as error:
        assert "would ignore the variants' guidance_scale" in str(error)  # noqa: PT017
        assert np.array_equal(low, high)
    else:
        assert not np.array_equal(low, high)


@pytest.mark.parametrize("name", ["sd-inpaint", "sdxl-inpaint", "flux-fill"])
def test_inpainting_heeds_its_scale(pipelines: Find, ask: Ask, name: str) -> None:
    backend = open_inpaint(InpaintOptions.model_validate({"model": pipelines(name), **SMALL}))
    backend.check_scales([{"guidance_scale": 3.0}, {"guidance_scale": 15.0}, {}])
    low, high = (
        backend.generate([replace(ask()[0], guidance_scale=scale)])[0].image for scale in (3, 15)
    )
    assert not np.array_equal(low, high)


def test_a_scale_for_the_image_where_there_is_none(pipelines: Find) -> None:
    backend = open_inpaint(InpaintOptions(model=pipelines("sd-inpaint")))
    with pytest.raises(OptionError, match="InpaintPipeline has no image_guidance_scale, and would"):
        backend.check_scales([{"image_guidance_scale": 1.5}])


def test_guidance_that_is_off_in_some_variants(pipelines: Find) -> None:
    backend = open_instruct(InstructOptions(model=pipelines("sd-ip2p")))
    with pytest.raises(OptionError, match=r"guidance_scale of 1 turns guidance off, as any other"):
        backend.check_scales([{"guidance_scale": 1.0}, {"guidance_scale": 9.5}])
    with pytest.raises(OptionError, match=r"of 0\.5 turns guidance off.*above 1 in each variant"):
        backend.check_scales([{"guidance_scale": 0.5}, {}])
    with pytest.raises(OptionError, match="would ignore the variants' image_guidance_scale"):
        backend.check_scales([{"guidance_scale": 1.0, "image_guidance_scale": 1.5}])
    backend.check_scales([{"guidance_scale": 1.0}, {"guidance_scale": 1.0}])
    off = open_instruct(InstructOptions(model=pipelines("sd-ip2p"), guidance_scale=1))
    with pytest.raises(OptionError, match=r"image_guidance_scale: the guidance_scale is 1, which"):
        off.check_scales([{"image_guidance_scale": 1.5}, {"image_guidance_scale": 2.0}])


def test_a_negative_prompt_without_guidance_in_the_variants(pipelines: Find) -> None:
    backend = paste(pipelines("sd-text2img"), negative_prompt="people")
    with pytest.raises(OptionError, match=r"the negative prompt: the guidance scale is 1\.0"):
        backend.check_scales([{"guidance_scale": 1.0}])


def test_backends_that_have_no_use_for_scales() -> None:
    heeding = BACKENDS.open("procedural", {"paint": "object"})
    variants = [Variant(guidance_scale=scale) for scale in SCALES]
    check_scales(variants, heeding, "procedural")
    for options, scale in (
        ({}, Variant(guidance_scale=7.5)),
        ({"paint": "object"}, Variant(guidance_scale=0)),
        ({"paint": "object"}, Variant(image_guidance_scale=2)),
    ):
        backend = BACKENDS.open("procedural", options)
        with pytest.raises(OptionError, match=r"procedural would ignore the variants' .*Leave it"):
            check_scales([Variant(), scale], backend, "procedural")
        check_scales([Variant(prompt="{noun}")], backend, "procedural")

    class Plain:
        needs_source = False
        generate = describe = None

    with pytest.raises(OptionError, match="plain would ignore the guidance_scale of the variants"):
        check_scales(variants, Plain(), "plain")  # type: ignore[arg-type]


def test_a_job_cannot_be_ordered_with_a_scale_that_its_backend_does_not_have() -> None:
    with pytest.raises(OptionError, match="inpaint would ignore the image_guidance_scale of the"):
        read_job_settings({"recipe": "inpaint", "variants": [{"image_guidance_scale": 2}]})
    both = {"guidance_scale": 9.5, "image_guidance_scale": 2}
    assert read_job_settings({"recipe": "instruct", "variants": [both]}).variants[0].scales == both
