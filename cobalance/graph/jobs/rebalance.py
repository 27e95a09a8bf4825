"""Merge the accepted images of a job with its dataset into a new dataset."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.base import (
    Action,
    Annotations,
    ConflictError,
    Counterfactual,
    DataError,
    ImageRecord,
    Mention,
    OptionError,
    Progress,
    plain_values,
    silent,
    stack_frames,
)
from cobalance.graph.database import GraphStore, schema
from cobalance.graph.database.statements import UPDATE_DATASET, merge_edges_statement
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import (
    IngestReport,
    check_name,
    dataset_state,
    read_annotations,
    without_own_tags,
    write_annotations,
)
from cobalance.graph.jobs import reads, statements
from cobalance.graph.jobs.status import Job

SOURCE = "generation-query"
"""Source of an unverified mention: the image was generated to show the concept."""

DEFAULT_SPLIT = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedImage(ImageRecord):
    """An accepted candidate as an image of its dataset.

    Parameters
    ----------
    job : str
        The job's id.
    source_image : str or None
        The id of the image, of the same dataset, that its object was taken from, or that was
        edited.
    edited : bool
        Whether it shows what its source shows, with the source's mentions beside its own.
    captions : tuple of str
        The source's captions, edited.
    patch_image : str or None
        The id of the image, of the same dataset, whose object is pasted into it.
    """

    synthetic: bool = True
    job: str
    source_image: str | None = None
    edited: bool = False
    captions: tuple[str, ...] = ()
    patch_image: str | None = None


def generated_id(candidate: str) -> str:
    """Image id of an accepted candidate."""
    return f"generated/{candidate}"


def read_accepted(store: GraphStore, job: str) -> list[AcceptedImage]:
    """Read a job's accepted candidates that have a file, by id.

    Each shows the concepts of its query, or has the mentions of the image that was edited.
    """
    rows = store.read(reads.ACCEPTED_IMAGES, job=job)
    images = []
    for row in sorted(rows, key=lambda row: str(row["id"])):
        provenance = json.loads(row["provenance"])
        # An edited image inherits the mentions of its source when it is written.
        concepts = () if row["edited"] else row["concepts"]
        image = AcceptedImage(
            id=generated_id(row["id"]),
            class_name=row["class_name"],
            mentions=tuple(Mention(name, SOURCE) for name in concepts),
            uri=row["uri"],
            width_px=provenance.get("width_px"),
            height_px=provenance.get("height_px"),
            job=job,
            source_image=row["source_image"],
            edited=row["edited"],
            captions=tuple(row["captions"]),
            patch_image=provenance.get("settings", {}).get("patch_image"),
        )
        images.append(image)
    return images


def read_sources(store: GraphStore, dataset: str) -> dict[str, str]:
    """For each generated image of a dataset that was made from another image, that one's id.

    The other image need not be in the dataset: of counterfactuals alone the candidates know it.
    """
    rows = store.read(reads.SOURCES, dataset=dataset, prefix=len(generated_id("")))
    return {row["id"]: row["source"] for row in rows if row["source"] is not None}


def read_changed(store: GraphStore, dataset: str) -> dict[str, bool]:
    """Whether each edited image of a dataset shows another group than its original.

    Images of which that is not known are left out.
    """
    rows = store.read(reads.CHANGED_GROUPS, dataset=dataset, prefix=len(generated_id("")))
    return {row["id"]: row["changed"] for row in rows if row["changed"] is not None}


def read_counterfactuals(store: GraphStore, job: str) -> list[Counterfactual]:
    """Read a job's edits with their accepted candidates, in the job's order."""
    rows = store.read(reads.COUNTERFACTUALS, job=job)
    return [Counterfactual(**row | {"images": tuple(sorted(row["images"]))}) for row in rows]


def _annotate_generated(
    images: Iterable[AcceptedImage],
    split_of: Mapping[str, str | None],
    cluster_of: Mapping[str, str | None],
) -> Annotations:
    """Convert generated images to annotations.

    Each is of the cluster and split of its source, so that none made from a test image is trained
    on; without a
    source it is of the only split that real images have, or of `DEFAULT_SPLIT` where they have
    several.

    Parameters
    ----------
    split_of, cluster_of : mapping of str to str or None
        The splits and clusters of the real images.

    Examples
    --------
    >>> made = AcceptedImage("generated/1", "bird", job="5f1c", source_image="7")
    >>> next(_annotate_generated([made], {"6": "train", "7": "test"}, {}).records()).split
    'test'
    """
    splits = set(split_of.values())
    usual = splits.pop() if len(splits) == 1 else DEFAULT_SPLIT
    records = []
    for image in images:
        source = image.source_image or ""
        split, cluster = split_of.get(source, usual), cluster_of.get(source)
        records.append(replace(image, split=split, cluster=cluster))
    return Annotations.from_records(records)


def write_rebalanced(
    store: GraphStore,
    job: Job,
    into: str,
    images: Sequence[AcceptedImage],
    *,
    real: Collection[str] | None = None,
    progress: Progress = silent,
) -> IngestReport:
    """Write a job's dataset with its accepted images into another dataset.

    Written again, only changes since are written. Boxes and outlines are not in the graph, see
    `cobalance.vision.stored.dataset_files`.

    Parameters
    ----------
    into : str
        The other dataset, which remembers the job; created if it does not exist.
    real : collection of str or None
        Ids of the dataset's images that it is to have; None for all.

    Raises
    ------
    ConflictError
        `into` is a dataset that was not written here for the same job. Nothing is changed.
    OptionError
        `into` cannot name a dataset, or is the job's dataset.
    DataError
        There are no images to add.
    NotFoundError, StaleError
        The job's dataset is gone, or not complete.
    ConflictError
        A real image of the dataset has the id of a generated one, or another process writes it.
    """
    dataset = job.dataset
    check_name(into)
    if into == dataset:
        raise OptionError(f"{dataset!r} cannot be written into itself. Name another dataset.")
    if not images:
        raise DataError(
            f"The job {job.id!r} has no accepted candidate with a file yet. Let workers generate "
            "some, or accept some by hand."
        )

    original_state = dataset_state(store, dataset)
    original = read_annotations(store, dataset, progress)
    annotations = _add_generated(original, images, real)

    _claim_copy(store, into, job.id)
    values = {"demo": original_state.demo, "made_from": original_state.digest}
    store.write(UPDATE_DATASET, dataset=into, values=values)
    report = write_annotations(
        store,
        into,
        without_own_tags(annotations),
        source=f"{dataset} and the images of job {job.id}",
        if_exists="replace",
        progress=progress,
    )
    _link(store, dataset, into, images)
    return report


def _add_generated(
    original: Annotations, images: Sequence[AcceptedImage], real: Collection[str] | None
) -> Annotations:
    """Put generated images beside the real ones, or beside some of these.

    ConflictError where a real image has the id of a generated one.
    """
    real_images = original.images[~original.images["synthetic"]]
    split_of = dict(zip(real_images["id"], plain_values(real_images["split"]), strict=True))
    cluster_of: dict[str, str | None] = {}
    if "cluster" in real_images:
        clusters = plain_values(real_images["cluster"])
        cluster_of = dict(zip(real_images["id"], clusters, strict=True))

    generated_ids = {image.id for image in images}
    conflicts = sorted(split_of.keys() & generated_ids)
    if conflicts:
        raise ConflictError(
            f"A real image has the id {conflicts[0]!r} of a generated one. Give it another id and "
            "ingest it again."
        )

    # The dataset may have some of them already.
    old_ids = set(original.images["id"])
    new_images = [image for image in images if image.id not in old_ids]
    annotations = original
    if real is not None:
        is_selected = original.images["id"].isin({*real, *generated_ids})
        annotations = original.take(np.flatnonzero(is_selected))
    if new_images:
        generated = _annotate_generated(new_images, split_of, cluster_of)
        generated = _with_inherited(generated, new_images, original)
        annotations = Annotations.concat([annotations, generated])
    return annotations


def _claim_copy(store: GraphStore, into: str, job: str) -> None:
    """Create the dataset unless it exists, and check that it belongs to the job."""
    rows = store.write(statements.CLAIM_COPY, into=into, job=job)
    if not rows or not rows[0]["own"]:
        raise ConflictError(
            f"A dataset {into!r} exists already, and is not the one that job {job!r} was written "
            "into. Choose another name, or ",
            Action("drop_dataset", into),
            " first.",
        )


def _link(store: GraphStore, dataset: str, into: str, images: Sequence[AcceptedImage]) -> None:
    """Link generated images, old and new, to their jobs and originals where these exist."""
    jobs, originals = [], []
    for row in store.read(reads.GENERATED_IMAGES, dataset=dataset):
        jobs.append([row["id"], row["job"]])
        originals.append([row["id"], row["source_image"]])
    for image in images:
        jobs.append([image.id, image.job])
        originals.append([image.id, image.source_image])

    for edge, ends in ((schema.GENERATED_BY, jobs), (schema.DERIVED_FROM, originals)):
        for rows in batches([row for row in ends if row[1]]):
            store.write(merge_edges_statement(edge), dataset=into, rows=rows)


def _with_inherited(
    generated: Annotations, images: Sequence[AcceptedImage], original: Annotations
) -> Annotations:
    """Give edited images the mentions of their sources, as far as the dataset has these."""
    row_of = dict(zip(original.images["id"], range(len(original.images)), strict=True))
    pairs = [
        (position, row_of[image.source_image])
        for position, image in enumerate(images)
        if image.edited and image.source_image in row_of
    ]

    sources = pd.DataFrame(pairs, columns=["to", "image"], dtype=np.int64)
    inherited = sources.merge(original.mentions)
    mentions = inherited.assign(image=inherited.pop("to"))[list(original.mentions.columns)]

    # Mentions are in the order of their images.
    both = stack_frames([generated.mentions, mentions], ("concept", "source"))
    both = both.sort_values("image", kind="stable", ignore_index=True)
    return replace(generated, mentions=both)
