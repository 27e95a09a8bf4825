"""One module per format of a rebalanced dataset, and the registry of them all."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from generation.export.dataset import ExportDataset
from generation.export.options import ExportError, ExportOptions, ExportReport
from graph.errors import MissingExtraError
from graph.progress import Progress, silent
from graph.registry import Registry

__all__ = ["EXPORTERS", "ExportDataset", "ExportError", "ExportOptions", "ExportReport", "export"]


@dataclass(frozen=True)
class ExportFormat:
    """A format whose module is imported when it is used.

    Parameters
    ----------
    module : str
        Full name of the module.
    purpose : str
        What it is for, in a line.
    """

    module: str
    purpose: str

    def load(self, name: str, what: str) -> Any:
        """Give what the module has under a name; MissingExtraError where a package is missing."""
        try:
            return getattr(import_module(self.module), name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "generation":
                raise
            raise MissingExtraError(what, "worker") from error


EXPORTERS: Registry[ExportFormat] = Registry("export format")
for _name, _module, _purpose in (
    ("folder", "folder", "Images in a folder, and a Parquet table of them."),
    ("coco", "coco", "COCO instances: images, and JSON with the boxes and outlines of concepts."),
    ("imagefolder", "imagefolder", "What load_dataset of Hugging Face takes for an image folder."),
    ("webdataset", "webdataset", "Tar files to be read from start to end."),
    (
        "weights",
        "sample_weights",
        "Weights of the real images in place of new ones, for comparison.",
    ),
):
    EXPORTERS.register(_name, ExportFormat(f"generation.export.formats.{_module}", _purpose))
_RUN = ExportFormat("generation.export.writing.run", "Writes an export.")


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
    exporter = EXPORTERS[format].load("EXPORTER", f"The export format {format}")
    run = _RUN.load("run_export", "Exporting")
    report = run(dataset, format, exporter, folder, options or ExportOptions(), progress)
    return cast("ExportReport", report)
