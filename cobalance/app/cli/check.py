"""`cobalance check`: compare a dataset with files that the authors of ConBias published."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared.options import DatasetName, FormatOption, OutputOption, note_limit
from cobalance.app.cli.shared.stores import opened_store
from cobalance.app.cli.shared.tables import Format, write_frame
from cobalance.app.cli.shared.terminal import notes
from cobalance.workflows.check import compare_dataset, describe_published


def check(
    dataset: DatasetName,
    published: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A co-occurrence CSV, or the JSON of a clique dictionary, of common cliques or of "
            "generation queries.",
        ),
    ],
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of rows in the table.")] = 20,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Compare a mined dataset with a file that the authors of ConBias published for it.

    Counts and generation queries that differ come first, then those of one side, then equal ones.
    Queries are compared with those of the planner published. Names that letter case alone tells
    apart are the same where that is unique. Where nothing is equal, the exit code is 1.
    """
    with opened_store() as (store, _):
        frame, theirs = compare_dataset(store, dataset, published)
    watched = format_ is Format.TABLE and output is None
    write_frame(frame[:limit] if watched else frame, format_, output)
    if watched and len(frame) > limit:
        note_limit(limit)
    notes.print(describe_published(frame, theirs) + ".")
    if not (frame["result"] == "equal").any():
        raise typer.Exit(1)
