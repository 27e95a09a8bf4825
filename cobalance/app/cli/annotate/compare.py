"""`cobalance annotate compare`: attributes of generated images against their training set."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared.ids import find_run
from cobalance.app.cli.shared.options import (
    FormatOption,
    OutputOption,
    cleaned,
    notes,
    opened_store,
    out,
    output_folder,
)
from cobalance.app.cli.shared.tables import Format, check_output, write_frame
from cobalance.graph.whole_files import replacing


def compare(
    real: Annotated[str, typer.Argument(help="The training set.", callback=cleaned)],
    generated: Annotated[str, typer.Argument(help="The generated dataset.", callback=cleaned)],
    run_real: Annotated[
        str | None,
        typer.Option(help="Compare the labels of this run of the training set, not its concepts."),
    ] = None,
    run_generated: Annotated[
        str | None, typer.Option(help="The run of the generated dataset, with --run-real.")
    ] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")] = 0.95,
    chart: Annotated[
        Path | None, typer.Option(help="Write the differences as bars to this SVG file.")
    ] = None,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Compare how often each attribute is in generated images and in their training set.

    By category, the most frequent of the training set first; a negative difference is an attribute
    that the generator makes more frequent.
    """
    from cobalance.annotation.measuring.shift import shift_chart
    from cobalance.workflows.label.compare import compare_generator

    check_output(format_, output)
    with opened_store() as (store, _):
        runs = [
            None if run is None else find_run(store, run).id for run in (run_real, run_generated)
        ]
        found = compare_generator(
            store,
            output_folder(),
            real,
            generated,
            real_run=runs[0],
            generated_run=runs[1],
            confidence=confidence,
        )
    if found.left_out:
        notes.print(
            f"Looked for in one alone, left out: {', '.join(found.left_out)}.", markup=False
        )
    for note in found.notes:
        notes.print(note, markup=False)
    if chart is not None:
        with replacing(chart) as part:
            part.write_text(shift_chart(found.table, f"{real} less {generated}"), encoding="utf-8")
    write_frame(found.table, format_, output, out)
