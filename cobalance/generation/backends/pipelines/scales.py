"""Refuse scales of variants that a pipeline would ignore."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cobalance.generation.backends.pipelines.sampling import Sampling
from cobalance.generation.image_request import SCALES
from cobalance.graph.errors import OptionError

TEXT, IMAGE = SCALES


def check_pipeline_scales(
    pipeline: Any, sampling: Sampling, variants: Sequence[Mapping[str, float]]
) -> None:
    """Refuse scales of variants that a pipeline would ignore.

    Parameters
    ----------
    pipeline : diffusers.DiffusionPipeline
        The pipeline.
    sampling : Sampling
        Its settings, for variants that leave a scale out.
    variants : sequence of mappings of str to float
        The scales that each variant sets.

    Raises
    ------
    OptionError
        The pipeline has no such scale, or its model was distilled to paint without; some variants
        turn guidance off, which all scales up to 1 do alike; one sets a scale for the image and
        turns guidance off.
    """
    name = type(pipeline).__name__
    accepted = inspect.signature(type(pipeline).__call__).parameters
    for scale in dict.fromkeys(scale for variant in variants for scale in variant):
        if scale not in accepted:
            raise OptionError(
                f"{name} has no {scale}, and would ignore that of the variants. Leave it out of "
                "them, or use another backend or model."
            )
    guidance = guidance_of(pipeline)
    if guidance == "none" and any(TEXT in variant for variant in variants):
        raise OptionError(
            f"{name} would ignore the variants' {TEXT}: its model was distilled to paint without "
            "guidance. Leave it out of them, or use a model that was not."
        )
    if guidance != "compared":
        return
    text = [_number(variant.get(TEXT, sampling.guidance_scale)) for variant in variants]
    off = [scale for scale in text if scale <= 1]
    if off and len(set(text)) > 1:
        raise OptionError(
            f"{name} guides by scales above 1: a variant's {TEXT} of {off[0]:g} turns guidance "
            "off, as any other up to 1 does. Set one above 1 in each variant."
        )
    if off and any(IMAGE in variant for variant in variants):
        raise OptionError(
            f"{name} would ignore the variants' {IMAGE}: the {TEXT} is {off[0]:g}, which turns "
            f"guidance off. Set a {TEXT} above 1, or leave the {IMAGE} out."
        )


def guidance_of(pipeline: Any) -> Literal["compared", "embedded", "none"]:
    """How a pipeline heeds its guidance scale.

    ``compared``: it compares the prompt with none, or a negative one, if the scale is above 1.
    ``embedded``: its denoiser gets the scale as a number. ``none``: not at all.
    """
    unet: Any = getattr(pipeline, "unet", None)
    if getattr(getattr(unet, "config", None), "time_cond_proj_dim", None) is not None:
        return "embedded"
    transformer: Any = getattr(pipeline, "transformer", None)
    embeds = getattr(getattr(transformer, "config", None), "guidance_embeds", None)
    if embeds:
        return "embedded"
    if getattr(pipeline.config, "is_distilled", False) or getattr(pipeline, "is_turbo", False):
        return "none"
    compares = hasattr(type(pipeline), "do_classifier_free_guidance")
    return "none" if embeds is False and not compares else "compared"


def _number(scale: float | None) -> float:
    return 0.0 if scale is None else scale
