"""Export a job's dataset with its accepted images for training."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.generation.export import (
    ExportDataset,
    ExportError,
    ExportOptions,
    ExportReport,
    export,
)
from cobalance.generation.export.counterfactuals import compose_job, with_source_concepts
from cobalance.generation.export.merged import read_merged
from cobalance.generation.output.job_manifest import read_job_manifest
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.jobs.merge import generated_id
from cobalance.graph.jobs.status import Job
from cobalance.graph.progress import Progress, silent
from cobalance.graph.run_log import log_run
from cobalance.graph.tags.applying import find_left_out
from cobalance.ingest.captions.image_texts import read_image_texts
from cobalance.ingest.images.image_file import ImageFileError
from cobalance.ingest.images.regions import read_regions
from cobalance.ingest.images.roots import ImageRoots
from cobalance.ingest.stored.output_folder import OutputFolder
from cobalance.workflows.folders import Folders
from cobalance.workflows.merge import not_all
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
    _check_target(folders, folder)
    output = folders.open_output()
    has_images = format_ != "weights"
    made = _accepted(store, output, job, check=has_images)
    held = _images(store, job.dataset, progress)
    held = held[~held["id"].isin(find_left_out(store, job.dataset))]
    splits = dict(zip(held["id"], held["split"], strict=True))
    composed = compose_job(store, job, lambda: held, result)
    if composed is not None:
        made = with_source_concepts(made[made["candidate"].isin(composed.generated)], held)
        held = held[held["id"].isin(composed.real)]
    if has_images:
        own = made["candidate"].map(generated_id)
        before = held[held["synthetic"] & ~held["id"].isin(own)]
        parts = [made, read_merged(store, output, before)]
        made = pd.concat([part for part in parts if len(part)] or [made], ignore_index=True)
    logging.getLogger(__name__).debug("images: %d held, %d made", len(held), len(made))
    roots = ImageRoots(folders.image_roots())
    exported = ExportDataset(
        job.dataset,
        held[~held["synthetic"]] if real else None,
        made,
        lambda uri: _read(roots, uri),
        output.read,
        lambda ids: read_regions(folders.regions, job.dataset, ids),
        splits=splits,
        job=job.id,
        texts=lambda ids: read_image_texts(folders.captions, job.dataset, ids),
    )
    return export(exported, format_, folder, options, progress)


def _accepted(
    store: GraphStore, output: OutputFolder, job: Job, *, check: bool = True
) -> pd.DataFrame:
    """The manifest rows of a job's accepted images that have a file.

    Raises
    ------
    ExportError
        Some of them are not in this output folder.
    """
    accepted = read_job_manifest(store, output, job.id, "accepted")
    is_short = len(accepted) < job.accepted and not (job.is_active and len(accepted))
    if check and is_short:
        raise not_all(output, job.id, len(accepted), job.accepted)
    return accepted[accepted["path"].notna()]


def _images(store: GraphStore, dataset: str, progress: Progress) -> pd.DataFrame:
    annotations = read_annotations(store, dataset, progress)
    images, mentions = annotations.images, annotations.mentions
    concepts: list[list[str]] = [[] for _ in range(len(images))]
    for at, name in zip(mentions["image"].tolist(), mentions["concept"].tolist(), strict=True):
        if name not in concepts[at]:
            concepts[at].append(name)
    return pd.DataFrame(
        {
            "id": images["id"].astype(object),
            "class": images["class_name"].astype(object),
            "split": images["split"].astype(object).where(images["split"].notna(), None),
            "uri": images["uri"],
            "width_px": images["width_px"],
            "height_px": images["height_px"],
            "concepts": concepts,
            "synthetic": images["synthetic"],
        }
    )


def _read(roots: ImageRoots, uri: str) -> bytes:
    try:
        return roots.find(uri).read()
    except ImageFileError as error:
        raise OSError(error.render(in_environment)) from error


def _check_target(folders: Folders, folder: Path) -> None:
    target = folder.expanduser().resolve()
    for root in folders.image_roots():
        if "://" not in root and Path(root).expanduser().resolve().is_relative_to(target):
            raise ExportError(
                f"{folder} holds the images to export ({root}), and an export replaces its folder. "
                "Name another one."
            )
