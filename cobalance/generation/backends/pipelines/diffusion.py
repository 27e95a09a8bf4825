"""Base of backends with a diffusers pipeline: batches by size and scales, and provenance."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cobalance.generation.backends.backend import SYNTHETIC_SOURCE
from cobalance.generation.backends.compositing.cutout import to_image
from cobalance.generation.backends.compositing.framing import Size
from cobalance.generation.image_request import (
    GeneratedImage,
    GenerationError,
    ImageRequest,
    SourceImage,
)
from cobalance.graph.errors import JobBlockedError
from cobalance.ingest.images.arrays import ImageArray
from cobalance.ingest.models.weight_files import PIPELINE_FILE

if TYPE_CHECKING:
    from cobalance.generation.backends.pipelines.runner import PipelineRunner
    from cobalance.ingest.models.checkpoints import Checkpoint


COMPOSITE = f"{SYNTHETIC_SOURCE}compositeWithTrainedAlgorithmicMedia"
"""IPTC's term for an image of which a model has made some, and a camera the rest."""


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
    """

    needs_source = True

    def __init__(
        self,
        name: str,
        runner: "PipelineRunner",
        prepare: Callable[[SourceImage, int], PipelineTask],
    ) -> None:
        self.name, self.runner, self._prepare = name, runner, prepare

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

        return {
            "backend": self.name,
            "digital_source_type": COMPOSITE,
            **self.runner.describe(),
            "software": software("cobalance", "torch", "diffusers", "transformers", "pillow"),
        }


def check_channels(checkpoint: "Checkpoint", latents: int, extra: int, wanted: str) -> None:
    """Reject a pipeline trained for another task before its weights are loaded.

    diffusers loads a U-Net for another task without complaint, and ignores the inputs that it does
    not take. It also loads a ControlNet's pipeline, which then fails without its guiding picture.

    Parameters
    ----------
    checkpoint : Checkpoint
        A pipeline; one without a U-Net passes.
    latents, extra : int
        How many latent images the U-Net must take, and how many channels beside them.
    wanted : str
        The kind that is needed, with an example.

    Raises
    ------
    JobBlockedError
        The pipeline needs a picture to guide it, makes videos, or has no latents; its U-Net takes
        another number of channels.
    """
    index = checkpoint.read_config(PIPELINE_FILE)
    unet = checkpoint.read_config("unet/config.json")
    saved_as = str(index.get("_class_name", ""))
    problem = None
    if "Control" in saved_as:
        problem = "needs a picture that guides it, which no backend gives"
    elif saved_as.startswith("Helios"):
        problem = "makes videos"
    elif unet and not {"vae", "movq"} & set(index):
        problem = (
            "paints small pictures pixel by pixel, without latents, and no backend enlarges them"
        )
    if problem is not None:
        raise JobBlockedError(
            f"The model {checkpoint.name} is of the wrong kind: {saved_as or 'it'} {problem}. Give "
            f"{wanted}."
        )
    if not unet:
        return
    channels = unet.get("in_channels", 4)
    needed = latents * int(checkpoint.read_config("vae/config.json").get("latent_channels", 4))
    if channels != needed + extra:
        raise JobBlockedError(
            f"The model {checkpoint.name} is of the wrong kind: its U-Net takes {channels} "
            f"channels, not {needed + extra}. Give {wanted}."
        )
