"""Shared by the commands of evaluations: which ones, options of learners, failures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cobalance.app.cli.shared import assigned, find_id, notes
from cobalance.base import NotFoundError, OptionError, options as plugin_options
from cobalance.graph import EVALUATION
from cobalance.graph.database import store as stores
from cobalance.graph.dataset import state as states
from cobalance.graph.evaluations import reading

BASELINE_HELP = (
    "Show how far every other method differs from this one, with intervals by a paired "
    "bootstrap over seeds and images. A method, within the same settings; or any whole row, such "
    "as 'erm (cars, augmented, linear)', or an evaluation's id."
)


def evaluations_of(
    store: "stores.GraphStore", name: str | None, *, limit: int | None = None
) -> "list[reading.Evaluation]":
    """The evaluations of the dataset of this name, the one of this id, or all; at most `limit`.

    Raises
    ------
    NotFoundError
        It is neither a dataset nor an evaluation.
    """
    if name is None or states.find_dataset(store, name) is not None:
        return reading.list_evaluations(store, name, limit=limit or plugin_options.NO_LIMIT)
    try:
        return [reading.read_evaluation(store, find_id(store, name, EVALUATION))]
    except NotFoundError:
        # Without such a dataset this raises an error that names those there are.
        states.dataset_state(store, name)
        raise


def options_of(
    assignments: Sequence[str] | None, owners: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Options from OWNER.NAME=VALUE, by their owner.

    Raises
    ------
    OptionError
        One is not of this form, or its owner is none of those.

    Examples
    --------
    >>> options_of(["learner.epochs=50"], ("learner", "method"))
    {'learner': {'epochs': 50}, 'method': {}}
    """
    names = list(owners)
    by_owner: dict[str, dict[str, Any]] = {name: {} for name in names}
    for owner, options in assigned(assignments).items():
        if owner not in by_owner or not isinstance(options, dict):
            begins = ", ".join(f"{name}." for name in names)
            raise OptionError(
                f"--set {owner}: an option begins with {begins} as in {names[0]}.NAME=VALUE."
            )
        by_owner[owner] |= options
    return by_owner


def files_of(assignments: Sequence[str] | None, flag: str) -> dict[str, Path]:
    """Files from NAME=FILE; OptionError where one is not of this form.

    Examples
    --------
    >>> sorted(files_of(["captions=a.csv"], "--with"))
    ['captions']
    """
    files = {}
    for assignment in assignments or ():
        name, equals, path = assignment.partition("=")
        if not equals or not name or not path:
            raise OptionError(
                f"{flag} {assignment!r} is no NAME=FILE, such as captions=captions.csv."
            )
        files[name.strip()] = Path(path)
    return files


def say_failures(evaluations: "Sequence[reading.Evaluation]") -> None:
    """Say how many evaluations wait, have failed or are outdated."""
    waiting = sum(evaluation.state in ("queued", "running") for evaluation in evaluations)
    if waiting:
        notes.print(
            f"{waiting:,} of {len(evaluations):,} are still queued or running. To run them: "
            "cobalance work --until-idle"
        )

    for evaluation in evaluations:
        if evaluation.state == "failed":
            notes.print(
                f"{evaluation.id} ({evaluation.method}) failed: {evaluation.error} When that is "
                f"mended: cobalance jobs retry {evaluation.id}"
            )

    # Only scores can be outdated: what is queued will read the images as they are then.
    outdated = sum(
        evaluation.outdated and evaluation.scored_at is not None for evaluation in evaluations
    )
    if outdated:
        notes.print(
            f"{outdated:,} of {len(evaluations):,} are outdated: images of their datasets have "
            "changed since. Order them again."
        )
