"""The way of a dataset from its annotations to an evaluated model, and its next step."""

from typing import Literal

from cobalance.graph import DatasetProgress, DatasetState

StepState = Literal["done", "next", "later"]


def steps_of(state: DatasetState, progress: DatasetProgress) -> dict[str, StepState]:
    """States of the steps by the pages that they are taken on, in their order.

    The first that is not done is ``"next"``.
    """
    is_done = {
        "datasets": state.is_complete,
        "diagnose": state.is_mined,
        "plan": progress.planned,
        "jobs": progress.made and not progress.making,
        "compare": progress.compared,
        "evaluate": progress.evaluated,
    }
    waiting = [page for page, done in is_done.items() if not done]
    steps: dict[str, StepState] = {
        page: "done" if done else "later" for page, done in is_done.items()
    }
    if waiting:
        steps[waiting[0]] = "next"
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
