"""`cobalance evaluate study`: people judge a job's edited images blind."""

from typing import Annotated

import typer

from cobalance.app.cli.shared import (
    Count,
    JobId,
    PeopleOption,
    SeedOption,
    TableOutput,
    find_panel,
    notes,
    opened_store,
    out,
    panel_url,
    split_people,
)
from cobalance.base import inflect
from cobalance.graph.panels import studies
from cobalance.workflows.panel import answers, study as studying


def study(
    to: TableOutput,
    job: JobId,
    people: PeopleOption = None,
    pairs: Annotated[Count, "How many pairs to draw. Default: 300, or all if fewer."] = None,
    overlap: Annotated[
        int | None, "How many people judge each: pair. Default: all of them."
    ] = None,
    seed: SeedOption = 0,
    words: Annotated[
        list[str] | None,
        "Word list of groups, by name or file, for the gap in captions. Repeat it. "
        "Default: those of the job's plan.",
    ] = None,
    which: Annotated[
        str | None,
        typer.Option("--study", metavar="ID", help="An earlier study. Default: the newest."),
    ] = None,
    results: Annotated[bool, "Show the results: what people answered, with intervals."] = False,
    close: Annotated[bool, "Take no more answers, and no more changes."] = False,
) -> None:
    """Have people judge a job's edits beside the originals, blind; show how far they are.

    With --people a study is drawn, and the address of its page printed. Each pair is an accepted
    edit and its original, in an order and on sides that differ between people. They see no scores
    and not which group was asked for: they fill the gap in the caption for each image, then say
    whether both show the same objects in the same colours.
    """
    with opened_store() as (store, _):
        if people is not None:
            sample = studying.Sample(split_people(people), pairs, overlap, seed, tuple(words or ()))
            drawn = studying.draw_study(store, job, sample)
            out.print(panel_url(drawn), soft_wrap=True)
            notes.print(
                f"{inflect(len(drawn.pairs), 'pairs')} for {inflect(len(drawn.people), 'people')}, "
                f"at this address of `cobalance app`. Results: cobalance evaluate study {job} "
                "--results"
            )
            return

        panel = find_panel(store, studies.Study, job, which)
        if close:
            studies.close_study(store, panel.id)
        if results:
            frame = studying.results_frame(store, panel)
        else:
            frame = answers.panel_progress(store, panel)

    if results and to.is_table:
        frame = frame[frame["n"] > 0]
    to.write(frame)
    if not results:
        notes.print(panel_url(panel))
