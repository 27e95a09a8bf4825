"""Add a job's accepted images to a copy of its dataset."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.annotation import ANNOTATORS
from cobalance.base import (
    Annotations,
    Mention,
    Progress,
    StaleError,
    clean_name,
    inflect,
    log_run,
    map_optional,
    silent,
)
from cobalance.generation import ExportError, compose_job
from cobalance.graph import (
    CONCEPT,
    MAX_CLIQUES,
    AcceptedImage,
    GraphStore,
    IngestReport,
    Job,
    apply_tags,
    generated_id,
    mine_dataset,
    read_accepted,
    read_classes,
    read_mining_options,
    read_names,
    write_rebalanced,
)
from cobalance.ingest import (
    CREDITS,
    caption_files,
    join_credits,
    read_image_texts,
    write_image_texts,
)
from cobalance.vision import ImageArray, decode, region_files, rgb_array
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.folders import Folders, picture_files, place_files

# Images that an annotator looks at together.
_BATCH = 16


@dataclass(frozen=True)
class RebalancedDataset:
    """A copy of a dataset with a job's accepted images.

    Parameters
    ----------
    dataset : str
        The copy's name.
    generated : int
        How many of its images the job generated.
    real : int or None
        How many others it has, where not all of the job's dataset.
    report : IngestReport
        Changes that writing it made.
    left_out, stay : mapping of str to int
        Of a job that edits images, how many images it does not have, and how many it has without a
        counterfactual of each group, by reason.
    counted : str
        How many images mining it has counted, as a sentence.
    """

    dataset: str
    generated: int
    report: IngestReport
    real: int | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    stay: Mapping[str, int] = field(default_factory=dict)
    counted: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on images that are left out, or kept unedited."""
        remarks = [f"Left out: {inflect(n, reason)}." for reason, n in self.left_out.items()]
        remarks += [f"Kept: {inflect(n, reason)}." for reason, n in self.stay.items()]
        return tuple(remarks)


