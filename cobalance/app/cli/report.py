"""`cobalance report`: a dataset's imbalances as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared import DatasetName, Name, clean_names, full_id, notes, opened_store
from cobalance.graph import EVALUATION
from cobalance.workflows.report import contents, page


def report(
    dataset: DatasetName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this file, as HTML.")],
    compare: Annotated[
        str | None,
        typer.Option(metavar="OTHER", callback=clean_names),
        "Another version of the dataset, such as a rebalanced one: which imbalances it closes, and "
        "which it opens.",
    ] = None,
    plan: Annotated[
        Name, "A plan of the dataset, with its images, and the gaps that remain."
    ] = None,
    evaluation: Annotated[
        str | None,
        typer.Option(help="An evaluation: its scores.", callback=full_id(EVALUATION)),
    ] = None,
    date: Annotated[str | None, "The date that the report bears. Default: today's, in UTC."] = None,
    overwrite: Annotated[bool, "Replace what is there: the file."] = False,
) -> None:
    """Write a dataset's imbalances, plots, method and Cypher to one HTML file.

    It needs no other file and no network, and can be sent, printed and archived as it is.
    """
    options = contents.ReportOptions(compare, plan, evaluation, date)
    with opened_store() as (store, progress):
        size = page.write_report(
            store, dataset, output, options, overwrite=overwrite, progress=progress
        )
    notes.print(f"{output}: {size:,} bytes.")
