"""Backend that paints the object anew with BrushNet.

X. Ju et al., BrushNet: A Plug-and-Play Image Inpainting Model with Decomposed Dual-Branch
Diffusion, ECCV 2024; the image is made as in the authors' example. Pinpoint Counterfactuals paints
people's skin with it.
"""

import math
from functools import partial
from typing import Annotated

from pydantic import Field

from cobalance.base import MayBePath, Plugin, torch
from cobalance.generation.backends.compositing.framing import (
    Size,
    choose_model_size,
    choose_output_size,
)
from cobalance.generation.backends.pipelines.cropping import CropOptions, cropped_task
from cobalance.generation.backends.pipelines.diffusion import (
    DiffusionBackend,
    PipelineTask,
    inpainting_task,
)
from cobalance.generation.backends.pipelines.options import DiffusionOptions
from cobalance.generation.backends.pipelines.runner import PipelineRunner, open_runner
from cobalance.generation.image_request import SourceImage
from cobalance.vision import choose_device, choose_dtype, find_checkpoint, load_model


class BrushNetOptions(CropOptions, DiffusionOptions):
    """Options of the backend brushnet.

    Parameters
    ----------
    brushnet_model : str or None
        BrushNet's folder, or its repository of the hub as ``owner/name``; ``model`` is the base.
        None for the published checkpoint for masks of any shape.
    brushnet_subfolder : str
        Where in it the checkpoint is, such as ``random_mask_brushnet_ckpt``; empty for the top.
    brushnet_revision : str or None
        The hub's commit, tag or branch of BrushNet.
    conditioning_scale : float
        What BrushNet's residuals are multiplied by; 0 for the base alone.
    area_px : int
        Number of pixels that are painted, in the image's shape.
    """

    brushnet_model: Annotated[str | None, MayBePath()] = None
    brushnet_subfolder: str = Field(default="", pattern=r"^(\w[\w.-]*(/\w[\w.-]*)*)?$")
    brushnet_revision: str | None = None
    conditioning_scale: float = Field(default=1.0, ge=0)
    area_px: int = Field(default=768 * 768, ge=64 * 64, le=4096 * 4096)


PLUGIN = Plugin(
    "brushnet",
    "Paints the object anew from words with BrushNet, and keeps everything around it.",
    extra="models",
    options=BrushNetOptions,
    licence="CreativeML Open RAIL-M; BrushNet's authors have theirs under Apache-2.0, its copy on "
    "the hub names none",
)

MODEL = "stable-diffusion-v1-5/stable-diffusion-v1-5"
"""Stable Diffusion 1.5, under the licence CreativeML Open RAIL-M."""
BRUSHNET_MODEL = "Sanster/brushnet_random_mask"
"""A copy of the authors' ``random_mask_brushnet_ckpt``, which they publish as a download outside of
the hub. Their repository is under the Apache License 2.0, and the copy names no licence. They were
trained from the weights of Stable Diffusion 1.5, whose licence, CreativeML Open RAIL-M, passes its
limits of use on.
"""
WANTED = f"a text-to-image model like Stable Diffusion 1.5, such as {MODEL}"
BRUSHNET_WANTED = (
    f"a BrushNet that was trained beside the base, such as {BRUSHNET_MODEL} for Stable Diffusion "
    "1.5, or the folder random_mask_brushnet_ckpt that its authors publish"
)


def open_backend(options: BrushNetOptions) -> DiffusionBackend:
    """Open a backend whose model paints the object to fit its surroundings.

    As in the authors' example: UniPC with 50 steps, guidance 7.5, and the object blacked out in
    what BrushNet sees. The image is painted with ``area_px`` pixels in the source's shape, and
    brought back to the source's size. All pixels outside the mask are then the source's, bit by bit
    (``kept``); in images of another size, they are those of the source as `fit_source` fits it.
    ``details`` of an image has ``scale`` and the object's ``box``: top, left, bottom, right; with
    the option ``crop``, where each object has ``area_px`` pixels of its own, also ``crops``.

    Raises
    ------
    OptionError, JobBlockedError
        As in `cobalance.generation.backends.pipelines.runner.open_runner`; the model is no base for
        BrushNet, or the other one no BrushNet for it.
    """
    from cobalance.generation.backends.brushnet_model.loading import (
        check_base,
        check_brushnet,
        make_scheduler,
    )
    from cobalance.generation.backends.brushnet_model.model import BrushNetModel
    from cobalance.generation.backends.brushnet_model.pipeline import (
        StableDiffusionBrushNetPipeline,
    )

    # Both are checked by their files before any weights are loaded.
    device = choose_device(options.device)
    base = find_checkpoint(options.model or MODEL, options.revision, options.offline)
    check_base(base, WANTED)
    brushnet = find_checkpoint(
        options.brushnet_model or BRUSHNET_MODEL,
        options.brushnet_revision,
        options.offline,
        options.brushnet_subfolder,
    )
    check_brushnet(brushnet, base, BRUSHNET_WANTED)

    branch = load_model(BrushNetModel, brushnet, dtype=choose_dtype(options.dtype, device)).eval()
    if device.type == "cuda":
        branch = branch.to(memory_format=torch.channels_last)

    runner = open_runner(
        StableDiffusionBrushNetPipeline,
        base,
        options,
        {"conditioning_scale": options.conditioning_scale},
        {"brushnet": branch, "scheduler": make_scheduler(base)},
    )

    described = {
        "brushnet_model": brushnet.label,
        "brushnet_revision": brushnet.revision,
        "brushnet_weights_sha256": brushnet.weights_sha256,
    }
    return DiffusionBackend("brushnet", runner, partial(_prepare, runner, options), described)


def _prepare(
    runner: PipelineRunner, options: BrushNetOptions, source: SourceImage, _seed: int
) -> PipelineTask:
    size = choose_output_size(options, source)
    side_px = round(math.sqrt(options.area_px))

    def choose_size(size: Size) -> Size:
        return choose_model_size(size, side_px, runner.multiple_px, is_set=False)

    if options.crop:
        return cropped_task(source, size, choose_size, runner.cell_px, options, black_out=True)

    seen = choose_size(size)
    return inpainting_task(source, size, seen, runner.cell_px, paint_object=True, black_out=True)
