"""Tolerances, caps on images, and how good a plan is known to be."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, IntArray, OptionError, Setting, stats
from cobalance.generation.planning.plan import PlannedImages

# HiGHS's tolerance of constraints.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Tolerance:
    """Gap that each clique may keep: ``(1 - share) * largest - smallest <= slack``.

    Parameters
    ----------
    share : float array, shape (n_cliques,)
        Of the largest count afterwards.
    slack : float array, shape (n_cliques,) or (n_cliques, n_classes)
        Images; of the class with the smallest count where classes have their own.
    weights : float array, shape (n_cliques,)
        What an image of gap beyond counts; a clique of weight 0 may keep any gap.
    """

    share: FloatArray
    slack: FloatArray
    weights: FloatArray

    def excess(self, counts: FloatArray) -> FloatArray:
        """How much wider than allowed each gap is: shape (n_cliques,), 0 where it is allowed."""
        beyond = np.max(self.lowest_counts(counts) - counts, axis=1)
        return np.where(beyond > ROUNDING, beyond, 0.0)

    def has_room(self, counts: IntArray) -> npt.NDArray[np.bool_]:
        """Whether some class may have one more image: shape (n_cliques,)."""
        room = np.zeros(len(counts), dtype=bool)
        for one_more in np.eye(counts.shape[1], dtype=np.int64):
            room |= self.excess((counts + one_more).astype(np.float64)) == 0
        return room

    def slack_of(self, n_classes: int) -> FloatArray:
        """`slack` of every class: shape (n_cliques, n_classes)."""
        slack = self.slack if self.slack.ndim == 2 else self.slack[:, None]
        return np.broadcast_to(slack, (len(slack), n_classes))

    def take(self, rows: IntArray) -> "Tolerance":
        """The tolerance of some cliques."""
        return Tolerance(self.share[rows], self.slack[rows], self.weights[rows])

    def lowest_counts(self, counts: FloatArray) -> FloatArray:
        """The fewest images that each class may have beside the largest count."""
        largest = counts.max(axis=1, keepdims=True)
        lowest = (1 - self.share)[:, None] * largest - self.slack_of(counts.shape[1])
        return np.where(self.weights[:, None] > 0, lowest, 0.0)


@dataclass(frozen=True)
class Caps:
    """The most images of each query, of each class, of a clique in a class, and in all.

    None stands for no cap.

    Parameters
    ----------
    overshoot : int or None
        Images of a clique that a class may have beyond the largest count before.
    """

    query: int | None = None
    per_class: int | None = None
    overshoot: int | None = None
    budget: int | None = None


def insignificant_gaps(most: FloatArray, n_classes: int, level: float) -> FloatArray:
    """The widest gaps below largest counts that a chi-square test of equal counts lets pass.

    Examples
    --------
    >>> insignificant_gaps(np.array([10.0, 100.0]), 2, 0.05)
    array([ 7., 25.])
    """
    critical = float(stats.chi2.isf(level, n_classes - 1))
    # The squares of deviations are at most `spread` x gap^2, the mean at least most - share x gap.
    spread, share = (n_classes**2 // 4) / n_classes, (n_classes - 1) / n_classes
    root = np.sqrt((critical * share) ** 2 + 4 * spread * critical * most)
    widest = np.floor((root - critical * share) / (2 * spread) + 1e-9)
    return np.minimum(widest, most)


def plan_of_rates(images: IntArray) -> PlannedImages:
    """A plan within a tolerance of rates."""
    if not images.any():
        return PlannedImages(images, proven=True, bound=0.0)
    note = "Class sizes follow from the plan, so that fewer images may do."
    return PlannedImages(images, proven=False, bound=0.0, note=note)


def bounded_plan(
    images: IntArray, value: float, bound: float, what: str, *, finished: bool
) -> PlannedImages:
    """A plan with the least that any plan has of something, and whether it has that itself.

    A plan of a solver that has not finished is never proven: it depends on the clock.
    """
    # Adding 0.0 makes 0.0 of -0.0.
    bound = min(max(bound, 0.0), value) + 0.0
    is_best = value - bound <= ROUNDING * (1 + value)
    proven = finished and is_best

    if proven:
        note = ""
    elif is_best:
        note = "No plan is better, but the solver's time was up: another run may find another plan."
    else:
        least = f"no plan has fewer than {bound:,.0f}" if bound else "how few it takes is unknown"
        note = f"Not proven to be the best: {value:,.0f} {what}; {least}."
    return PlannedImages(images, proven=proven, bound=bound, note=note)


def class_scale(class_sizes: IntArray | FloatArray) -> FloatArray:
    """The mean size of a class over that of each."""
    sizes = np.maximum(class_sizes, 1).astype(np.float64)
    return sizes.mean() / sizes


def impossible(caps: Caps) -> OptionError:
    """The error for caps that leave no plan."""
    caps_of = (
        (Setting("max_per_query"), caps.query),
        (Setting("planner.max_per_class"), caps.per_class),
        (Setting("planner.overshoot"), caps.overshoot),
    )

    parts: list[str | Setting] = ["No plan within the tolerance was found under the caps. Raise "]
    for setting, cap in caps_of:
        if cap is not None:
            parts += [setting, ", "]
    return OptionError(*parts, "allow a larger tolerance, or give a ", Setting("budget"), ".")
