"""Settings of a job as they are checked before it is created."""

import os

import pytest

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.workflows.order import settings as order_settings
from cobalance.workflows.order.settings import check_settings


@pytest.mark.parametrize(
    "given", [{"recipe": "alia"}, {"recipe": "alia", "filters": {"confidence": {"model": ""}}}]
)
def test_a_filter_without_what_it_needs_is_refused(given):
    with pytest.raises(OptionError, match=r"confidence needs the folder.*filters\.confidence\."):
        check_settings(given)


def test_paths_of_filters_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"recipe": "alia", "filters": {"confidence": {"model": "./net"}, "sanity": {}}}
    checked = check_settings(given)
    assert checked["filters"]["confidence"] == {"model": os.path.join(tmp_path, "net")}


KLEIN, Z_IMAGE = "black-forest-labs/FLUX.2-klein-4B", "Tongyi-MAI/Z-Image-Turbo"
SDXL = "diffusers/stable-diffusion-xl-1.0-inpainting-0.1"


@pytest.fixture
def gpu_of(monkeypatch):
    """A function that sets the memory of the machine's GPU, in GB."""
    return lambda size_gb: monkeypatch.setattr(order_settings, "gpu_memory_gb", lambda: size_gb)


@pytest.mark.parametrize(
    ("quality", "recipe", "size_gb", "making"),
    [
        ("fast", "inpaint", 24, {"preset": "fast", "model": KLEIN}),
        ("fast", "inpaint", 16, {"preset": "fast"}),
        ("fast", "instruct", 24, {"preset": "fast", "model": KLEIN}),
        (
            "balanced",
            "inpaint",
            24,
            {"preset": "fast", "model": Z_IMAGE, "steps": 8, "guidance_scale": 0.0},
        ),
        ("balanced", "instruct", 24, {"preset": "fast", "model": KLEIN}),
        ("balanced", "inpaint", 12, {"preset": "fast", "model": SDXL}),
        ("balanced", "paste", 12, {"preset": "fast"}),
        ("faithful", "inpaint", 80, {"preset": "faithful"}),
        # Without a quality: the paper's model where there is a paper.
        (None, "inpaint", 80, {}),
        (None, "scene", 80, {"paint": "object", "preset": "fast", "model": KLEIN}),
        (None, "scene", 0, {"paint": "object", "preset": "fast"}),
    ],
)
def test_a_quality_is_a_model_that_fits(gpu_of, quality, recipe, size_gb, making):
    gpu_of(size_gb)
    named = {} if quality is None else {"quality": quality}
    checked = check_settings({"recipe": recipe, **named})
    assert checked.get("making", {}) == making
    assert "quality" not in checked


def test_a_model_that_is_named_is_not_replaced(gpu_of):
    gpu_of(80)
    checked = check_settings({"recipe": "scene", "making": {"model": "mine/own"}})
    assert checked["making"] == {"paint": "object", "model": "mine/own"}
    with pytest.raises(OptionError, match="Leave the model out, or the quality"):
        check_settings({"recipe": "inpaint", "quality": "fast", "making": {"model": "mine/own"}})


def test_an_option_that_is_set_stays_beside_a_quality(gpu_of):
    gpu_of(24)
    values = {"recipe": "inpaint", "quality": "balanced", "making": {"steps": 12}}
    assert check_settings(values)["making"]["steps"] == 12


def test_a_quality_that_is_unknown_or_of_no_use_is_refused(gpu_of):
    gpu_of(24)
    with pytest.raises(UnknownNameError, match="balanced, faithful, fast"):
        check_settings({"recipe": "inpaint", "quality": "best"})
    with pytest.raises(OptionError, match="procedural has no quality"):
        check_settings({"recipe": "procedural", "quality": "fast"})
