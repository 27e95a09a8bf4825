"""`cobalance annotate accept`, `reject`, `threshold` and `delete`: decide what a run counts for."""

from typing import Annotated

import typer

from cobalance.app.cli.shared.assignments import assigned
from cobalance.app.cli.shared.ids import RunId
from cobalance.app.cli.shared.options import assignments_option, notes, opened_store, output_folder
from cobalance.graph.annotations.runs import read_run
from cobalance.graph.dataset.write import IngestReport
from cobalance.graph.errors import OptionError
from cobalance.graph.wording import inflect


def accept(run: RunId) -> None:
    """Make what a run found concepts of its dataset; its own annotations stay, and win."""
    _decide(run, accepted=True)


def reject(run: RunId) -> None:
    """Leave out what a run found; the dataset is again as it was without it."""
    _decide(run, accepted=False)


def threshold(
    run: RunId,
    lowest: Annotated[
        float | None, typer.Argument(metavar="[SCORE]", help="The lowest score that counts.")
    ] = None,
    setting: Annotated[
        list[str] | None, assignments_option("--set", "Another one for a concept.")
    ] = None,
    multi: Annotated[
        bool | None,
        typer.Option(
            "--multi/--best",
            help="Whether every attribute above the base caption counts, or the best alone.",
        ),
    ] = None,
) -> None:
    """Change from which scores on a run's labels count; no model runs again."""
    from cobalance.workflows.label.decide import change_thresholds

    given = assigned(setting)
    if not all(isinstance(value, int | float) for value in given.values()):
        raise OptionError("--set takes a concept and a number, such as --set sky=0.4.")
    with opened_store() as (store, progress):
        report = change_thresholds(
            store,
            output_folder(),
            run,
            threshold=lowest,
            thresholds={name: float(value) for name, value in given.items()},
            multi=multi,
            progress=progress,
        )
        dataset = read_run(store, run).dataset
    if report is None:
        notes.print("Changed. The run counts for nothing so far: cobalance annotate accept RUN")
    else:
        _say(report, dataset)


def delete(
    run: RunId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a run that is not accepted, with its files, and its audits with all answers."""
    from cobalance.workflows.label.decide import delete_annotations

    folder = output_folder()
    with opened_store() as (store, _):
        found = read_run(store, run)
        if found.state == "accepted":
            raise OptionError(
                f"The run {run} is accepted. Reject it first: cobalance annotate reject {run}"
            )
        if not yes:
            typer.confirm(
                f"Delete the run {run} of {found.dataset}, with its files, and its audits with all "
                "answers?",
                abort=True,
            )
        delete_annotations(store, folder, run)


def _decide(run: str, *, accepted: bool) -> None:
    from cobalance.workflows.label.decide import decide_labels

    with opened_store() as (store, progress):
        report = decide_labels(
            store, output_folder(), run, "accepted" if accepted else "rejected", progress=progress
        )
        dataset = read_run(store, run).dataset
    _say(report, dataset)


def _say(report: IngestReport, dataset: str) -> None:
    notes.print(
        f"{inflect(report.updated, 'images')} of {dataset} changed. "
        f"Count them again: cobalance mine {dataset}",
        markup=False,
    )
