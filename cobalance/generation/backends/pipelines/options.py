"""Options that all backends with a diffusers pipeline share, and the pipelines that they take."""

import re
from typing import Annotated, Literal

from pydantic import Field

from cobalance.base import JobBlockedError, MayBePath
from cobalance.generation.backends.backend import ImageOptions
from cobalance.vision import PIPELINE_FILE, Checkpoint

FAMILIES = {"Stable Diffusion": "StableDiffusion", "FLUX.1": "Flux(?!2)", "Qwen-Image": "QwenImage"}
"""Families of pipelines that are known to work, by how the names of their classes begin."""


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


def check_pipeline(checkpoint: Checkpoint, latents: int, extra: int, wanted: str) -> None:
    """Reject a pipeline of another family or task by its files, before its weights are loaded.

    diffusers loads a U-Net for another task without complaint, and ignores the inputs that it does
    not take.

    Parameters
    ----------
    checkpoint : Checkpoint
        A model; one that declares no pipeline passes, and cannot be loaded as one.
    latents, extra : int
        How many latent images a U-Net must take, and how many channels beside them.
    wanted : str
        The kind that is needed, with an example.

    Raises
    ------
    JobBlockedError
        The pipeline is not of `FAMILIES`, needs a picture to guide it, or was distilled to paint
        without guidance; its U-Net takes another number of channels.
    """
    saved_as = str(checkpoint.read_config(PIPELINE_FILE).get("_class_name", ""))
    unet = checkpoint.read_config("unet/config.json")

    problem = None
    if "Control" in saved_as:
        problem = f"{saved_as} needs a picture that guides it, which no backend gives"
    elif saved_as and find_family(saved_as) is None:
        problem = f"{saved_as} is not of the families {', '.join(FAMILIES)}"
    elif unet.get("time_cond_proj_dim") is not None:
        problem = "its U-Net was distilled to paint without guidance"
    elif unet:
        channels = unet.get("in_channels", 4)
        images = latents * int(checkpoint.read_config("vae/config.json").get("latent_channels", 4))
        if channels != images + extra:
            problem = f"its U-Net takes {channels} channels, not {images + extra}"

    if problem is not None:
        raise wrong_kind(checkpoint, problem, wanted)


def wrong_kind(checkpoint: Checkpoint, problem: str, wanted: str) -> JobBlockedError:
    """The error for a model that does not fit a backend."""
    return JobBlockedError(
        f"The model {checkpoint.name} is of the wrong kind: {problem}. Give {wanted}."
    )


def find_family(pipeline: str) -> str | None:
    """Find the family of a pipeline by the name of its class; None if it is of no known one.

    Examples
    --------
    >>> find_family("StableDiffusionXLInpaintPipeline"), find_family("KandinskyPipeline")
    ('Stable Diffusion', None)
    """
    return next((name for name, sign in FAMILIES.items() if re.match(sign, pipeline)), None)
