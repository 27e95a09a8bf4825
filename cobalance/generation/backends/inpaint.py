"""Backend that inpaints everything around the object, or the object itself."""

from functools import partial
from typing import Literal

from pydantic import Field

from cobalance.base import Plugin
from cobalance.generation.backends.compositing.framing import choose_output_size
from cobalance.generation.backends.pipelines.cropping import CropOptions, cropped_task
from cobalance.generation.backends.pipelines.diffusion import (
    DiffusionBackend,
    PipelineTask,
    inpainting_task,
)
from cobalance.generation.backends.pipelines.kinds import choose_inpainting
from cobalance.generation.backends.pipelines.options import DiffusionOptions
from cobalance.generation.backends.pipelines.runner import PipelineRunner, open_runner
from cobalance.generation.image_request import SourceImage
from cobalance.vision import find_checkpoint


class InpaintOptions(CropOptions, DiffusionOptions):
    """Options of the backend inpaint; `crop` paints the object, not its surroundings.

    Parameters
    ----------
    paint : {"surroundings", "object"}
        Which side of the object's outline is painted; the other is kept.
    strength : float
        How much of what is painted may change, up to 1.
    """

    paint: Literal["surroundings", "object"] = "surroundings"
    strength: float = Field(default=1.0, gt=0, le=1)


PLUGIN = Plugin(
    "inpaint",
    "Paints everything around the object from words, or the object; the rest is kept.",
    extra="models",
    options=InpaintOptions,
    licence="CreativeML Open RAIL-M",
)

MODEL = "stable-diffusion-v1-5/stable-diffusion-inpainting"


def open_backend(options: InpaintOptions) -> DiffusionBackend:
    """Open a backend whose model inpaints the surroundings of the object, or the object.

    The model works at a size of its own. The pixels to keep are put back afterwards, as decoding
    changes them a little: in images of the source's size they are the source's, bit by bit; in
    others the source is fitted first, as `fit_source` does. At the model's size each square of a
    latent that shows some of the object is painted with the object, so that no rim of it is left
    and the thinnest object is painted. ``details`` of an image has ``scale`` and the object's
    ``box``: top, left, bottom, right; with the option ``crop`` also the boxes ``crops``.

    Raises
    ------
    OptionError, JobBlockedError
        As in `cobalance.generation.backends.pipelines.runner.open_runner`; the model was not
        trained to inpaint.
    """
    checkpoint = find_checkpoint(options.model or MODEL, options.revision, options.offline)
    kind = choose_inpainting(checkpoint, f"a model trained for inpainting, such as {MODEL}")
    runner = open_runner(kind, checkpoint, options, {"strength": options.strength})
    return DiffusionBackend("inpaint", runner, partial(_prepare, runner, options))


def _prepare(
    runner: PipelineRunner, options: InpaintOptions, source: SourceImage, _seed: int
) -> PipelineTask:
    size = choose_output_size(options, source)
    if options.crop:
        return cropped_task(source, size, runner.crop_size, runner.cell_px, options)

    paint_object = options.paint == "object"
    seen = runner.model_size(size)
    return inpainting_task(source, size, seen, runner.cell_px, paint_object=paint_object)
