"""Published models that the backends run, with what decides between them."""

from dataclasses import dataclass

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
    note : str
        How it is to be set, where the model does not say that itself.
    """

    model: str
    licence: str
    parameters_bn: float
    steps: int
    backends: tuple[str, ...]
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
        "making.steps=8, making.guidance_scale=0",
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
        "inpaints at 1024 x 1024",
    ),
    Family("Qwen/Qwen-Image-Edit-2509", "Apache-2.0", 28.9, 50, ("instruct",)),
)
"""From small to large, those of one family together; docs/generation.md has them as a table."""
