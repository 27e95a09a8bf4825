"""Export evaluations: every score for a program, or a table for people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from cobalance.evaluation.reports.formats import REPORTS
from cobalance.evaluation.reports.tables import arrange
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import OptionError
from cobalance.graph.evaluations.reading import Evaluation
from cobalance.graph.whole_files import replacing
from cobalance.workflows.evaluate.results import (
    HEADLINE,
    differences_frame,
    newest,
    scores_frame,
    summary_frame,
)

if TYPE_CHECKING:
    from cobalance.ingest.stored.output_folder import OutputFolder


def export_evaluations(
    store: GraphStore,
    folder: "OutputFolder | None",
    found: Sequence[Evaluation],
    file: Path,
    format_: str | None = None,
    *,
    metrics: Sequence[str] = (),
    baseline: str | None = None,
    title: str = "Evaluations",
) -> int:
    """Write the scores of evaluations to a file; return how many rows it has.

    Parameters
    ----------
    folder : OutputFolder or None
        Where predictions are; only needed with a baseline.
    format_ : str or None
        A name in `cobalance.evaluation.reports.formats.REPORTS`; by default that of the file's
        suffix.
    metrics : sequence of str
        Which; by default all of them, or in tables for people the most telling three.
    baseline : str or None
        Write differences from it, see
        `cobalance.workflows.evaluate.results.differences_frame`.

    Raises
    ------
    UnknownNameError
        There is no such format.
    OptionError
        No evaluation has such scores, or the file's suffix is no format's.
    CobalanceError
        The file cannot be written.
    """
    name = format_ or _format_of(file)
    frame = _frame(store, folder, found, name, metrics, baseline)
    with replacing(file) as part:
        part.write_bytes(REPORTS[name].write(frame, title))
    return len(frame)


def exported(store: GraphStore, found: Sequence[Evaluation], format_: str, title: str) -> bytes:
    """The scores of evaluations in a format, as `export_evaluations` writes them."""
    return REPORTS[format_].write(_frame(store, None, found, format_, (), None), title)


def _frame(
    store: GraphStore,
    folder: "OutputFolder | None",
    found: Sequence[Evaluation],
    format_: str,
    metrics: Sequence[str],
    baseline: str | None,
) -> pd.DataFrame:
    """The table that a format shows."""
    report = REPORTS[format_]
    if baseline is not None and folder is not None:
        frame = differences_frame(folder, found, baseline)
    elif report.is_for_people:
        frame = summary_frame(store, found)
    else:
        frame = scores_frame(store, newest(found))
    known = list(dict.fromkeys(frame["metric"]))
    wanted = list(metrics)
    if report.is_for_people and not wanted:
        wanted = [name for name in HEADLINE if name in known] or known
    if wanted or report.is_for_people:
        frame = frame[frame["metric"].isin(wanted)]
        if not len(frame):
            raise OptionError(
                f"No evaluation has scores of {', '.join(wanted or HEADLINE)}. There are scores of "
                f"{', '.join(sorted(known)) or 'nothing'}."
            )
    if report.is_for_people and baseline is None:
        return arrange(frame, wanted)
    return frame.round(4) if report.is_for_people else frame


def _format_of(file: Path) -> str:
    formats = {report.suffix: name for name, report in REPORTS.items()}
    if file.suffix.lower() not in formats:
        raise OptionError(
            f"{file} does not end like a format's files: {', '.join(formats)}. Name it so, or name "
            "the format with --as."
        )
    return formats[file.suffix.lower()]
