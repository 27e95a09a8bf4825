"""Shared by the commands of evaluations: which ones, options of learners, failures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cobalance.app.cli.shared.assignments import assigned
from cobalance.app.cli.shared.ids import find_id
from cobalance.app.cli.shared.options import ALL_JOBS
from cobalance.app.cli.shared.terminal import notes
from cobalance.base.errors import NotFoundError, OptionError
from cobalance.graph.database import store as stores
from cobalance.graph.database.evaluation_nodes import EVALUATION
from cobalance.graph.dataset import state as states
from cobalance.graph.evaluations import reading

BASELINE = (
    "Show how far every other method differs from this one, with intervals by a paired "
    "bootstrap over seeds and images. A method, within the same settings; or any whole row, such "
    "as 'erm (cars, augmented, linear)', or an evaluation's id."
)


def evaluations_of(
    store: "stores.GraphStore", which: str | None, *, limit: int = ALL_JOBS
) -> "list[reading.Evaluation]":
    """The evaluations of a dataset, the one of an id, or all.

    Raises
    ------
    NotFoundError
        It is neither a dataset nor an evaluation.
    """
    if which is None or states.find_dataset(store, which) is not None:
        return reading.list_evaluations(store, which, limit=limit)
    try:
        return [reading.read_evaluation(store, find_id(store, which, EVALUATION))]
    except NotFoundError:
        states.dataset_state(store, which)  # raises, and names the datasets there are
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
    known = list(owners)
    found: dict[str, dict[str, Any]] = {owner: {} for owner in known}
    for owner, options in assigned(assignments).items():
        if owner not in found or not isinstance(options, dict):
            raise OptionError(
                f"--set {owner}: an option begins with {', '.join(f'{one}.' for one in known)} "
                f"as in {known[0]}.NAME=VALUE."
            )
        found[owner] |= options
    return found


def files_of(given: Sequence[str] | None, flag: str) -> dict[str, Path]:
    """Files from NAME=FILE; OptionError where one is not of this form.

    Examples
    --------
    >>> sorted(files_of(["captions=a.csv"], "--with"))
    ['captions']
    """
    files = {}
    for one in given or ():
        name, equals, path = one.partition("=")
        if not equals or not name or not path:
            raise OptionError(f"{flag} {one!r} is no NAME=FILE, such as captions=captions.csv.")
        files[name.strip()] = Path(path)
    return files


def say_failures(found: "Sequence[reading.Evaluation]") -> None:
    """Say how many evaluations wait, have failed or are outdated."""
    waiting = sum(one.state in ("queued", "running") for one in found)
    if waiting:
        notes.print(
            f"{waiting:,} of {len(found):,} are still queued or running. To run them: cobalance "
            "work --until-idle"
        )
    for one in found:
        if one.state == "failed":
            notes.print(
                f"{one.id} ({one.method}) failed: {one.error} When that is mended: cobalance "
                f"jobs retry {one.id}"
            )
    outdated = sum(one.outdated and one.scored_at is not None for one in found)
    if outdated:
        notes.print(
            f"{outdated:,} of {len(found):,} are outdated: images of their datasets have changed "
            "since. Order them again."
        )
