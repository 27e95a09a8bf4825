"""Shared by the commands of evaluations: ids, options of learners and metrics, failures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobalance.app.cli.common import ALL_JOBS, notes, opened_store
from cobalance.app.cli.job_ids import SHORTEST_ID, id_that_begins
from cobalance.app.cli.job_settings import assigned
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import dataset_state, find_dataset
from cobalance.graph.errors import JobNotFoundError, OptionError, needs_extra
from cobalance.graph.evaluations.reading import Evaluation, list_evaluations, read_evaluation
from cobalance.workflows.settings import Settings

if TYPE_CHECKING:
    from cobalance.generation.output.folder import OutputFolder

BASELINE = typer.Option(
    help="Show how far every other method differs from this one, with intervals by a paired "
    "bootstrap over seeds and images. A method, within the same settings; or any whole row, such "
    "as 'erm (cars, augmented, linear)', or an evaluation's id."
)


def evaluation_id(context: typer.Context, given: str | None) -> str | None:
    """The whole id of an evaluation of which the first characters are given; None for None."""
    if context.resilient_parsing or given is None:
        return given
    with opened_store() as (store, _):
        return find_evaluation(store, given).id


EvaluationId = Annotated[
    str,
    typer.Argument(
        metavar="EVALUATION",
        help=f"An evaluation's id, or its first {SHORTEST_ID} characters or more; see `cobalance "
        "jobs --tasks`.",
        callback=evaluation_id,
    ),
]


def _evaluation_ids(context: typer.Context, given: list[str]) -> list[str]:
    if context.resilient_parsing:
        return given
    with opened_store() as (store, _):
        return list(dict.fromkeys(find_evaluation(store, one).id for one in given))


EvaluationIds = Annotated[
    list[str],
    typer.Argument(
        metavar="EVALUATION...",
        help=f"Ids of evaluations, or their first {SHORTEST_ID} characters or more.",
        callback=_evaluation_ids,
    ),
]


def find_evaluation(store: GraphStore, given: str) -> Evaluation:
    """Read an evaluation by its id, or by the first characters.

    Raises
    ------
    JobNotFoundError
        No id begins so.
    OptionError
        Several do.
    """
    try:
        return read_evaluation(store, given)
    except JobNotFoundError:
        if len(given) < SHORTEST_ID:
            raise
    everything = {one.id: one for one in list_evaluations(store, limit=ALL_JOBS)}
    missing = (
        f"There is no evaluation {given!r}. It may have been dropped with its dataset. To list "
        "those there are: cobalance jobs --tasks"
    )
    return everything[id_that_begins(given, everything, "evaluations", missing)]


def evaluations_of(
    store: GraphStore, which: str | None, *, limit: int = ALL_JOBS
) -> list[Evaluation]:
    """The evaluations of a dataset, the one of an id, or all.

    Raises
    ------
    DatasetNotFoundError
        It is neither a dataset nor an evaluation.
    """
    if which is None or find_dataset(store, which) is not None:
        return list_evaluations(store, which, limit=limit)
    try:
        return [find_evaluation(store, which)]
    except JobNotFoundError:
        dataset_state(store, which)  # raises, and names the datasets there are
        raise


def options_of(
    assignments: Sequence[str] | None, owners: Iterable[str], flag: str = "--set"
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
    for owner, options in assigned(assignments, flag).items():
        if owner not in found or not isinstance(options, dict):
            raise OptionError(
                f"{flag} {owner}: an option begins with {', '.join(f'{one}.' for one in known)} "
                f"as in {known[0]}.NAME=VALUE."
            )
        found[owner] |= options
    return found


def predictions_folder() -> "OutputFolder":
    """The output folder, where predictions are; MissingExtraError without its packages."""
    with needs_extra("Reading predictions", "worker"):
        from cobalance.generation.output.folder import OutputFolder
    return OutputFolder(Settings.from_environment().output_folder())


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


def say_failures(found: Sequence[Evaluation]) -> None:
    """Say how many evaluations wait, have failed or are outdated."""
    waiting = sum(one.state in ("queued", "running") for one in found)
    if waiting:
        notes.print(
            f"{waiting:,} of {len(found):,} are still queued or running. To run them: cobalance "
            "work --until-idle",
            markup=False,
        )
    for one in found:
        if one.state == "failed":
            notes.print(
                f"{one.id} ({one.method}) failed: {one.error} When that is mended: cobalance "
                f"retry {one.id}",
                markup=False,
            )
    outdated = sum(one.outdated and one.scored_at is not None for one in found)
    if outdated:
        notes.print(
            f"{outdated:,} of {len(found):,} are outdated: images of their datasets have changed "
            "since. Order them again.",
            markup=False,
        )
