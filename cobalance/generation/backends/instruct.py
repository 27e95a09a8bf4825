"""Backend that edits an image, or its object's box, by an instruction.

ConBias (table 3) and ALIA use InstructPix2Pix; FLUX.1 Kontext, FLUX.2 klein and Qwen-Image-Edit do
the same. The object may change with the rest, so that `inpaint` and `paste` are better where masks
are at hand. The prompt of a request is the instruction.
"""

from functools import partial

import numpy as np
from pydantic import Field

from cobalance.base import Plugin
from cobalance.generation.backends.compositing import framing
from cobalance.generation.backends.compositing.cutout import to_pillow
from cobalance.generation.backends.pipelines.diffusion import (
    DiffusionBackend,
    PipelineTask,
    whole_image_task,
)
from cobalance.generation.backends.pipelines.kinds import choose_editing
from cobalance.generation.backends.pipelines.options import DiffusionOptions
from cobalance.generation.backends.pipelines.runner import PipelineRunner, open_runner
from cobalance.generation.image_request import GeneratedImage, SourceImage
from cobalance.vision import ImageArray, find_box, find_checkpoint


class InstructOptions(DiffusionOptions):
    """Options of the backend instruct.

    Parameters
    ----------
    crop : bool
        Edit the crop of the object's box alone; everything outside the box stays.
    image_guidance_scale : float or None
        How closely to follow the source; None for the pipeline's own.
    """

    crop: bool = False
    image_guidance_scale: float | None = Field(default=None, ge=1)


PLUGIN = Plugin(
    "instruct",
    "Edits the whole image, or its object's box, as an instruction says.",
    extra="models",
    options=InstructOptions,
    licence="MIT, within the limits of use of Stable Diffusion's CreativeML Open RAIL-M",
)

MODEL = "timbrooks/instruct-pix2pix"
"""Its authors' repository is under MIT, and says that further restrictions may apply to the
checkpoints, which were trained from Stable Diffusion's, under CreativeML Open RAIL-M."""


def open_backend(options: InstructOptions) -> DiffusionBackend:
    """Open a backend that edits the source, preserving it as ``image_guidance_scale`` says.

    Images of another shape than the source's show as much of it as fills them, about its object.
    An image has no mask: no pixel is sure to be the object's any more.

    With the option ``crop`` the model sees the object's box alone, at a size of its own, and the
    box is pasted back: all other pixels are the source's, or those of the fitted source in images
    of another size, as `fit_source` fits it. ``details`` then has ``scale`` and the ``box``: top,
    left, bottom, right.

    Raises
    ------
    OptionError, JobBlockedError
        As in `cobalance.generation.backends.pipelines.runner.open_runner`; the model does not edit
        images, or is InstructPix2Pix XL.
    """
    checkpoint = find_checkpoint(options.model or MODEL, options.revision, options.offline)
    kind = choose_editing(checkpoint, f"a model that edits as it is told, such as {MODEL}")
    inputs = {"image_guidance_scale": options.image_guidance_scale}
    runner = open_runner(kind, checkpoint, options, inputs)
    prepare = _prepare_crop if options.crop else _prepare
    return DiffusionBackend("instruct", runner, partial(prepare, runner, options))


def _prepare(
    runner: PipelineRunner, options: InstructOptions, source: SourceImage, _seed: int
) -> PipelineTask:
    size = framing.choose_output_size(options, source)
    return whole_image_task(source, size, runner.model_size(size))


def _prepare_crop(
    runner: PipelineRunner, options: InstructOptions, source: SourceImage, _seed: int
) -> PipelineTask:
    """Edit the box of a source's object, and put it back into the image."""
    image, mask, scale = framing.fit_source(source, framing.choose_output_size(options, source))
    box = find_box(mask)
    details = {"scale": scale, "box": list(box)}
    stays = np.ones_like(mask)
    stays[box.slices] = False

    def finish(painted: ImageArray) -> GeneratedImage:
        whole = image.copy()
        whole[box.slices] = framing.resize_image(painted, box.shape)
        return GeneratedImage(whole, None, details, framing.kept_pixels(stays, source))

    seen = runner.crop_size(box.shape)
    crop = framing.resize_image(image[box.slices], seen)
    return PipelineTask(seen, finish, {"image": to_pillow(crop)})
