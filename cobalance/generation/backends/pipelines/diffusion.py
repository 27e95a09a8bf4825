"""Base of backends with a diffusers pipeline: batches by size and scales, and provenance."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from cobalance.generation.backends.backend import SYNTHETIC_SOURCE, ImageOptions
from cobalance.generation.backends.compositing.cutout import to_image
from cobalance.generation.backends.compositing.framing import Size
from cobalance.generation.image_request import (
    GeneratedImage,
    GenerationError,
    ImageRequest,
    SourceImage,
)
from cobalance.graph.errors import JobBlockedError
from cobalance.graph.options import MayBePath
from cobalance.ingest.images.arrays import ImageArray
from cobalance.ingest.models.weight_files import PIPELINE_FILE

if TYPE_CHECKING:
    from cobalance.generation.backends.pipelines.runner import PipelineRunner
    from cobalance.ingest.models.checkpoints import Checkpoint


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


COMPOSITE = f"{SYNTHETIC_SOURCE}compositeWithTrainedAlgorithmicMedia"
"""IPTC's term for an image of which a model has made some, and a camera the rest."""
FAMILIES = {"Stable Diffusion": "StableDiffusion", "FLUX.1": "Flux(?!2)", "Qwen-Image": "QwenImage"}
"""Families of pipelines that are known to work, by how the names of their classes begin."""


@dataclass(frozen=True, eq=False)
class PipelineTask:
    """Inputs of the pipeline for one request, and the post-processing of its image.

    Parameters
    ----------
    size : tuple of int
        Height and width of the model's image.
    finish : callable
        Converts the model's image to the requested one.
    inputs : mapping of str to Any
        Further arguments of the pipeline beside prompt and seed: Pillow images by name.
    """

    size: Size
    finish: Callable[[ImageArray], GeneratedImage]
    inputs: Mapping[str, Any] = field(default_factory=dict)


class DiffusionBackend:
    """Backend with a diffusers pipeline; see `cobalance.generation.backends.backend.Backend`.

    Parameters
    ----------
    name : str
        The backend's.
    runner : PipelineRunner
        The model.
    prepare : callable
        Prepares the pipeline's inputs for a request's source and seed.
    settings : mapping, optional
        Further settings, for provenance; JSON values.
    """

    needs_source = True

    def __init__(
        self,
        name: str,
        runner: "PipelineRunner",
        prepare: Callable[[SourceImage, int], PipelineTask],
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.name, self.runner, self._prepare = name, runner, prepare
        self._settings = settings or {}

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Generate one image per request; those of the same model size and scales form a batch.

        Raises
        ------
        GenerationError
            A request has no source, or one that cannot be used at its size.
        OutOfMemoryError
            The batch is too large for the device.
        """
        works = [self._prepare(self._source_of(request), request.seed) for request in requests]
        positions: dict[tuple[Size, tuple[tuple[str, float], ...]], list[int]] = defaultdict(list)
        for position, (request, work) in enumerate(zip(requests, works, strict=True)):
            positions[work.size, tuple(request.scales.items())].append(position)
        made: dict[int, GeneratedImage] = {}
        for (size, scales), group in positions.items():
            names = works[group[0]].inputs
            painted = self.runner.paint(
                [requests[position].prompt for position in group],
                [requests[position].seed for position in group],
                size,
                {name: [works[position].inputs[name] for position in group] for name in names},
                dict(scales),
            )
            for position, pixels in zip(group, painted, strict=True):
                made[position] = works[position].finish(to_image(pixels))
        return [made[position] for position in range(len(requests))]

    def check_scales(self, variants: Sequence[Mapping[str, float]]) -> None:
        """Check the scales of a job's variants; see `PipelineRunner.check_scales`."""
        self.runner.check_scales(variants)

    def _source_of(self, request: ImageRequest) -> SourceImage:
        if request.source is None:
            raise GenerationError(
                f"The request {request.id} has no source image, and the backend {self.name} works "
                "on one. Give it an image of its class with the object's mask, or use another "
                "backend."
            )
        return request.source

    def describe(self) -> Mapping[str, Any]:
        """Model, settings and software of the backend, for provenance; JSON values."""
        from cobalance.ingest.models.loading import software

        described = self.runner.describe()
        return {
            "backend": self.name,
            "digital_source_type": COMPOSITE,
            **described,
            "settings": {**described["settings"], **self._settings},
            "software": software("cobalance", "torch", "diffusers", "transformers", "pillow"),
        }


def check_pipeline(checkpoint: "Checkpoint", latents: int, extra: int, wanted: str) -> None:
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
        raise JobBlockedError(
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
