"""Exports that the web app writes: a folder for each job and format, and a ZIP file where small."""

import re
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from cobalance.generation.export import ExportOptions
from cobalance.generation.export.writing.overwriting import MARKER
from cobalance.graph.database.store import GraphStore
from cobalance.graph.files import replacing
from cobalance.graph.jobs.status import Job
from cobalance.graph.progress import Progress
from cobalance.graph.wording import inflect
from cobalance.workflows.export.job import export_job
from cobalance.workflows.folders import Folders

MOST_ZIP_MB = 200
"""Larger exports have no ZIP file: a download passes through the memory of the app."""

_NOT_IN_FOLDERS = re.compile(r"[^\w.-]+")


def folder_stem(dataset: str) -> str:
    """A dataset's name in characters that any shell and file system takes.

    Examples
    --------
    >>> folder_stem("my cars; rm"), folder_stem("...")
    ('my-cars-rm', 'dataset')
    """
    return _NOT_IN_FOLDERS.sub("-", dataset).strip("-.")[:80] or "dataset"


@dataclass(frozen=True)
class WrittenExport:
    """An export on disk.

    Parameters
    ----------
    folder : Path
        Where it is.
    zip_file : Path or None
        The same as one file; None where it would be too large.
    counts : mapping of str to int
        As in `cobalance.generation.export.ExportReport`.
    bytes : int
        Size of its files.
    written_at : datetime
        In UTC.
    """

    folder: Path
    zip_file: Path | None
    counts: Mapping[str, int]
    bytes: int
    written_at: datetime

    @property
    def text(self) -> str:
        """What it holds, in words.

        Examples
        --------
        >>> counts = {"real images": 1, "generated images": 20, "real images left out": 2}
        >>> WrittenExport(Path("a"), None, counts, 2_340_000, datetime(2030, 1, 1)).text
        '1 real image, 20 generated images, 2 real images left out; 2.3 MB'
        """
        named = [inflect(count, name) for name, count in self.counts.items() if count]
        return f"{', '.join(named)}; {self.bytes / 1e6:,.1f} MB"


def export_folder(folders: Folders, job: Job, format_: str) -> Path:
    """The folder that a job's export in a format has."""
    name = f"{folder_stem(job.dataset)}-rebalanced-{job.id}-{format_}"
    return folders.exports / name


def write_export(
    store: GraphStore,
    folders: Folders,
    job: Job,
    format_: str,
    options: ExportOptions,
    *,
    real: bool,
    result: Mapping[str, Any],
    progress: Progress,
) -> WrittenExport:
    """Write an export to its folder, and as a ZIP file, in the place of an earlier one.

    Parameters
    ----------
    real, result
        See `cobalance.workflows.export.job.export_job`.

    Raises
    ------
    ExportError, OptionError, MissingExtraError
        See `cobalance.generation.export.export`. An earlier export then stays.
    """
    folder = export_folder(folders, job, format_)
    folders.exports.mkdir(mode=0o700, parents=True, exist_ok=True)
    report = export_job(
        store, folders, job, format_, folder, options, real=real, result=result, progress=progress
    )
    _zip_file(folder).unlink(missing_ok=True)
    if report.bytes <= MOST_ZIP_MB * 1_000_000:
        _write_zip(folder, progress)
    found = find_export(folders, job, format_)
    assert found is not None  # noqa: S101 -- written above
    return found


def find_export(folders: Folders, job: Job, format_: str) -> WrittenExport | None:
    """The export of a job in a format, if it was written."""
    folder = export_folder(folders, job, format_)
    try:
        marker = msgspec.json.decode((folder / MARKER).read_bytes())
        written_at = datetime.fromtimestamp((folder / MARKER).stat().st_mtime, UTC)
        counts = {str(name): int(count) for name, count in marker["counts"].items()}
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    zipped = _zip_file(folder)
    return WrittenExport(
        folder, zipped if zipped.exists() else None, counts, sum(sizes), written_at
    )


def delete_export(folders: Folders, job: Job, format_: str) -> None:
    """Delete the export of a job in a format; nothing where there is none."""
    found = find_export(folders, job, format_)
    if found is not None:
        _zip_file(found.folder).unlink(missing_ok=True)
        shutil.rmtree(found.folder)


def _zip_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.zip")


def _write_zip(folder: Path, progress: Progress) -> None:
    """Write a folder as a ZIP file, images as they are; it appears once it is complete."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with replacing(_zip_file(folder)) as part, zipfile.ZipFile(part, "w") as archive:
        for done, path in enumerate(files):
            progress("zip", done, len(files))
            archive.write(path, path.relative_to(folder.parent))
