"""One module per format of a rebalanced dataset, and the registry of them all."""

from pathlib import Path
from typing import cast

from generation.export.dataset import Rebalanced
from generation.export.options import ExportError, ExportOptions, ExportReport
from graph.plugins import Plugin
from graph.progress import Progress, silent
from graph.registry import Registry

__all__ = ["EXPORTERS", "ExportError", "ExportOptions", "ExportReport", "Rebalanced", "export"]

EXPORTERS: Registry[Plugin] = Registry("export format")
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
    EXPORTERS.register(_name, Plugin(f"generation.export.formats.{_module}", "worker", _purpose))
_ENGINE = Plugin("generation.export.writing.engine", "worker", "Writes an export.")


def export(
    dataset: Rebalanced,
    format: str,  # noqa: A002
    folder: Path,
    options: ExportOptions | None = None,
    progress: Progress = silent,
) -> ExportReport:
    """Write a rebalanced dataset to a folder.

    The folder is there when all of it is written, and not before; where this fails, what was there
    before stays. The same dataset and options give the same bytes.

    Parameters
    ----------
    dataset : Rebalanced
        What to write.
    format : str
        A name in `EXPORTERS`.
    folder : Path
        The folder to make, or to replace: an earlier export of the same job in the same format that
        nobody has changed, or with ``overwrite`` any other.
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
        An image cannot be read, or the folder cannot be written or is not ours to replace.
    MissingExtraError
        It needs packages that are not installed.
    """
    exporter = EXPORTERS[format].load("EXPORTER", f"The export format {format}")
    run = _ENGINE.load("run", "Exporting")
    report = run(dataset, format, exporter, folder, options or ExportOptions(), progress)
    return cast("ExportReport", report)
