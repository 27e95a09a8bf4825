"""What is said of a plan: proven, at least so much, or not to be had."""

import numpy as np

from cobalance.generation.planning.plan import PlannedImages
from cobalance.generation.planning.programmes.tolerance import Caps
from cobalance.graph.arrays import FloatArray, IntArray
from cobalance.graph.errors import OptionError, Setting


def settled(images: IntArray) -> PlannedImages:
    """A plan within a tolerance of rates."""
    note = "Class sizes follow from the plan, so that fewer images may do."
    return PlannedImages(images, not images.any(), 0.0, note if images.any() else "")


def judged(
    images: IntArray, value: float, bound: float, what: str, *, finished: bool
) -> PlannedImages:
    """A plan with the least that any plan has of something, and whether it has that itself.

    A plan of a solver that has not finished is never proven: it depends on the clock.
    """
    bound = min(max(bound, 0.0), value) + 0.0  # no -0.0
    proven = finished and value - bound <= 1e-6 * (1 + value)
    least = f"no plan has fewer than {bound:,.0f}" if bound else "how few it takes is unknown"
    said = f"Not proven to be the best: {value:,.0f} {what}; {least}."
    if value - bound <= 1e-6 * (1 + value):
        said = "No plan is better, but the solver's time was up: another run may find another plan."
    return PlannedImages(images, proven, bound, "" if proven else said)


def class_scale(class_sizes: IntArray | FloatArray) -> FloatArray:
    """The mean size of a class over that of each."""
    sizes = np.maximum(class_sizes, 1).astype(np.float64)
    scale: FloatArray = sizes.mean() / sizes
    return scale


def impossible(caps: Caps) -> OptionError:
    """The error for caps that leave no plan."""
    named = (
        (Setting("max_per_query"), caps.query),
        (Setting("planner.max_per_class"), caps.per_class),
        (Setting("planner.overshoot"), caps.overshoot),
    )
    parts: list[str | Setting] = ["No plan within the tolerance was found under the caps. Raise "]
    for setting in [setting for setting, cap in named if cap is not None]:
        parts += [setting, ", "]
    return OptionError(*parts, "allow a larger tolerance, or give a ", Setting("budget"), ".")
