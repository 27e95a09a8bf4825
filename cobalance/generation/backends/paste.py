"""Backend that generates a background and pastes the object onto it, as the paper does.

ConBias (appendix 10) makes an image with Stable Diffusion from "a photo of concept 1, concept 2,
..., and concept N", cuts the object out of an image of the class by its mask, and pastes it on.
"""

from functools import partial

from cobalance.base import Plugin, diffusers
from cobalance.generation.backends.compositing import cutout, framing
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend, PipelineTask
from cobalance.generation.backends.pipelines.kinds import check_pipeline
from cobalance.generation.backends.pipelines.options import DiffusionOptions
from cobalance.generation.backends.pipelines.runner import PipelineRunner, open_runner
from cobalance.generation.image_request import GeneratedImage, SourceImage
from cobalance.vision import ImageArray, find_box, find_checkpoint, quiet


class PasteOptions(DiffusionOptions, cutout.PlacementOptions):
    """Options of the backend paste: diffusion model and placement of the object."""


PLUGIN = Plugin(
    "paste",
    "Makes a background from words, and pastes the object onto it.",
    extra="models",
    options=PasteOptions,
    licence="CreativeML Open RAIL-M",
)

MODEL = "stable-diffusion-v1-5/stable-diffusion-v1-5"


def open_backend(options: PasteOptions) -> DiffusionBackend:
    """Open a backend that keeps the object's pixels and replaces all others.

    With the placement ``keep``, the object is where it was, bit by bit in images of the source's
    size; in others the source is fitted first, as `fit_source` does. With ``resample`` it is at a
    seeded place and scale, as `place_object` does, and resampled. ``details`` of an image has
    ``placement``, ``scale`` and the object's ``box``: top, left, bottom, right.

    Raises
    ------
    OptionError, JobBlockedError
        As in `cobalance.generation.backends.pipelines.runner.open_runner`; the model does not paint
        from words.
    """
    checkpoint = find_checkpoint(options.model or MODEL, options.revision, options.offline)
    check_pipeline(checkpoint, 1, 0, f"a text-to-image model, such as {MODEL}")
    with quiet():
        kind = diffusers.AutoPipelineForText2Image
    runner = open_runner(kind, checkpoint, options)
    return DiffusionBackend("paste", runner, partial(_prepare, runner, options))


def _prepare(
    runner: PipelineRunner, options: PasteOptions, source: SourceImage, seed: int
) -> PipelineTask:
    size = framing.choose_output_size(options, source)
    image, mask, scale = cutout.place_source(options, source, size, seed)
    details = {"placement": options.placement, "scale": scale, "box": list(find_box(mask))}
    unchanged = framing.kept_pixels(mask, source) if options.placement == "keep" else None

    def finish(painted: ImageArray) -> GeneratedImage:
        background = framing.resize_image(painted, size)
        pasted = cutout.paste_object(background, image, mask, options.feather_px)
        return GeneratedImage(pasted, mask, details, unchanged)

    return PipelineTask(runner.model_size(size), finish)
