"""Choose the pipeline of diffusers for a model, by the declarations of its class and files.

A class declares what it takes by the parameters of its call. So a family that diffusers learns
later works here, too, and one that cannot do a task is refused before its weights are loaded.
"""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from inspect import Parameter, signature
from typing import Any

from cobalance.base import JobBlockedError, diffusers
from cobalance.vision import PIPELINE_FILE, Checkpoint, quiet

_NEEDED = ("prompt", "generator", "num_inference_steps", "output_type")
_GIVEN = {"self", "prompt", "image", "mask_image"}
_GUIDING_PICTURES = {"control_image", "controlnet_conditioning_scale"}
# A U-Net has it where the guidance scale was distilled into the model, as an input of its own.
_DISTILLED = "time_cond_proj_dim"


def parameters_of(pipeline: type) -> Mapping[str, Parameter]:
    """Parameters of a pipeline's call, by name."""
    return signature(pipeline.__call__).parameters


def check_pipeline(checkpoint: Checkpoint, latents: int, extra: int, description: str) -> None:
    """Reject a pipeline that no backend can run, or one of another task, by its files.

    diffusers loads a U-Net for another task without complaint, and ignores the inputs that it does
    not take.

    Parameters
    ----------
    checkpoint : Checkpoint
        A model; one that declares no pipeline passes, and cannot be loaded as one.
    latents, extra : int
        How many latent images a U-Net must take, and how many channels beside them.
    description : str
        The kind that is needed, with an example.

    Raises
    ------
    JobBlockedError
        This diffusers has no such pipeline; it has no VAE, needs a picture to guide it, or takes
        no prompt; its U-Net was distilled to paint without guidance, or takes another number of
        channels.
    """
    for problem in _problems(checkpoint, latents, extra):
        raise wrong_kind(checkpoint, problem, description)


def _problems(checkpoint: Checkpoint, latents: int, extra: int) -> Iterator[str]:
    """Name the problems that a model has with its task, in a few words each."""
    parts = checkpoint.read_config(PIPELINE_FILE)
    name = str(parts.get("_class_name", ""))
    if name:
        yield from _problems_of_class(name)
        if "vae" not in parts:
            yield f"{name} has no VAE, whose latents the backends paint"

    unet = checkpoint.read_config("unet/config.json")
    if unet.get(_DISTILLED) is not None:
        yield "its U-Net was distilled to paint without guidance"
    if unet:
        channels = unet.get("in_channels", 4)
        images = latents * int(checkpoint.read_config("vae/config.json").get("latent_channels", 4))
        if channels != images + extra:
            yield f"its U-Net takes {channels} channels, not {images + extra}"


def _problems_of_class(name: str) -> Iterator[str]:
    kind = find_class(name)
    if kind is None:
        yield f"diffusers {version('diffusers')} has no pipeline {name}"
        return

    takes = parameters_of(kind)
    if _GUIDING_PICTURES & takes.keys():
        yield f"{name} needs a picture that guides it, which no backend gives"
    for needed in _NEEDED:
        if needed not in takes:
            yield f"{name} takes no {needed}"
    for parameter in takes.values():
        is_named = parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        if is_named and parameter.default is Parameter.empty and parameter.name not in _GIVEN:
            yield f"{name} needs {parameter.name}, which no backend gives"


def choose_inpainting(checkpoint: Checkpoint, description: str) -> Any:
    """The pipeline in which a model paints a part of an image: its own, or its namesake.

    diffusers names the one that takes a mask as the one that takes none: ``ZImageInpaintPipeline``
    and ``ZImagePipeline`` have the same parts.

    Raises
    ------
    JobBlockedError
        Neither takes a mask; or it is of a FLUX that was not trained to fill.
    """
    check_pipeline(checkpoint, 2, 1, description)
    name = _name_of(checkpoint)
    if not name:
        with quiet():
            return diffusers.AutoPipelineForInpainting
    _check_fills(checkpoint, name)

    for class_name in (name, name.replace("Pipeline", "InpaintPipeline")):
        kind = find_class(class_name)
        if kind is not None and {"image", "mask_image"} <= parameters_of(kind).keys():
            return kind
    raise wrong_kind(checkpoint, f"{name} takes no mask", description)


def _check_fills(checkpoint: Checkpoint, name: str) -> None:
    """Raise JobBlockedError for a FLUX Fill whose transformer takes no mask."""
    transformer = checkpoint.read_config("transformer/config.json")
    latents = transformer.get("out_channels") or 64
    # One that fills takes the image's latents and a mask beside its own.
    if name == "FluxFillPipeline" and transformer.get("in_channels", 64) <= 2 * latents:
        description = "a model trained to fill, such as black-forest-labs/FLUX.1-Fill-dev"
        raise wrong_kind(checkpoint, "its transformer does not take a mask", description)


def choose_editing(checkpoint: Checkpoint, description: str) -> Any:
    """The pipeline in which a model edits an image by an instruction.

    Raises
    ------
    JobBlockedError
        The model takes no image; or it takes one as a sketch, with how much of it to paint over.
    """
    unet = checkpoint.read_config("unet/config.json")
    check_pipeline(checkpoint, 2, 0, description)
    name = _name_of(checkpoint)
    if unet:
        # XL's U-Net expects sizes and pooled embeddings, which this pipeline does not pass.
        if unet.get("addition_embed_type") == "text_time" or name.startswith("StableDiffusionXL"):
            description += ", which is of Stable Diffusion 1.5's kind"
            raise wrong_kind(checkpoint, "InstructPix2Pix XL is not supported", description)
        with quiet():
            return diffusers.StableDiffusionInstructPix2PixPipeline
    if not name:
        raise wrong_kind(checkpoint, "it is no pipeline", description)

    kind = find_class(name)
    takes = parameters_of(kind).keys()
    if "image" not in takes:
        raise wrong_kind(checkpoint, f"{name} takes no image", description)
    if takes & {"strength", "mask_image"}:
        problem = f"{name} paints over an image, and does not edit it"
        raise wrong_kind(checkpoint, problem, description)
    return kind


def find_class(name: str) -> Any:
    """Find a pipeline of diffusers by the name of its class."""
    with quiet():
        kind = getattr(diffusers, name, None)
        is_pipeline = isinstance(kind, type) and issubclass(kind, diffusers.DiffusionPipeline)
    return kind if is_pipeline else None


def _name_of(checkpoint: Checkpoint) -> str:
    return str(checkpoint.read_config(PIPELINE_FILE).get("_class_name", ""))


def wrong_kind(checkpoint: Checkpoint, problem: str, description: str) -> JobBlockedError:
    """The error for a model that does not fit a backend."""
    return JobBlockedError(
        f"The model {checkpoint.name} is of the wrong kind: {problem}. Give {description}."
    )
