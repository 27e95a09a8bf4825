"""Exports of rebalanced datasets: one module per format, and the registry of them all."""

from pathlib import Path

from cobalance.generation.export.exporter import Exporters
from cobalance.generation.export.images.dataset import ExportDataset
from cobalance.generation.export.options import ExportError, ExportOptions, ExportReport
from cobalance.generation.export.run import run_export
from cobalance.graph.progress import Progress, silent

__all__ = ["EXPORTERS", "ExportDataset", "ExportError", "ExportOptions", "ExportReport", "export"]

EXPORTERS = Exporters(
    "export format",
    {
        "folder": "cobalance.generation.export.formats.folder",
        "coco": "cobalance.generation.export.formats.coco",
        "imagefolder": "cobalance.generation.export.formats.imagefolder",
        "webdataset": "cobalance.generation.export.formats.webdataset",
        "weights": "cobalance.generation.export.formats.sample_weights",
    },
)


def export(
    dataset: ExportDataset,
    format: str,  # noqa: A002
    folder: Path,
    options: ExportOptions | None = None,
    progress: Progress = silent,
) -> ExportReport:
    """Write a rebalanced dataset to a folder.

    The folder appears once all of it is written; if the export fails, an earlier one stays. The
    same dataset and options give the same bytes.

    Parameters
    ----------
    dataset : ExportDataset
        What to write.
    format : str
        A name in `EXPORTERS`.
    folder : Path
        The folder to create. It may hold an unchanged export of the same job in the same format,
        which is replaced; with ``overwrite`` anything else.
    options : ExportOptions or None
        None for the defaults.
    progress : callable
        Called with a stage, how many images are done and how many there are.

    Returns
    -------
    ExportReport

    Raises
    ------
    UnknownNameError
        No format has this name.
    OptionError
        The format cannot do what the options ask for, or not with this dataset.
    ExportError
        An image cannot be read, or the folder cannot be written or must not be replaced.
    MissingExtraError
        It needs packages that are not installed.
    """
    options = options or ExportOptions()
    start = EXPORTERS.open(format, options.format_options)
    return run_export(dataset, EXPORTERS[format], start, folder, options, progress)
