"""Datasets of which the graph keeps all counts, and a sample of the images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cobalance.base import (
    Action,
    Annotations,
    ConflictError,
    ImageRecord,
    IntArray,
    Mention,
    Progress,
    Setting,
    plain_values,
    silent,
)
from cobalance.counting import Cliques, CoOccurrence, priorities, sample_rows
from cobalance.counting.cooccurrence import cooccurrence
from cobalance.graph.database import Claim, GraphStore, Node, schema
from cobalance.graph.database.statements import (
    UPDATE_DATASET,
    clear_statement,
    delete_statement,
    drop_statement,
    merge_statement,
)
from cobalance.graph.database.sync import batches, compare, read_digests
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.cliques import read_mined_digest
from cobalance.graph.dataset.image_contents import image_digests
from cobalance.graph.dataset.image_lists import write_image_lists
from cobalance.graph.dataset.incidence_table import (
    SplitIncidence,
    split_incidence,
    write_incidence_table,
)
from cobalance.graph.dataset.names import read_names
from cobalance.graph.dataset.state import DatasetState, Sample
from cobalance.graph.dataset.write import (
    IfExists,
    IngestReport,
    dataset_digest,
    find_loaded,
    make_dataset,
    set_counts,
    write_cooccurrence,
    write_images,
)


@dataclass(frozen=True, eq=False)
class ImageTotals:
    """All counts of single concepts and pairs, of images that the graph does not keep.

    Parameters
    ----------
    concepts, classes : tuple of str
        Names, ascending.
    class_sizes, without_concepts : int64 array, shape (n_classes,)
        Images of each class, and those that show no concept.
    edges : CoOccurrence
        Of concepts with classes and with each other.
    splits : mapping of str or None to int
        Images of each split.
    digest : int
        Of the images, as `DatasetState.digest`.
    """

    concepts: tuple[str, ...]
    classes: tuple[str, ...]
    class_sizes: IntArray
    without_concepts: IntArray
    edges: CoOccurrence
    splits: Mapping[str | None, int]
    digest: int

    @classmethod
    def of(cls, images: SplitIncidence, digest: int) -> "ImageTotals":
        """Count images in memory."""
        incidence = images.incidence

        # The code -1, of an image without a split, is the last: the modulo makes it so.
        names = (*images.split_names, None)
        split_sizes = np.bincount(images.splits % len(names), minlength=len(names)).tolist()
        splits = {name: n for name, n in zip(names, split_sizes, strict=True) if n}

        return cls(
            concepts=incidence.concepts,
            classes=incidence.classes,
            class_sizes=incidence.class_sizes(),
            without_concepts=incidence.without_concepts(),
            edges=cooccurrence(incidence),
            splits=splits,
            digest=digest,
        )

    def concept_images(self) -> IntArray:
        """Images with each concept: int64, shape (n_concepts,)."""
        counts = np.zeros(len(self.concepts), dtype=np.int64)
        np.add.at(counts, self.edges.class_concept[:, 1], self.edges.class_concept_images)
        return counts


def write_sampled(
    store: GraphStore,
    dataset: str,
    annotations: Annotations,
    sample: Sample,
    *,
    source: str,
    if_exists: IfExists = "fail",
    progress: Progress = silent,
) -> IngestReport:
    """Load the counts of annotations; mining then chooses the images to keep.

    All images are packed into a few nodes, so that they can be mined with any options. Interrupted,
    it leaves the dataset incomplete, and goes on when run again.

    Parameters
    ----------
    dataset, source
        As of `write_annotations`.
    if_exists : {"fail", "append", "replace"}
        With ``replace``, put these images in place of others that the dataset has.

    Raises
    ------
    ConflictError
        The dataset has all of its images in the graph; it has other images, and they are not to be
        replaced; or another process writes it, too.
    StoreError
        The database fails.
    """
    images, digests = annotations.images, image_digests(annotations)
    packed = replace(split_incidence(annotations), uris=plain_values(images["uri"]))

    totals = ImageTotals.of(packed, dataset_digest(digests, (), len(digests)))
    return write_totals(
        store,
        dataset,
        totals,
        sample,
        source=source,
        images=packed,
        if_exists=if_exists,
        progress=progress,
    )


def dry_run_sampled(
    store: GraphStore, dataset: str, annotations: Annotations, *, if_exists: IfExists = "fail"
) -> IngestReport:
    """Return the report of `write_sampled` without writing anything; errors as of `dry_run`."""
    state = find_loaded(store, dataset)
    digests = image_digests(annotations)
    if state is None:
        return IngestReport(created=len(digests), updated=0, deleted=0, unchanged=0, kept=0)

    digest = dataset_digest(digests, (), len(digests))
    before = _check_replaceable(store, state, digest, if_exists)
    if state.digest == digest:
        return IngestReport(created=0, updated=0, deleted=0, unchanged=len(digests), kept=0)
    return IngestReport(created=len(digests), updated=0, deleted=before, unchanged=0, kept=0)


def write_totals(
    store: GraphStore,
    dataset: str,
    totals: ImageTotals,
    sample: Sample,
    *,
    source: str,
    images: SplitIncidence | None = None,
    if_exists: IfExists = "fail",
    progress: Progress = silent,
    images_at: str | None = None,
    files_stamp: str | None = None,
) -> IngestReport:
    """Load counts as `write_sampled` does, with or without the packed images.

    Parameters
    ----------
    images : SplitIncidence or None
        With ids and files; None where mining finds them elsewhere.
    images_at, files_stamp : str or None
        Where that is, as `DatasetState` has it.
    """
    state = make_dataset(store, dataset)
    n_images = int(totals.class_sizes.sum())
    is_same = (state.digest, state.sample, state.images_at) == (totals.digest, sample, images_at)
    if is_same and state.is_complete:
        store.write(UPDATE_DATASET, dataset=dataset, values={"files_stamp": files_stamp})
        return IngestReport(created=0, updated=0, deleted=0, unchanged=n_images, kept=0)
    before = _check_replaceable(store, state, totals.digest, if_exists)

    claim = Claim.take(store, dataset)
    store.write(statements.BEGIN_IMAGES, dataset=dataset, source=source)
    properties = {
        "sample": sample.per_class,
        "sample_seed": sample.seed,
        "images_at": images_at,
        "files_stamp": files_stamp,
        "cliques_digest": None,
    }
    store.write(UPDATE_DATASET, dataset=dataset, values=properties)
    # Mining chooses the images to keep anew.
    sync_sample(claim, totals.digest, split_incidence(Annotations.from_records(())), progress)

    _keep_only(store, dataset, schema.CLASS, totals.classes)
    _keep_only(store, dataset, schema.CONCEPT, totals.concepts)

    progress("co-occurrence", 0, None)
    write_cooccurrence(claim, totals.edges, totals.concepts, totals.classes)
    for node, count, names, counts in (
        (schema.CLASS, "images", totals.classes, totals.class_sizes),
        (schema.CLASS, "without_concepts", totals.classes, totals.without_concepts),
        (schema.CONCEPT, "images", totals.concepts, totals.concept_images()),
    ):
        set_counts(claim, node, count, names, counts)

    if images is not None:
        mined = read_mined_digest(store, dataset)
        write_incidence_table(claim, totals.digest, images, mined=mined)
    else:
        claim.write(clear_statement(schema.INCIDENCE_TABLE))

    claim.finish(
        guards="digest",
        digest=totals.digest,
        cooccurrence_digest=totals.digest,
        images=n_images,
        splits=[name or "" for name in totals.splits],
        split_images=[*totals.splits.values()],
    )
    return IngestReport(created=n_images, updated=0, deleted=before, unchanged=0, kept=0)


def sync_sample(claim: Claim, digest: int, sample: SplitIncidence, progress: Progress) -> None:
    """Replace the dataset's image nodes and packed lists by those of a sample.

    Parameters
    ----------
    digest : int
        `DatasetState.digest`.
    """
    annotations = _annotations_of(sample)
    ids, digests = annotations.images["id"], image_digests(annotations)
    stored = read_digests(claim.store, schema.IMAGE, claim.dataset)
    change = compare(stored, ids.tolist(), digests.tolist(), delete=True)
    write_images(claim, annotations, change, digests, progress)
    write_image_lists(claim, digest, ids.array, sample.incidence)


def choose_sample(images: SplitIncidence, cliques: Cliques, sample: Sample) -> SplitIncidence:
    """Choose which mined images the graph keeps."""
    priority = priorities(images.ids, sample.seed)
    return images.take(sample_rows(images.incidence, priority, cliques, sample.per_class))


def _check_replaceable(
    store: GraphStore, state: DatasetState, digest: int, if_exists: IfExists
) -> int:
    """Return how many images a load puts others in place of; raise if it must not."""
    (row,) = store.read(statements.DATASET, dataset=state.name)
    images = int(row["dataset"].get("images", 0))
    if state.sample is None and (images or read_digests(store, schema.IMAGE, state.name)):
        raise ConflictError(
            f"The graph has all images of {state.name!r}. Load counts or a sample into another "
            "dataset, or ",
            Action("drop_dataset", state.name),
            " first.",
        )

    if state.digest is None or state.digest == digest:
        return 0
    if if_exists != "replace":
        raise ConflictError(
            f"The dataset {state.name!r} holds {images:,} other images, and images cannot be added "
            "to a sample. Name another dataset, or give ",
            Setting("if_exists", "replace"),
            " to put these in place of those.",
        )
    return images


def _keep_only(store: GraphStore, dataset: str, node: Node, names: Sequence[str]) -> None:
    """Have nodes of these names alone, and no clique that was derived from others."""
    if gone := sorted({*read_names(store, dataset, node)}.difference(names)):
        store.write_in_batches(drop_statement(schema.CLIQUE), names=[dataset])

    for batch in batches(gone):
        store.write(delete_statement(node), dataset=dataset, keys=list(batch))
    for batch in batches(names):
        store.write(merge_statement(node), dataset=dataset, keys=list(batch))


def _annotations_of(sample: SplitIncidence) -> Annotations:
    """Annotations of packed images: each concept mentioned once, without scores and sizes."""
    incidence = sample.incidence
    # The code -1, of no split, is the last.
    splits = (*sample.split_names, None)
    mentions = [Mention(name) for name in incidence.concepts]
    bounds, codes = incidence.indptr.tolist(), incidence.indices.tolist()

    records = []
    for row, image in enumerate(sample.ids):
        record = ImageRecord(
            image,
            class_name=incidence.classes[incidence.labels[row]],
            mentions=tuple(mentions[code] for code in codes[bounds[row] : bounds[row + 1]]),
            split=splits[sample.splits[row]],
            uri=sample.uris[row],
        )
        records.append(record)
    return Annotations.from_records(records)
