"""Sampling settings of a diffusers pipeline: scheduler, steps and guidance, and who heeds them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from cobalance.base import OptionError, diffusers
from cobalance.generation.backends.pipelines.kinds import parameters_of
from cobalance.generation.backends.pipelines.options import DiffusionOptions
from cobalance.generation.image_request import SCALES
from cobalance.vision import quiet

TEXT, IMAGE = SCALES
FAST_STEPS = 20
DISTILLED_STEPS = 4
FAST_SCHEDULER = "DPMSolverMultistepScheduler"
OTHER_SIGMAS = ("use_exponential_sigmas", "use_beta_sigmas", "use_lu_lambdas")
"""Choices of noise levels beside Karras'; a scheduler has one of them at most."""


@dataclass(frozen=True)
class Sampling:
    """Sampling settings.

    Parameters
    ----------
    scheduler : str
        The sampler, a class of diffusers.
    steps : int
        Denoising steps.
    guidance_scale : float or None
        How closely to follow the prompt; None for a pipeline without.
    inputs : mapping of str to float
        The backend's own numbers of the pipeline's call, such as ``strength``.
    """

    scheduler: str
    steps: int
    guidance_scale: float | None
    inputs: Mapping[str, float]


def set_sampling(
    pipeline: Any, options: DiffusionOptions, inputs: Mapping[str, float | None]
) -> Sampling:
    """Set a pipeline's scheduler, and choose its steps and guidance.

    The preset ``faithful`` keeps the scheduler that the model comes with, and the pipeline's own
    steps and guidance (50 and 7.5 for Stable Diffusion 1 and 2, 100 and 7.5 for InstructPix2Pix).
    ``fast`` takes 20 steps, of DPM-Solver++ of order 2 with Karras' sigmas where the model can use
    that: models of flow matching cannot, and keep their own. A model that says that it was
    distilled takes the 4 steps of its authors, as FLUX.2 klein.

    Raises
    ------
    OptionError
        No step is left at the strength that is set, or the pipeline has no use for an input.
    """
    accepted = parameters_of(type(pipeline))
    steps = int(accepted["num_inference_steps"].default)
    if is_distilled(pipeline):
        steps = DISTILLED_STEPS
    elif options.preset == "fast":
        steps = min(steps, FAST_STEPS)
        _set_fast_scheduler(pipeline)
    steps = options.steps or steps

    _check_use(pipeline, options, inputs)

    # Where neither option is set, the pipeline's own default holds.
    values: dict[str, Any] = {}
    for name, value in {"guidance_scale": options.guidance_scale, **inputs}.items():
        if name in accepted:
            values[name] = accepted[name].default if value is None else value
    guidance_scale = values.pop("guidance_scale", None)
    scale = None if is_distilled(pipeline) else guidance_scale
    used = {name: value for name, value in values.items() if value is not None}

    strength = used.get("strength", 1.0)
    if int(steps * strength) < 1:
        raise OptionError(
            f"{steps} steps at strength {strength} leave none. Set more steps, or a greater "
            "strength."
        )
    return Sampling(type(pipeline.scheduler).__name__, steps, scale, used)


def _check_use(
    pipeline: Any, options: DiffusionOptions, inputs: Mapping[str, float | None]
) -> None:
    """Raise OptionError for a setting that a pipeline would ignore."""
    name, accepted = type(pipeline).__name__, parameters_of(type(pipeline))
    for key, value in inputs.items():
        if value is not None and key not in accepted:
            raise OptionError(
                f"{name} has no {key}, and would ignore it. Leave it out, or use another model."
            )
    if options.guidance_scale is not None and is_distilled(pipeline):
        raise OptionError(
            f"{name} would ignore the guidance_scale: its model was distilled to paint without "
            "guidance. Leave it out."
        )


def is_distilled(pipeline: Any) -> bool:
    """Whether a pipeline says that its model was distilled to few steps without guidance."""
    return bool(pipeline.config.get("is_distilled"))


def _set_fast_scheduler(pipeline: Any) -> None:
    """Give a pipeline a scheduler of few steps, if its own can be replaced by that."""
    if FAST_SCHEDULER in {kind.__name__ for kind in pipeline.scheduler.compatibles}:
        with quiet():
            pipeline.scheduler = getattr(diffusers, FAST_SCHEDULER).from_config(
                pipeline.scheduler.config,
                algorithm_type="dpmsolver++",
                solver_order=2,
                use_karras_sigmas=True,
                **dict.fromkeys(OTHER_SIGMAS, False),
            )


def check_pipeline_scales(
    pipeline: Any, sampling: Sampling, variants: Sequence[Mapping[str, float]]
) -> None:
    """Refuse scales of variants that a pipeline would ignore.

    Parameters
    ----------
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
    accepted = parameters_of(type(pipeline))
    for scale in dict.fromkeys(chain.from_iterable(variants)):
        if scale not in accepted:
            raise OptionError(
                f"{name} has no {scale}, and would ignore that of the variants. Leave it out of "
                "them, or use another backend or model."
            )

    transformer = getattr(pipeline, "transformer", None)
    embeds = None if transformer is None else transformer.config.get("guidance_embeds")
    # FLUX.2 takes no scale as a number, and compares prompts by it nevertheless.
    compares = hasattr(type(pipeline), "do_classifier_free_guidance") and not is_distilled(pipeline)
    ignores_guidance = not compares and (embeds is False or is_distilled(pipeline))
    if ignores_guidance and any(TEXT in variant for variant in variants):
        raise OptionError(
            f"{name} would ignore the variants' {TEXT}: its model was distilled to paint without "
            "guidance. Leave it out of them, or use a model that was not."
        )
    # Such a transformer gets the scale as a number, if at all.
    if embeds is not None and not compares:
        return

    scales = [variant.get(TEXT, sampling.guidance_scale or 0.0) for variant in variants]
    off = [scale for scale in scales if scale <= 1]
    if off and len(set(scales)) > 1:
        raise OptionError(
            f"{name} guides by scales above 1: a variant's {TEXT} of {off[0]:g} turns guidance "
            "off, as any other up to 1 does. Set one above 1 in each variant."
        )
    if off and any(IMAGE in variant for variant in variants):
        raise OptionError(
            f"{name} would ignore the variants' {IMAGE}: the {TEXT} is {off[0]:g}, which turns "
            f"guidance off. Set a {TEXT} above 1, or leave the {IMAGE} out."
        )


def check_negative_prompt(pipeline: Any, guidance_scale: float | None) -> None:
    """Raise OptionError for a negative prompt that the pipeline does not take, or would ignore."""
    name = type(pipeline).__name__
    accepted = parameters_of(type(pipeline))

    if "negative_prompt" not in accepted:
        raise OptionError(
            f"{name} takes no negative prompt. Leave it out, and say in the prompts what to show."
        )

    # Models distilled with guidance take one scale for it, and another to compare prompts by.
    if "true_cfg_scale" in accepted:
        if accepted["true_cfg_scale"].default <= 1:
            raise OptionError(
                f"{name} would ignore the negative prompt: its model was distilled to paint "
                "without one. Leave it out, and say in the prompts what to show."
            )
    elif guidance_scale is None or guidance_scale <= 1:
        raise OptionError(
            f"{name} would ignore the negative prompt: the guidance scale is {guidance_scale}. Set "
            "one above 1, or leave the negative prompt out."
        )
