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
from cobalance.ingest.images.arrays import ImageArray

if TYPE_CHECKING:
    from cobalance.generation.backends.pipelines.runner import PipelineRunner


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
        """Generate one image per request; equal model sizes and scales form a batch.

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
