"""Load, drop and rename a dataset together with its regions and captions."""

from pathlib import Path
from typing import Any

from cobalance.base import NO_LIMIT, Annotations, Progress, clean_name, inflect, log_run, silent
from cobalance.graph import (
    GraphStore,
    IfExists,
    IngestReport,
    Sample,
    apply_tags,
    dataset_state,
    has_accepted,
    list_runs,
    without_own_tags,
    write_annotations,
    write_sampled,
)
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.graph.dataset import drop_rename
from cobalance.ingest import PackedPictures, caption_files, embedding_files, write_image_texts
from cobalance.vision import DatasetFiles, region_files, write_regions
from cobalance.workflows.folders import Folders, picture_files, place_files
from cobalance.workflows.label.decide import apply_accepted
from cobalance.workflows.properties import property_files, show_properties


def default_dataset_name(file: Path | str) -> str:
    """The name of the dataset that a file is loaded into by default.

    Examples
    --------
    >>> default_dataset_name("annotations/cars.train.csv")
    'cars'
    """
    return clean_name(Path(file).name.partition(".")[0])


@log_run
def load_dataset(
    store: GraphStore,
    folders: Folders,
    dataset: str,
    annotations: Annotations,
    sample: Sample | None = None,
    *,
    source: str,
    if_exists: IfExists = "fail",
    demo: bool | None = None,
    pictures: PackedPictures | None = None,
    progress: Progress = silent,
) -> IngestReport:
    """Load annotations into the graph, and regions and captions into files beside it.

    What accepted annotation runs found, and image properties, are added to them again, and what
    tags say is applied. With a sample, the graph gets the counts and these images, as
    `write_sampled` has it, and no files.

    Parameters
    ----------
    source, if_exists
        As of `write_annotations`.
    demo : bool, optional
        Whether it is a demonstration's from now on.
    pictures : PackedPictures, optional
        Pictures to keep with the dataset. They take the place of earlier ones, except where images
        are appended.

    Raises
    ------
    MachineError
        The pictures cannot be written.
    ConflictError
        The dataset holds images of another source, or a sample of its images, or all where a sample
        is asked for.
    StoreError
        Another process writes the same dataset at the same time, or the database fails, or the
        images' regions or captions cannot be written.
    """
    annotations = without_own_tags(annotations)
    options: dict[str, Any] = {"source": source, "if_exists": if_exists, "progress": progress}
    if sample is not None:
        report = write_sampled(store, dataset, annotations, sample, **options)
    else:
        report = write_annotations(store, dataset, annotations, **options)
        replace = if_exists == "replace"
        write_regions(folders.regions, dataset, annotations, replace=replace, progress=progress)
        write_image_texts(
            folders.captions,
            dataset,
            annotations,
            replace=replace,
            afresh=not (report.updated or report.deleted or report.unchanged or report.kept),
            progress=progress,
        )

        # Also where nothing is new: an earlier loading may have been interrupted before this.
        if has_accepted(store, dataset):
            apply_accepted(store, folders.open_output(), dataset, progress)
        show_properties(store, folders, dataset, progress=progress)
        apply_tags(store, dataset, progress=progress)

    _keep_pictures(folders, dataset, pictures or PackedPictures(), if_exists, progress)
    store.write(UPDATE_DATASET, dataset=dataset, values={"demo": demo})
    return report


def _keep_pictures(
    folders: Folders,
    dataset: str,
    pictures: PackedPictures,
    if_exists: IfExists,
    progress: Progress,
) -> None:
    """Write uploaded pictures to the home; earlier ones go where others replace them."""
    files = picture_files(folders.home)
    if if_exists == "replace" or (pictures.paths and if_exists != "append"):
        files.drop(dataset)
    if pictures.paths:
        with files.writing():
            pictures.unpack(files.path(dataset), progress=progress)


def drop_dataset(
    store: GraphStore, folders: Folders, dataset: str, progress: Progress = silent
) -> None:
    """Delete a dataset from the graph, its files and uploaded pictures, and annotation runs' files.

    Images that jobs made stay; scores and replies mean nothing without the dataset. Files go first:
    if interrupted, run it again.

    Raises
    ------
    NotFoundError
        There is no dataset of this name.
    JobBlockedError
        The files cannot be deleted; the graph is as it was.
    """
    dataset_state(store, dataset)
    runs = list_runs(store, dataset, limit=NO_LIMIT)
    if runs:
        folder = folders.open_output()
        for run in runs:
            folder.delete_folder(f"annotations/{run.id}")

    drop_rename.drop_dataset(store, dataset, progress)
    for files in (*dataset_files(folders), picture_files(folders.home)):
        files.drop(dataset)


def rename_dataset(
    store: GraphStore, folders: Folders, dataset: str, new: str, progress: Progress = silent
) -> None:
    """Rename a dataset in the graph, its files and its uploaded pictures.

    Raises
    ------
    ConflictError
        The new name is taken.
    """
    drop_rename.rename_dataset(store, dataset, new, progress)
    for files in (*dataset_files(folders), picture_files(folders.home)):
        files.rename(dataset, new)


def dataset_files(folders: Folders) -> tuple[DatasetFiles, ...]:
    """Regions, captions, embeddings, properties and places of images, beside the graph."""
    regions, captions = region_files(folders.regions), caption_files(folders.captions)
    embeddings, properties = embedding_files(folders.embeddings), property_files(folders.properties)
    return regions, captions, embeddings, properties, place_files(folders.home)


def describe_load(dataset: str, report: IngestReport) -> str:
    """Summarize a load in one sentence.

    Examples
    --------
    >>> describe_load("cars", IngestReport(4, 1, 0, 2, 0))
    'cars: 4 images new, 1 changed, 0 deleted, 2 as before.'
    """
    return (
        f"{dataset}: {inflect(report.created, 'images')} new, {report.updated:,} changed, "
        f"{report.deleted:,} deleted, {report.unchanged:,} as before."
    )
