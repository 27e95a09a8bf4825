"""What every backend does: make images for a batch of requests, and say with what it makes them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from pydantic import Field

from generation.image_request import GeneratedImage, ImageRequest
from graph.options import Options

Preset = Literal["faithful", "fast"]

SYNTHETIC_SOURCE = "http://cv.iptc.org/newscodes/digitalsourcetype/"
"""What an IPTC digital source type begins with."""


class BackendSettings(Options):
    """How to make images; a backend refuses what it cannot do, and ignores what it has no use for.

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
    width_px, height_px : int or None
        Size of the images, multiples of 8; None for the source's size, or the model's own.
    steps : int or None
        Denoising steps; None for the preset's.
    guidance_scale, image_guidance_scale : float or None
        How closely to follow the prompt, and for edits the source; None for the preset's.
    negative_prompt : str
        What not to show.
    strength : float
        For inpainting: how much of what is there may change, up to 1.
    placement : {"keep", "resample"}
        For pasting: the object where it is in its own image, or at a seeded place and size.
    feather_px : float
        For pasting: how far the edge of the object fades, outwards, so that none of its own pixels
        changes.
    device, dtype : str
        ``auto`` for a GPU and half precision where there is one; else as torch names them.
    compile : bool
        Compile the denoiser; with images of one size and whole batches it is compiled once.
    offload : {"none", "model", "sequential"}
        For small cards: keep the model, or its layers, in main memory while they do not compute.
    """

    model: str | None = None
    revision: str | None = None
    offline: bool = False
    preset: Preset = "faithful"
    width_px: int | None = Field(default=None, ge=8, le=4096, multiple_of=8)
    height_px: int | None = Field(default=None, ge=8, le=4096, multiple_of=8)
    steps: int | None = Field(default=None, ge=1, le=1000)
    guidance_scale: float | None = Field(default=None, ge=0)
    image_guidance_scale: float | None = Field(default=None, ge=1)
    negative_prompt: str = ""
    strength: float = Field(default=1.0, gt=0, le=1)
    placement: Literal["keep", "resample"] = "keep"
    feather_px: float = Field(default=2.0, ge=0, le=64)
    device: str = "auto"
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    compile: bool = False
    offload: Literal["none", "model", "sequential"] = "none"


class Backend(Protocol):
    """Makes images. It is opened once a process, and used by one thread at a time.

    Attributes
    ----------
    needs_source : bool
        Whether each request must have a source.
    """

    needs_source: bool

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Make one image for each request, in their order.

        An image depends on its request, on the backend's settings and, in half precision by a grey
        level or two, on what else is in the batch; never on what was made before.

        Raises
        ------
        GenerationError
            A request cannot be made.
        OutOfMemoryError
            The batch is too large for the device.
        """
        ...

    def describe(self) -> Mapping[str, Any]:
        """What the images are made with, for their provenance; for JSON.

        ``backend``, ``digital_source_type`` (an IPTC term), and for models ``model``, ``revision``
        (a commit, or None for a folder), ``weights_sha256``, ``variant``, ``pipeline``,
        ``scheduler``, ``scheduler_config``, ``settings``, ``device``, ``dtype`` and ``software``, a
        mapping of package to version.
        """
        ...
