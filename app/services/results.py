"""What becomes of a job's images: exported for training, and merged for the next diagnosis."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from app.services.rebalanced import RebalancedDataset, rebalanced_dataset
from app.settings import Settings
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
from graph.dataset.mining import mine_dataset
from graph.dataset.names import concept_names
from graph.dataset.read import read_annotations
from graph.errors import StaleError
from graph.jobs.merge import generated_id, read_accepted
from graph.jobs.status import read_job
from graph.progress import Progress, silent
from graph.records import Mention
from ingest.annotators import ANNOTATORS
from ingest.images.decoding import decode, rgb_array
from ingest.images.image_file import ImageFileError
from ingest.images.regions import read_regions
from ingest.images.roots import ImageRoots

_AT_ONCE = 16  # images that an annotator looks at
MAX_CLIQUES = 1_000_000


def export_job(
    store: GraphStore,
    settings: Settings,
    job: str,
    format_: str,
    folder: Path,
    options: ExportOptions,
    *,
    real: bool = True,
    progress: Progress = silent,
) -> ExportReport:
    """Write a job's dataset with its accepted images to a folder, or its generated images alone.

    Where the dataset has generated images from jobs before, they are among them.

    Raises
    ------
    JobNotFoundError
        There is no such job.
    ExportError, UnknownNameError, MissingExtraError
        The folder holds the images that are to be exported; see also `generation.export.export`.
    """
    _check_target(settings, folder)
    dataset = read_job(store, job).dataset
    output = OutputFolder(settings.output_folder())
    has_images = format_ != "weights"
    made = _accepted(store, output, job, check=has_images)
    held = _images(store, dataset, progress)
    if has_images:
        own = made["candidate"].map(generated_id)
        before = held[held["synthetic"] & ~held["id"].isin(own)]
        parts = [made, read_merged(store, output, before)]
        made = pd.concat([part for part in parts if len(part)] or [made], ignore_index=True)
    roots = ImageRoots(settings.image_roots())
    exported = ExportDataset(
        dataset,
        held[~held["synthetic"]] if real else None,
        made,
        lambda uri: _read(roots, uri),
        output.read,
        lambda ids: read_regions(settings.regions_folder(), dataset, ids),
        splits=dict(zip(held["id"], held["split"], strict=True)),
        job=job,
    )
    return export(exported, format_, folder, options, progress)


def merge_job(
    store: GraphStore,
    settings: Settings,
    job: str,
    into: str | None = None,
    *,
    annotator: str | None = None,
    annotator_options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> RebalancedDataset:
    """Write a job's dataset with its accepted images into another dataset, and mine that alike.

    Parameters
    ----------
    annotator : str or None
        A name in `ingest.annotators.ANNOTATORS`: the images then have the concepts that it
        finds, and not those that they were made for.

    Raises
    ------
    JobNotFoundError, DatasetExistsError, OptionError, StaleError
        See `app.services.rebalanced.rebalanced_dataset`.
    ExportError
        Accepted images are not in the output folder. Nothing is changed.
    """
    dataset = read_job(store, job).dataset
    _check_files(store, OutputFolder(settings.output_folder()), job)
    found = None
    if annotator is not None:
        found = annotate_job(store, settings, job, annotator, annotator_options or {}, progress)
    merged = rebalanced_dataset(store, settings, job, into, found=found, progress=progress)
    try:
        mining = mined_with(store, dataset)
    except StaleError:  # has changed since the plan; there is nothing to compare with
        return merged
    mine_dataset(store, merged.dataset, mining, max_cliques=MAX_CLIQUES, progress=progress)
    return merged


def annotate_job(
    store: GraphStore,
    settings: Settings,
    job: str,
    annotator: str,
    options: Mapping[str, Any],
    progress: Progress = silent,
) -> dict[str, Sequence[Mention]]:
    """Give by candidate the concepts of its dataset that an annotator finds in accepted images."""
    checked = ANNOTATORS.check(annotator, options)
    dataset = read_job(store, job).dataset
    vocabulary = concept_names(store, dataset)
    output = OutputFolder(settings.output_folder())
    made = _accepted(store, output, job)
    names, paths = made["candidate"].tolist(), made["path"].tolist()
    looks = ANNOTATORS.open(annotator, checked)
    found: dict[str, Sequence[Mention]] = {}
    for start in range(0, len(names), _AT_ONCE):
        files = (output.read(path) for path in paths[start : start + _AT_ONCE])
        images = [rgb_array(decode(content).stored) for content in files]
        mentions = looks.annotate(images, vocabulary)
        found |= zip(names[start : start + _AT_ONCE], mentions, strict=True)
        progress("annotate", len(found), len(names))
    return found


def _accepted(
    store: GraphStore, output: OutputFolder, job: str, *, check: bool = True
) -> pd.DataFrame:
    """The manifest's rows of a job's accepted images that have a file.

    Raises
    ------
    ExportError
        Workers wrote them, or some of them, to another folder than this one.
    """
    found = read_job(store, job)
    made = read_job_manifest(store, output, job)
    accepted = made[made["verdict"] == "accepted"]
    is_short = len(accepted) < found.accepted and not (found.is_active and len(accepted))
    if check and is_short:
        raise _not_all(output, job, len(accepted), found.accepted)
    return accepted[accepted["path"].notna()]


def _check_files(store: GraphStore, output: OutputFolder, job: str) -> None:
    """Make sure that the files of a job's accepted images are there.

    Raises
    ------
    ExportError
        They are not, or not all of them.
    """
    wanted = [image.uri for image in read_accepted(store, job)]
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
        raise OSError(str(error)) from error


def _check_target(settings: Settings, folder: Path) -> None:
    target = folder.expanduser().resolve()
    for root in settings.image_roots():
        if "://" not in root and Path(root).expanduser().resolve().is_relative_to(target):
            raise ExportError(
                f"{folder} holds the images to export ({root}), and an export replaces its folder. "
                "Name another one."
            )
