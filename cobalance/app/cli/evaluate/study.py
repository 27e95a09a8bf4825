"""`cobalance evaluate study`: people judge a job's edited images blind."""

from typing import Annotated

import typer

from cobalance.app.cli.shared.ids import JobId
from cobalance.app.cli.shared.options import FormatOption, OutputOption, notes, opened_store, out
from cobalance.app.cli.shared.tables import Format, check_output, write_frame
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import OptionError, Setting
from cobalance.graph.studies.reading import Study, studies_of_job
from cobalance.graph.studies.writing import close_study
from cobalance.graph.wording import inflect
from cobalance.workflows.login import page_address
from cobalance.workflows.settings import Settings


def study(
    job: JobId,
    people: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Draw a new study for these people, separated by commas: any names, or their "
            "e-mail addresses where the web app has a login.",
        ),
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option(min=1, help="How many pairs to draw. Default: 300, or all if fewer."),
    ] = None,
    overlap: Annotated[
        int | None, typer.Option(help="How many people judge each pair. Default: all of them.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    words: Annotated[
        list[str] | None,
        typer.Option(
            help="Word list of the groups, for the gap in captions. Repeat it. Default: those of "
            "the job's plan."
        ),
    ] = None,
    which: Annotated[
        str | None,
        typer.Option("--study", metavar="ID", help="An earlier study. Default: the newest."),
    ] = None,
    results: Annotated[
        bool, typer.Option("--results", help="Show what people answered, with intervals.")
    ] = False,
    close: Annotated[
        bool, typer.Option("--close", help="Take no more answers, and no more changes.")
    ] = False,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Have people judge a job's edits beside the originals, blind; show how far they are.

    With --people a study is drawn, and the address of its page printed. Each pair is an accepted
    edit and its original, in an order and on sides that differ between people. They see no scores
    and not which group was asked for: they fill the gap in the caption for each image, then say
    whether both show the same objects in the same colours.
    """
    from cobalance.workflows.panel.study import Sample, draw_study, results_frame
    from cobalance.workflows.panel.study_answers import progress_frame

    check_output(format_, output)
    login = Settings.from_environment().cobalance_auth_file
    with opened_store() as (store, _):
        if people is not None:
            names = tuple(name.strip() for name in people.split(",") if name.strip())
            sample = Sample(names, pairs, overlap, seed, tuple(words or ()))
            made = draw_study(store, job, sample)
            out.print(
                page_address(login, "study", dataset=made.dataset, study=made.id),
                markup=False,
                soft_wrap=True,
            )
            notes.print(
                f"{inflect(len(made.pairs), 'pairs')} for {inflect(len(made.people), 'people')}, "
                f"at this address of `cobalance app`. Results: cobalance evaluate study {job} "
                "--results",
                markup=False,
            )
            return
        found = _find(store, job, which)
        if close:
            close_study(store, found.id)
        frame = results_frame(store, found) if results else progress_frame(store, found)
    if results and format_ is Format.TABLE:
        frame = frame[(frame["n"] > 0)]
    write_frame(frame, format_, output, out)
    if not results:
        notes.print(
            page_address(login, "study", dataset=found.dataset, study=found.id), markup=False
        )


def _find(store: GraphStore, job: str, which: str | None) -> Study:
    """A job's newest study, or the one of an id or of its first characters."""
    studies = studies_of_job(store, job)
    if not studies:
        raise OptionError(f"The job {job} has no study. Draw one with ", Setting("people"), ".")
    found = [one for one in studies if one.id.startswith(which or "")]
    if not found or (which and len(found) > 1):
        known = ", ".join(one.id for one in studies)
        raise OptionError(f"The job {job} has not one study {which!r}. It has: {known}.")
    return found[0]
