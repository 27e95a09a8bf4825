"""`cobalance annotate review`: decide which attributes become concepts."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared.options import (
    DatasetName,
    FormatOption,
    OutputOption,
    notes,
    opened_store,
    out,
)
from cobalance.app.cli.shared.tables import Format, as_text, check_output, write_frame, write_text
from cobalance.graph.annotations.attributes import decide_attributes, list_attributes
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.errors import OptionError
from cobalance.graph.wording import inflect
from cobalance.ingest.reader import read_text
from cobalance.ingest.tables.sheets import guard_formulas


def review(
    dataset: DatasetName,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="Write the attributes to this file, with columns to decide in.",
        ),
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Read decisions from such a file: accept, reject, rename (with another name), or "
            "merge (with the other attribute in the column into).",
        ),
    ] = None,
    accept_all: Annotated[
        bool,
        typer.Option("--accept-all", help="Accept all that are not decided, flagged ones too."),
    ] = False,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """List the attributes that were proposed for a dataset, or decide on them.

    Only accepted ones are looked for in images, and become concepts. Reasons why a person should
    look at one are in the column flags.
    """
    from cobalance.annotation.proposing import review as reviewing

    if sum((csv is not None, from_ is not None, accept_all)) > 1:
        raise OptionError("Give one of --csv, --from and --accept-all.")
    check_output(format_, output)
    text = None if from_ is None else read_text(from_)
    with opened_store() as (store, _):
        dataset_state(store, dataset)
        attributes = list_attributes(store, dataset)
        if text is not None or accept_all:
            decisions = (
                reviewing.accept_all(attributes)
                if text is None
                else reviewing.read_decisions(text, str(from_), attributes)
            )
            decide_attributes(store, dataset, decisions)
            states = [one.state for one in decisions]
            said = ", ".join(
                f"{states.count(state)} {state}" for state in ("accepted", "rejected", "merged")
            )
            notes.print(f"{inflect(len(decisions), 'attributes')} decided: {said}.")
            notes.print(f"Look for them: cobalance annotate label {dataset}", markup=False)
            return
    frame = reviewing.review_frame(attributes)
    if csv is not None:
        write_text(as_text(guard_formulas(frame), Format.CSV), csv)
        notes.print(
            f"{inflect(len(frame), 'attributes')} written. Fill in the column decision, then: "
            f"cobalance annotate review {dataset} --from {csv}",
            markup=False,
        )
        return
    if not len(frame) and format_ is Format.TABLE:
        notes.print(
            f"No attributes were proposed for {dataset}: cobalance annotate propose CAPTION",
            markup=False,
        )
        return
    if format_ is Format.TABLE:
        frame = frame[[*frame.columns[:1], *frame.columns[2:9]]]
    write_frame(frame, format_, output, out)
