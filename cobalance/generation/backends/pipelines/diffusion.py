"""Base of backends with a diffusers pipeline: batches by size and scales, and provenance."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cobalance.generation.backends.backend import SYNTHETIC_SOURCE
from cobalance.generation.backends.compositing.cutout import to_image, to_pillow
from cobalance.generation.backends.compositing.framing import (
    Size,
    cover_mask,
    crop_source,
    fit_source,
    kept_pixels,
    resize_image,
    resize_mask,
)
from cobalance.generation.backends.pipelines.runner import PipelineRunner
from cobalance.generation.image_request import (
    GeneratedImage,
    ImageRequest,
    SourceImage,
    require_source,
)
from cobalance.vision import ImageArray, MaskArray, find_box, software

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
        Converts the model's image to the requested one, or to the next task that it takes.
    inputs : mapping of str to Any
        Further arguments of the pipeline beside prompt and seed: Pillow images by name.
    """

    size: Size
    finish: "Callable[[ImageArray], GeneratedImage | PipelineTask]"
    inputs: Mapping[str, Any] = field(default_factory=dict)


def inpainting_task(
    source: SourceImage,
    size: Size,
    seen: Size,
    cell_px: int,
    *,
    paint_object: bool,
    black_out: bool = False,
) -> PipelineTask:
    """Task of a pipeline that paints the object of a source, or everything around it.

    Parameters
    ----------
    size, seen : tuple of int
        Height and width of the image to make, and of the one that the model paints.
    cell_px : int
        Side of the squares that the model's latents stand for; the object is masked in whole ones,
        as a pipeline takes one pixel of each for its mask, and may miss all of a thin object.
    black_out : bool
        Whether the object is black in what the model sees.
    """
    image, mask, scale = fit_source(source, size)
    details = {"scale": scale, "box": list(find_box(mask))}
    stays = ~mask if paint_object else mask

    def finish(painted: ImageArray) -> GeneratedImage:
        whole = np.where(stays[..., np.newaxis], image, resize_image(painted, size))
        return GeneratedImage(whole, mask, details, kept_pixels(stays, source))

    if paint_object:
        inputs = object_inputs(image, mask, seen, cell_px, black_out=black_out)
    else:
        to_paint = ~resize_mask(mask, seen)
        inputs = {"image": to_pillow(resize_image(image, seen)), "mask_image": to_pillow(to_paint)}
    return PipelineTask(seen, finish, inputs)


def whole_image_task(source: SourceImage, size: Size, seen: Size) -> PipelineTask:
    """Task of a pipeline that edits a whole image; no pixel is sure to stay.

    Images of another shape than the source's show as much of it as fills them, about its object.
    """
    image = to_pillow(resize_image(crop_source(source, size), seen))
    return PipelineTask(
        seen, lambda painted: GeneratedImage(resize_image(painted, size)), {"image": image}
    )


def object_inputs(
    image: ImageArray, mask: MaskArray, seen: Size, cell_px: int, *, black_out: bool
) -> dict[str, Any]:
    """The image and mask for a pipeline that paints an object; see `inpainting_task`."""
    # Blacked out before it is resized, so that nothing of the object is left beside the mask.
    visible = np.where(mask[..., np.newaxis], np.uint8(0), image) if black_out else image
    cells = cover_mask(mask, (seen[0] // cell_px, seen[1] // cell_px))
    to_paint = cells.repeat(cell_px, axis=0).repeat(cell_px, axis=1)
    return {"image": to_pillow(resize_image(visible, seen)), "mask_image": to_pillow(to_paint)}


@dataclass(eq=False)
class DiffusionBackend:
    """Backend with a diffusers pipeline; see `cobalance.generation.backends.backend.Backend`.

    Parameters
    ----------
    prepare : callable
        Prepares the pipeline's inputs for a request's source and seed.
    settings : mapping, optional
        Further settings, for provenance; JSON values.
    """

    name: str
    runner: PipelineRunner
    prepare: Callable[[SourceImage, int], PipelineTask]
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs_source = True

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Generate one image per request; equal model sizes and scales form a batch.

        Errors are those of `cobalance.generation.backends.backend.Backend.generate`.
        """
        tasks = {
            position: self.prepare(require_source(request, self.name), request.seed)
            for position, request in enumerate(requests)
        }
        images: dict[int, GeneratedImage] = {}
        while tasks:
            further: dict[int, PipelineTask] = {}
            for position, painted in self._paint(requests, tasks):
                result = tasks[position].finish(painted)
                if isinstance(result, PipelineTask):
                    further[position] = result
                else:
                    images[position] = result
            tasks = further
        return [images[position] for position in range(len(requests))]

    def _paint(
        self, requests: Sequence[ImageRequest], tasks: Mapping[int, PipelineTask]
    ) -> Iterator[tuple[int, ImageArray]]:
        """Run the tasks of some requests in batches; yield each request's position and image."""
        batches: dict[Any, list[int]] = {}
        for position, task in tasks.items():
            # In a batch, its image would be a reference of the others' prompts, too.
            needs_own_run = self.runner.takes_references and "image" in task.inputs
            run = position if needs_own_run else None
            kind = task.size, tuple(requests[position].scales.items()), run
            batches.setdefault(kind, []).append(position)

        for (size, scales, _), positions in batches.items():
            batch = [tasks[position] for position in positions]
            painted = self.runner.paint(
                [requests[position].prompt for position in positions],
                [requests[position].seed for position in positions],
                size,
                {name: [task.inputs[name] for task in batch] for name in batch[0].inputs},
                dict(scales),
            )
            yield from zip(positions, map(to_image, painted), strict=True)

    def check_scales(self, variants: Sequence[Mapping[str, float]]) -> None:
        """Check the scales of a job's variants; see `PipelineRunner.check_scales`."""
        self.runner.check_scales(variants)

    def describe(self) -> Mapping[str, Any]:
        """Model, settings and software of the backend, for provenance; JSON values."""
        described = self.runner.describe()
        return {
            "backend": self.name,
            "digital_source_type": COMPOSITE,
            **described,
            "settings": {**described["settings"], **self.settings},
            "software": software("cobalance", "torch", "diffusers", "transformers", "pillow"),
        }
