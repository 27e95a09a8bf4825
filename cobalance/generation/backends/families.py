"""Published models that the backends run: licences, memory, steps, and a choice by quality."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GB_A_BILLION = 2
"""Gigabytes of a billion parameters in half precision."""


@dataclass(frozen=True)
class Family:
    """A published model of a family that runs, as its card describes it.

    Parameters
    ----------
    model : str
        Its name on the hub.
    licence : str
        As its card names it.
    parameters_bn : float
        Billions of parameters of the denoiser, the text encoders and the VAE together.
    steps : int
        Denoising steps of its card, or else of its pipeline.
    backends : tuple of str
        Names in `cobalance.generation.backends.BACKENDS`.
    making : mapping
        Options of the backend that its card asks for, and that the model does not say itself.
    note : str
        What else to know.
    """

    model: str
    licence: str
    parameters_bn: float
    steps: int
    backends: tuple[str, ...]
    making: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def memory_gb(self) -> float:
        """Gigabytes of its weights in half precision; images on their way come on top."""
        return GB_A_BILLION * self.parameters_bn


_FLUX_1 = "FLUX.1 [dev] Non-Commercial"

FAMILIES = (
    Family(
        "stable-diffusion-v1-5/stable-diffusion-v1-5",
        "CreativeML Open RAIL-M",
        1.1,
        50,
        ("paste", "brushnet"),
    ),
    Family(
        "stable-diffusion-v1-5/stable-diffusion-inpainting",
        "CreativeML Open RAIL-M",
        1.1,
        50,
        ("inpaint",),
    ),
    Family(
        "timbrooks/instruct-pix2pix",
        "MIT, with Open RAIL-M's limits",
        1.1,
        100,
        ("instruct",),
    ),
    Family(
        "diffusers/stable-diffusion-xl-1.0-inpainting-0.1",
        "CreativeML Open RAIL++-M",
        3.5,
        50,
        ("inpaint",),
    ),
    Family(
        "black-forest-labs/FLUX.2-klein-4B",
        "Apache-2.0",
        8.0,
        4,
        ("inpaint", "instruct", "paste"),
    ),
    Family(
        "Tongyi-MAI/Z-Image-Turbo",
        "Apache-2.0",
        10.3,
        8,
        ("inpaint", "paste"),
        {"steps": 8, "guidance_scale": 0.0},
    ),
    Family(
        "stabilityai/stable-diffusion-3.5-medium",
        "Stability Community",
        8.1,
        50,
        ("inpaint", "paste"),
    ),
    Family("black-forest-labs/FLUX.1-Fill-dev", _FLUX_1, 16.9, 50, ("inpaint",)),
    Family(
        "black-forest-labs/FLUX.1-Kontext-dev",
        _FLUX_1,
        16.9,
        28,
        ("inpaint", "instruct", "paste"),
    ),
    Family(
        "Qwen/Qwen-Image-Edit",
        "Apache-2.0",
        28.9,
        50,
        ("inpaint", "instruct"),
        note="inpaints at 1024 x 1024",
    ),
    Family("Qwen/Qwen-Image-Edit-2509", "Apache-2.0", 28.9, 50, ("instruct",)),
)
"""From small to large, those of one family together; docs/generation.md has them as a table."""

_PREFERRED = {
    # Four steps without guidance: the quickest of those that take a mask.
    "fast": ("black-forest-labs/FLUX.2-klein-4B",),
    # The largest that paint in few steps; SDXL is for cards that hold neither.
    "balanced": (
        "Tongyi-MAI/Z-Image-Turbo",
        "black-forest-labs/FLUX.2-klein-4B",
        "diffusers/stable-diffusion-xl-1.0-inpainting-0.1",
    ),
    "faithful": (),
}
"""Models by quality, the best first. Their licences allow any use that is lawful."""

QUALITIES = tuple(_PREFERRED)

# SDXL's images of 1024 x 1024 take about that on their way through its VAE.
_HEADROOM_GB = 3.0


def choose_family(quality: str, backend: str, memory_gb: float) -> Family | None:
    """The model that a quality takes; None for the backend's own default.

    Parameters
    ----------
    quality : str
        One of `QUALITIES`. ``faithful`` always takes the default, which is the papers' model.
    backend : str
        A name in `cobalance.generation.backends.BACKENDS`.
    memory_gb : float
        Memory of the GPU, 0 without one.

    Examples
    --------
    >>> choose_family("balanced", "inpaint", 16.0).model
    'diffusers/stable-diffusion-xl-1.0-inpainting-0.1'
    >>> choose_family("fast", "inpaint", 0.0) is None
    True
    """
    families = {family.model: family for family in FAMILIES}
    for model in _PREFERRED[quality]:
        family = families[model]
        if backend in family.backends and family.memory_gb + _HEADROOM_GB <= memory_gb:
            return family
    return None
