"""Options that all backends with a diffusers pipeline share."""

from typing import Annotated, Literal

from pydantic import Field

from cobalance.base import MayBePath
from cobalance.generation.backends.backend import ImageOptions


class DiffusionOptions(ImageOptions):
    """Base of the options of diffusers backends.

    Parameters
    ----------
    model : str or None
        A folder, or a repository of the hub as ``owner/name``; None for the backend's own default.
    revision : str or None
        The hub's commit, tag or branch. It is resolved to a commit once, and that is recorded.
    offline : bool
        Load from this machine only.
    preset : {"faithful", "fast"}
        ``faithful`` follows the paper and the model's card; ``fast`` takes fewer steps.
    steps : int or None
        Denoising steps; None for the preset's.
    guidance_scale : float or None
        How closely to follow the prompt; None for the pipeline's own.
    negative_prompt : str
        What not to show.
    device, dtype : str
        ``auto`` for a GPU and half precision where there is one; else as torch names them.
    compile : bool
        Compile the denoiser; with images of one size and whole batches it is compiled once.
    offload : {"none", "model", "sequential"}
        For small cards: keep the model, or its layers, in main memory while they do not compute.
    """

    model: Annotated[str | None, MayBePath()] = None
    revision: str | None = None
    offline: bool = False
    preset: Literal["faithful", "fast"] = "faithful"
    steps: int | None = Field(default=None, ge=1, le=1000)
    guidance_scale: float | None = Field(default=None, ge=0)
    negative_prompt: str = ""
    device: str = "auto"
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    compile: bool = False
    offload: Literal["none", "model", "sequential"] = "none"
