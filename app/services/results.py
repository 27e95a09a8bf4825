"""Use a job's accepted images: export them for training, or add them to a copy of the dataset."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from app.settings import Settings, in_environment
from generation.export import (
    ExportDataset,
    ExportError,
    ExportOptions,
    ExportReport,
    export,
)
from generation.export.merged import read_merged
from generation.output.folder import OutputFolder
from generation.output.job_manifest import read_job_manifest
from graph.database.store import GraphStore
from graph.dataset.cliques import mined_with
from graph.dataset.mining import MAX_CLIQUES, mine_dataset
from graph.dataset.names import concept_names
from graph.dataset.read import read_annotations
from graph.dataset.write import IngestReport
from graph.errors import StaleError
from graph.jobs.merge import AcceptedImage, generated_id, read_accepted, write_rebalanced
from graph.jobs.status import Job
from graph.progress import Progress, silent
from graph.records import Mention
from ingest.annotators import ANNOTATORS
from ingest.images.arrays import ImageArray
from ingest.images.decoding import decode, rgb_array
from ingest.images.image_file import ImageFileError
from ingest.images.regions import copy_regions, read_regions
from ingest.images.roots import ImageRoots

_BATCH = 16  # images that an annotator looks at together


@dataclass(frozen=True)
class RebalancedDataset:
    """A copy of a dataset with a job's accepted images.

    Parameters
    ----------
    dataset : str
        The copy's name.
    generated : int
        How many of its images the job generated.
    report : IngestReport
        Changes that writing it made.
    """

    dataset: str
    generated: int
    report: IngestReport


def export_job(
    store: GraphStore,
    settings: Settings,
    job: Job,
    format_: str,
    folder: Path,
    options: ExportOptions,
    *,
    real: bool = True,
    progress: Progress = silent,
) -> ExportReport:
    """Write a job's dataset with its accepted images to a folder.

    Generated images of earlier jobs that the dataset holds are exported too.

    Parameters
    ----------
    real : bool
        Export the real images as well.

    Raises
    ------
    ExportError, UnknownNameError, MissingExtraError
        The folder holds the images that are to be exported; see also `generation.export.export`.
    """
    _check_target(settings, folder)
    output = OutputFolder(settings.output_folder())
    has_images = format_ != "weights"
    made = _accepted(store, output, job, check=has_images)
    held = _images(store, job.dataset, progress)
    if has_images:
        own = made["candidate"].map(generated_id)
        before = held[held["synthetic"] & ~held["id"].isin(own)]
        parts = [made, read_merged(store, output, before)]
        made = pd.concat([part for part in parts if len(part)] or [made], ignore_index=True)
    roots = ImageRoots(settings.image_roots())
    exported = ExportDataset(
        job.dataset,
        held[~held["synthetic"]] if real else None,
        made,
        lambda uri: _read(roots, uri),
        output.read,
        lambda ids: read_regions(settings.regions_folder(), job.dataset, ids),
        splits=dict(zip(held["id"], held["split"], strict=True)),
        job=job.id,
    )
    return export(exported, format_, folder, options, progress)


def merge_job(
    store: GraphStore,
    settings: Settings,
    job: Job,
    into: str | None = None,
    *,
    annotator: str | None = None,
    annotator_options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> RebalancedDataset:
    """Write a job's dataset with its accepted images into another dataset, and mine it alike.

    Parameters
    ----------
    annotator : str or None
        A name in `ingest.annotators.ANNOTATORS`: the images then have the concepts that it
        finds, not those that they were generated for.

    Raises
    ------
    DatasetExistsError, OptionError, StaleError
        See `rebalanced_dataset`.
    ExportError
        Accepted images are not in the output folder. Nothing is changed.
    """
    options = None
    if annotator is not None:
        options = ANNOTATORS.check(annotator, annotator_options or {})
    output = OutputFolder(settings.output_folder())
    images = read_accepted(store, job.id)
    _check_files(output, job.id, images)
    if annotator is not None:
        annotate = ANNOTATORS.open(annotator, options).annotate
        vocabulary = concept_names(store, job.dataset)
        images = _annotated(images, output, partial(annotate, vocabulary=vocabulary), progress)
    merged = rebalanced_dataset(store, settings, job, into, images=images, progress=progress)
    try:
        mining = mined_with(store, job.dataset)
    except StaleError:  # has changed since the plan; there is nothing to compare with
        return merged
    mine_dataset(store, merged.dataset, mining, max_cliques=MAX_CLIQUES, progress=progress)
    return merged


def rebalanced_dataset(
    store: GraphStore,
    settings: Settings,
    job: Job,
    into: str | None = None,
    *,
    images: Sequence[AcceptedImage],
    progress: Progress = silent,
) -> RebalancedDataset:
    """Copy a job's dataset and its accepted images into another dataset, ready for mining.

    A repeated call writes only what has changed. The job's own dataset is not touched.

    Parameters
    ----------
    into : str or None
        Name of the other dataset; by default the job's dataset with ``-rebalanced`` appended.
    images : sequence of AcceptedImage
        The job's accepted images; each takes the split of the image that its object comes from.

    Raises
    ------
    DatasetExistsError
        `into` is a dataset that was not made here for the same job.
    OptionError
        There are no images, or `into` cannot name a dataset.
    StaleError
        The job's dataset is incomplete: an ingest of it has not ended.
    """
    name = f"{job.dataset}-rebalanced" if into is None else into
    report = write_rebalanced(store, job, name, images, progress=progress)
    copy_regions(settings.regions_folder(), job.dataset, name)
    return RebalancedDataset(name, len(images), report)


def _annotated(
    images: Sequence[AcceptedImage],
    output: OutputFolder,
    annotate: Callable[[list[ImageArray]], Sequence[Sequence[Mention]]],
    progress: Progress,
) -> list[AcceptedImage]:
    """The images with the concepts that an annotator finds in their files."""
    annotated: list[AcceptedImage] = []
    for start in range(0, len(images), _BATCH):
        batch = images[start : start + _BATCH]
        found = annotate([rgb_array(decode(output.read(str(image.uri))).stored) for image in batch])
        annotated += [
            replace(image, mentions=tuple(mentions))
            for image, mentions in zip(batch, found, strict=True)
        ]
        progress("annotate", len(annotated), len(images))
    return annotated


def _accepted(
    store: GraphStore, output: OutputFolder, job: Job, *, check: bool = True
) -> pd.DataFrame:
    """The manifest rows of a job's accepted images that have a file.

    Raises
    ------
    ExportError
        Some of them are not in this output folder.
    """
    made = read_job_manifest(store, output, job.id)
    accepted = made[made["verdict"] == "accepted"]
    is_short = len(accepted) < job.accepted and not (job.is_active and len(accepted))
    if check and is_short:
        raise _not_all(output, job.id, len(accepted), job.accepted)
    return accepted[accepted["path"].notna()]


def _check_files(output: OutputFolder, job: str, images: Iterable[AcceptedImage]) -> None:
    """Check that the output folder has the files of a job's accepted images.

    Raises
    ------
    ExportError
        Some are missing.
    """
    wanted = [image.uri for image in images]
    folder = f"{job}/images"
    there = {f"{folder}/{name}" for name in output.names(folder)}
    gone = [uri for uri in wanted if uri not in there]
    if gone:
        raise _not_all(output, job, len(wanted) - len(gone), len(wanted), str(gone[0]))


def _not_all(
    output: OutputFolder, job: str, found: int, wanted: int, gone: str | None = None
) -> ExportError:
    lost = f", put back what is gone, such as {gone}, or reject it in the web app" if found else ""
    return ExportError(
        f"{output.place} has {found:,} of the {wanted:,} accepted images of job {job}. Name the "
        f"folder that its workers wrote to with COBALANCE_OUTPUT{lost if gone else ''}."
    )


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
        raise OSError(error.worded(in_environment)) from error


def _check_target(settings: Settings, folder: Path) -> None:
    target = folder.expanduser().resolve()
    for root in settings.image_roots():
        if "://" not in root and Path(root).expanduser().resolve().is_relative_to(target):
            raise ExportError(
                f"{folder} holds the images to export ({root}), and an export replaces its folder. "
                "Name another one."
            )
