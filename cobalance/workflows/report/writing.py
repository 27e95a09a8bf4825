"""Write a report to a file."""

from pathlib import Path

from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import OptionError, Setting
from cobalance.graph.progress import Progress, silent
from cobalance.graph.whole_files import replacing
from cobalance.workflows.report.contents import ReportOptions, read_contents
from cobalance.workflows.report.page import page


def report(
    store: GraphStore, dataset: str, options: ReportOptions, progress: Progress = silent
) -> bytes:
    """The report of a mined dataset, as an HTML file; errors are those of `read_contents`."""
    return page(read_contents(store, dataset, options, progress)).encode()


def write_report(
    store: GraphStore,
    dataset: str,
    file: Path,
    options: ReportOptions,
    *,
    overwrite: bool = False,
    progress: Progress = silent,
) -> int:
    """Write the report of a mined dataset; return its size in bytes.

    Raises
    ------
    OptionError
        The file exists and is not to be overwritten; see also `read_contents`.
    CobalanceError
        It cannot be written.
    """
    file = file.expanduser()
    _check(file, overwrite=overwrite)
    content = report(store, dataset, options, progress)
    _check(file, overwrite=overwrite)
    with replacing(file) as part:
        part.write_bytes(content)
    return len(content)


def _check(file: Path, *, overwrite: bool) -> None:
    if file.is_dir():
        raise OptionError(f"{file} is a folder. Name a file, such as {file / 'report.html'}.")
    if file.exists() and not overwrite:
        raise OptionError(
            f"{file} exists. Name another file, or replace it (", Setting("overwrite"), ")."
        )
