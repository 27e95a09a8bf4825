"""Export a job's dataset with its accepted images for training."""

import logging
import re
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from cobalance.base import (
    Progress,
    TooManyCliquesError,
    inflect,
    log_run,
    replacing,
    silent,
)
from cobalance.counting import Incidence, MiningOptions
from cobalance.generation import (
    MARKER,
    ExportDataset,
    ExportError,
    ExportOptions,
    ExportReport,
    Findings,
    compose_job,
    read_merged,
    with_source_concepts,
)
from cobalance.generation.export import export
from cobalance.generation.output.job_manifest import read_job_manifest
from cobalance.graph import (
    GraphStore,
    Job,
    dataset_state,
    find_left_out,
    generated_id,
    read_annotations,
)
from cobalance.ingest import read_image_texts
from cobalance.vision import ImageFileError, ImageRoots, read_regions
from cobalance.workflows.folders import Folders
from cobalance.workflows.rebalance import not_all
from cobalance.workflows.record import document, examination, stored
from cobalance.workflows.settings import in_environment


@log_run
def export_job(
    store: GraphStore,
    folders: Folders,
    job: Job,
    format_: str,
    folder: Path,
    options: ExportOptions,
    *,
    real: bool = True,
    result: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> ExportReport:
    """Write a job's dataset with its accepted images to a folder.

    Generated images of earlier jobs that the dataset holds are exported too.

    Parameters
    ----------
    real : bool
        Export the real images as well.
    result : mapping, optional
        Of a job that edits images, what differs from the recipe's `ResultOptions`: which images to
        take.

    Raises
    ------
    ExportError, UnknownNameError, MissingExtraError
        The folder holds the images that are to be exported; see also
        `cobalance.generation.export.export`.
    """
    _check_target(folders, folder, job.dataset)
    output = folders.open_output()
    has_images = format_ != "weights"
    accepted = read_job_manifest(store, output, job.id, "accepted")
    # Images of a job that still makes others may be on their way.
    is_short = len(accepted) < job.accepted and not (job.is_active and len(accepted))
    if has_images and is_short:
        raise not_all(output, job.id, len(accepted), job.accepted)

    images = _images(store, job.dataset, progress)
    images = images[~images["id"].isin(find_left_out(store, job.dataset))]
    splits = dict(zip(images["id"], images["split"], strict=True))
    generated = accepted[accepted["path"].notna()]
    composed = compose_job(store, job, lambda: images, result)
    if composed is not None:
        chosen = generated[generated["candidate"].isin(composed.generated)]
        generated = with_source_concepts(chosen, images)
        images = images[images["id"].isin(composed.real)]

    if has_images:
        of_job = generated["candidate"].map(generated_id)
        of_earlier_jobs = images[images["synthetic"] & ~images["id"].isin(of_job)]
        earlier = read_merged(store, output, of_earlier_jobs)
        parts = [part for part in (generated, earlier) if len(part)]
        generated = pd.concat(parts or [generated], ignore_index=True)
    logging.getLogger(__name__).debug("images: %d held, %d made", len(images), len(generated))

    roots = ImageRoots(folders.image_roots(job.dataset))
    exported = ExportDataset(
        job.dataset,
        images[~images["synthetic"]] if real else None,
        generated,
        lambda uri: _read(roots, uri),
        output.read,
        lambda ids: read_regions(folders.regions, job.dataset, ids),
        splits=splits,
        job=job.id,
        texts=lambda ids: read_image_texts(folders.captions, job.dataset, ids),
    )
    state = dataset_state(store, job.dataset)
    mining = examination.FILE_OPTIONS if state.mining is None else state.mining_options()
    name = f"{job.dataset}, rebalanced by job {job.id}"
    examine = partial(_examine, replace(mining, split=None), name)
    return export(exported, format_, folder, options, progress, examine)


def _examine(
    options: MiningOptions, name: str, images: Incidence, generated: pd.DataFrame
) -> Findings:
    """Examine the images of an export for biases, with the combinations that were mined."""
    if np.count_nonzero(images.class_sizes()) < 2:
        return Findings()
    try:
        examined = examination.examine_images(images, options, name)
    except TooManyCliquesError:
        # What generated images add may be too much for the size that was mined.
        examined = examination.examine_images(images, replace(options, max_size=2), name)

    examined = replace(
        examined,
        query="cobalance ingest croissant.json --counts",
        n_generated=len(generated),
        activities=tuple(stored.activities_of(generated)),
    )
    return document.findings_of(examined)


def _images(store: GraphStore, dataset: str, progress: Progress) -> pd.DataFrame:
    annotations = read_annotations(store, dataset, progress)
    images = annotations.images
    return pd.DataFrame(
        {
            "id": images["id"].astype(object),
            "class": images["class_name"].astype(object),
            "split": images["split"].astype(object).where(images["split"].notna(), None),
            "uri": images["uri"],
            "width_px": images["width_px"],
            "height_px": images["height_px"],
            "concepts": annotations.concepts_by_image(),
            "synthetic": images["synthetic"],
        }
    )


def _read(roots: ImageRoots, uri: str) -> bytes:
    try:
        return roots.find(uri).read()
    except ImageFileError as error:
        raise OSError(error.render(in_environment)) from error


def _check_target(folders: Folders, folder: Path, dataset: str) -> None:
    target = folder.expanduser().resolve()
    for root in folders.image_roots(dataset):
        if "://" not in root and Path(root).expanduser().resolve().is_relative_to(target):
            raise ExportError(
                f"{folder} holds the images to export ({root}), and an export replaces its folder. "
                "Name another one."
            )


MOST_ZIP_MB = 200
"""Larger exports have no ZIP file: a download passes through the memory of the app."""


def folder_stem(dataset: str) -> str:
    """A dataset's name in characters that any shell and file system takes.

    Examples
    --------
    >>> folder_stem("my cars; rm"), folder_stem("...")
    ('my-cars-rm', 'dataset')
    """
    return re.sub(r"[^\w.-]+", "-", dataset).strip("-.")[:80] or "dataset"


@dataclass(frozen=True)
class WrittenExport:
    """An export on disk.

    Parameters
    ----------
    zip_file : Path or None
        The same as one file; None where it would be too large.
    counts : mapping of str to int
        As in `cobalance.generation.export.ExportReport`.
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
        """Its counts and size in words.

        Examples
        --------
        >>> counts = {"real images": 1, "generated images": 20, "real images left out": 2}
        >>> WrittenExport(Path("a"), None, counts, 2_340_000, datetime(2030, 1, 1)).text
        '1 real image, 20 generated images, 2 real images left out; 2.3 MB'
        """
        counts = [inflect(count, name) for name, count in self.counts.items() if count]
        return f"{', '.join(counts)}; {self.bytes / 1e6:,.1f} MB"


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
        See `cobalance.workflows.export.export_job`.

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
    written = find_export(folders, job, format_)
    assert written is not None  # noqa: S101 -- written above
    return written


def find_export(folders: Folders, job: Job, format_: str) -> WrittenExport | None:
    """The export of a job in a format, if it was written."""
    folder = export_folder(folders, job, format_)
    try:
        marker = msgspec.json.decode((folder / MARKER).read_bytes())
        written_at = datetime.fromtimestamp((folder / MARKER).stat().st_mtime, UTC)
        counts = {str(name): int(count) for name, count in marker["counts"].items()}
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None

    zip_file = _zip_file(folder)
    return WrittenExport(
        folder=folder,
        zip_file=zip_file if zip_file.exists() else None,
        counts=counts,
        bytes=size,
        written_at=written_at,
    )


def delete_export(folders: Folders, job: Job, format_: str) -> None:
    """Delete the export of a job in a format, if any."""
    written = find_export(folders, job, format_)
    if written is not None:
        _zip_file(written.folder).unlink(missing_ok=True)
        shutil.rmtree(written.folder)


def _zip_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.zip")


def _write_zip(folder: Path, progress: Progress) -> None:
    """Write a folder as a ZIP file, images as they are; it appears once it is complete."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with replacing(_zip_file(folder)) as part, zipfile.ZipFile(part, "w") as archive:
        for done, path in enumerate(files):
            progress("zip", done, len(files))
            archive.write(path, path.relative_to(folder.parent))