@log_run
def rebalance_job(
    store: GraphStore,
    folders: Folders,
    job: Job,
    into: str | None = None,
    *,
    annotator: str | None = None,
    annotator_options: Mapping[str, Any] | None = None,
    result: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> RebalancedDataset:
    """Write a job's dataset with its accepted images into another dataset, and mine it alike.

    Parameters
    ----------
    annotator : str or None
        A name in `cobalance.annotation.annotators.ANNOTATORS`: the images then have the concepts
        that it finds, not those that they were generated for.
    result : mapping, optional
        Of a job that edits images, what differs from the recipe's `ResultOptions`: which images the
        other dataset has.

    Raises
    ------
    ConflictError, OptionError, StaleError
        See `copy_rebalanced`.
    ExportError
        Accepted images are not in the output folder. Nothing is changed.
    """
    options = None
    if annotator is not None:
        options = ANNOTATORS.check(annotator, annotator_options or {})
    output = folders.open_output()
    images = read_accepted(store, job.id)
    _check_files(output, job.id, images)
    if annotator is not None:
        annotate = ANNOTATORS.open(annotator, options).annotate
        vocabulary = read_names(store, job.dataset, CONCEPT)
        images = _annotate(images, output, partial(annotate, vocabulary=vocabulary), progress)

    merged = copy_rebalanced(
        store, folders, job, into, images=images, result=result, progress=progress
    )

    # A dataset that has changed since the plan has no cliques to compare with.
    try:
        mining = read_mining_options(store, job.dataset)
    except StaleError:
        return merged
    report = mine_dataset(
        store, merged.dataset, mining, max_cliques=MAX_CLIQUES, since=job.dataset, progress=progress
    )
    return replace(merged, counted=report.describe())


def copy_rebalanced(
    store: GraphStore,
    folders: Folders,
    job: Job,
    into: str | None = None,
    *,
    images: Sequence[AcceptedImage],
    result: Mapping[str, Any] | None = None,
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
    result : mapping, optional
        As `rebalance_job` takes it.

    Raises
    ------
    ConflictError
        `into` is a dataset that was not made here for the same job.
    OptionError
        There are no images, or `into` cannot name a dataset.
    StaleError
        The job's dataset is incomplete: an ingest of it has not ended.
    """
    name = f"{job.dataset}-rebalanced" if into is None else clean_name(into)
    composed = compose_job(store, job, lambda: read_classes(store, job.dataset), result)
    real: Sequence[str] | None = None
    left_out: Mapping[str, int] = {}
    stay: Mapping[str, int] = {}
    # A job that edits images may replace real ones, or leave some out.
    if composed is not None:
        chosen = set(map(generated_id, composed.generated))
        images = [image for image in images if image.id in chosen]
        real, left_out, stay = composed.real, composed.left_out, composed.stay
    logging.getLogger(__name__).debug("left out: %s, kept unedited: %s", left_out, stay)

    report = write_rebalanced(store, job, name, images, real=real, progress=progress)
    apply_tags(store, name, progress=progress)
    region_files(folders.regions).copy(job.dataset, name)
    place_files(folders.home).copy(job.dataset, name)
    picture_files(folders.home).copy(job.dataset, name)
    _write_captions(folders.captions, job.dataset, name, images)

    return RebalancedDataset(
        dataset=name,
        generated=len(images),
        report=report,
        real=map_optional(len, real),
        left_out=left_out,
        stay=stay,
    )


def _write_captions(folder: Path, dataset: str, into: str, images: Sequence[AcceptedImage]) -> None:
    """Copy a dataset's captions, and add edited images' captions with their sources' licences."""
    caption_files(folder).copy(dataset, into)
    edited = [image for image in images if image.edited]
    sources = [(image.source_image, image.patch_image) for image in edited]
    ids = set(filter(None, chain.from_iterable(sources)))
    rows = read_image_texts(folder, dataset, ids)
    if rows.empty:
        return

    # An edit needs the licences of both images that its pixels come from.
    credits_of: dict[Any, Any] = rows.set_index("id")[list(CREDITS)].to_dict("index")
    joined = []
    for pair in sources:
        source_credits = [credits_of.get(image, {}) for image in filter(None, pair)]
        joined.append(join_credits(source_credits))
    texts = pd.DataFrame(joined, dtype=object)
    texts.insert(0, "image", range(len(edited)))
    texts.insert(1, "captions", [list(image.captions) or None for image in edited])
    write_image_texts(folder, into, replace(Annotations.from_records(edited), texts=texts))


def _annotate(
    images: Sequence[AcceptedImage],
    output: OutputFolder,
    annotate: Callable[[list[ImageArray]], Sequence[Sequence[Mention]]],
    progress: Progress,
) -> list[AcceptedImage]:
    """The images with the concepts that an annotator finds in their files."""
    annotated: list[AcceptedImage] = []
    for start in range(0, len(images), _BATCH):
        batch = images[start : start + _BATCH]
        pixels = [rgb_array(decode(output.read(str(image.uri))).stored) for image in batch]
        for image, mentions in zip(batch, annotate(pixels), strict=True):
            annotated.append(replace(image, mentions=tuple(mentions)))
        progress("annotate", len(annotated), len(images))
    return annotated


def _check_files(output: OutputFolder, job: str, images: Iterable[AcceptedImage]) -> None:
    """Check that the output folder has the files of a job's accepted images."""
    folder = f"{job}/images"
    written = {f"{folder}/{name}" for name in output.names(folder)}
    uris = [image.uri for image in images]
    missing = [uri for uri in uris if uri not in written]
    if missing:
        n_written = len(uris) - len(missing)
        raise not_all(output, job, n_written, len(uris), str(missing[0]))


def not_all(
    output: OutputFolder, job: str, found: int, wanted: int, gone: str | None = None
) -> ExportError:
    """The error where an output folder lacks accepted images of a job."""
    # Where no image is there, the folder is another one.
    remedy = ""
    if found and gone:
        remedy = f", put back what is gone, such as {gone}, or reject it in the web app"
    return ExportError(
        f"{output.place} has {found:,} of the {wanted:,} accepted images of job {job}. Name the "
        f"folder that its workers wrote to with COBALANCE_OUTPUT{remedy}."
    )
