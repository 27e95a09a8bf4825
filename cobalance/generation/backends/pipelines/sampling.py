"""Sampling settings of a diffusers pipeline: scheduler, steps and guidance."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import diffusers

from cobalance.generation.backends.pipelines.options import DiffusionOptions
from cobalance.graph.errors import OptionError
from cobalance.ingest.models.loading import quiet

FAST_STEPS = 20
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


def default_input(pipeline: Any, name: str) -> Any:
    """Default of an argument of a pipeline's call; None where it takes no such argument."""
    parameter = inspect.signature(type(pipeline).__call__).parameters.get(name)
    return None if parameter is None else parameter.default


def set_sampling(
    pipeline: Any, options: DiffusionOptions, inputs: Mapping[str, float | None]
) -> Sampling:
    """Set a pipeline's scheduler, and choose its steps and guidance.

    The preset ``faithful`` keeps the scheduler that the model comes with, and the pipeline's own
    steps and guidance (50 and 7.5 for Stable Diffusion 1 and 2, 100 and 7.5 for InstructPix2Pix).
    ``fast`` takes 20 steps, of DPM-Solver++ of order 2 with Karras' sigmas where the model can use
    that: models of flow matching cannot, and keep their own, as do combined pipelines.

    Raises
    ------
    OptionError
        No step is left at the strength that is set.
    """
    steps = int(default_input(pipeline, "num_inference_steps") or 50)
    if options.preset == "fast":
        steps = min(steps, FAST_STEPS)
        if _can_be_fast(pipeline):
            with quiet():
                pipeline.scheduler = getattr(diffusers, FAST_SCHEDULER).from_config(
                    pipeline.scheduler.config,
                    algorithm_type="dpmsolver++",
                    solver_order=2,
                    use_karras_sigmas=True,
                    **dict.fromkeys(OTHER_SIGMAS, False),
                )
    steps = options.steps or steps
    accepted = inspect.signature(type(pipeline).__call__).parameters
    own = {
        name: accepted[name].default if value is None else value
        for name, value in {"guidance_scale": options.guidance_scale, **inputs}.items()
        if name in accepted
    }
    scale = own.pop("guidance_scale", None)
    own = {name: value for name, value in own.items() if value is not None}
    strength = own.get("strength", 1.0)
    if int(steps * strength) < 1:
        raise OptionError(
            f"{steps} steps at strength {strength} leave none. Set more steps, or a greater "
            "strength."
        )
    return Sampling(type(pipeline.scheduler).__name__, steps, scale, own)


def _can_be_fast(pipeline: Any) -> bool:
    """Whether the pipeline's scheduler can be replaced by `FAST_SCHEDULER`."""
    current = pipeline.scheduler
    flows = (
        current.config.get("use_flow_sigmas")
        or current.config.get("prediction_type") == "flow_prediction"
    )
    # combined pipelines have another one inside, with a scheduler of its own
    samples = not hasattr(pipeline, "decoder_pipe")
    compatible = {kind.__name__ for kind in current.compatibles}
    return FAST_SCHEDULER in compatible and samples and not flows
