"""The way of a dataset from its annotations to an evaluated model, and its next step."""

from dataclasses import dataclass
from typing import Literal

from cobalance.graph.dataset import DatasetState
from cobalance.graph.queries import DatasetProgress

StepState = Literal["done", "next", "later"]


@dataclass(frozen=True)
class Step:
    """A step of the way, and the path of the page that it is taken on.

    The first that is not done is ``"next"``.
    """

    name: str
    page: str
    state: StepState


def steps_of(state: DatasetState, progress: DatasetProgress) -> list[Step]:
    """All steps in their order, of which one at most is the next."""
    made_on = "jobs" if progress.ordered else "plan"
    compared_on = "jobs" if progress.made and not progress.compared else "compare"
    ways = (
        ("Load", "datasets", state.is_complete),
        ("Diagnose", "diagnose", state.is_mined),
        ("Plan", "plan", progress.planned),
        ("Make", made_on, progress.made and not progress.making),
        ("Compare", compared_on, progress.compared),
        ("Evaluate", "evaluate", progress.evaluated),
    )

    steps = []
    # The first step that is not done is the next one.
    waiting: StepState = "next"
    for name, page, is_done in ways:
        steps.append(Step(name, page, "done" if is_done else waiting))
        if not is_done:
            waiting = "later"
    return steps


def next_action(progress: DatasetProgress, *, leaning: int) -> tuple[str, str]:
    """Suggest the next step with a mined dataset, and its page.

    Parameters
    ----------
    leaning : int
        Combinations that lean to a class.

    Examples
    --------
    >>> none = DatasetProgress(*[False] * 6)
    >>> next_action(none, leaning=3), next_action(none, leaning=0)
    (('Plan what is missing', 'plan'), ('Evaluate a model', 'evaluate'))
    """
    if progress.making:
        return "See the images being made", "jobs"
    if not progress.planned:
        return ("Plan what is missing", "plan") if leaning else ("Evaluate a model", "evaluate")
    if not progress.ordered:
        return "Make the planned images", "plan"
    if not progress.made:
        return "See why no image was accepted", "jobs"
    if not progress.compared:
        return "Add the images and diagnose again", "jobs"
    if not progress.evaluated:
        return "Evaluate a model", "evaluate"
    return "Compare before and after", "compare"
