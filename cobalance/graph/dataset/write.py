"""Load annotations into the concept graph: images with their edges, then co-occurrence edges."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from pandas.api.extensions import ExtensionArray

from cobalance.base import (
    BLOCK,
    STRING,
    Action,
    Annotations,
    ConflictError,
    IntArray,
    Progress,
    Setting,
    inflect,
    plain_values,
    silent,
)
from cobalance.counting import CoOccurrence
from cobalance.counting.cooccurrence import cooccurrence
from cobalance.graph.database import Claim, GraphStore, Node, schema
from cobalance.graph.database.statements import (
    delete_statement,
    merge_statement,
    orphan_statements,
    set_statement,
)
from cobalance.graph.database.sync import (
    Change,
    Key,
    NodeRow,
    apply_change,
    batches,
    compare,
    sync_edges,
)
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.cliques import read_mined_digest
from cobalance.graph.dataset.image_contents import ImageContents, image_digests
from cobalance.graph.dataset.image_lists import write_image_lists
from cobalance.graph.dataset.incidence_table import (
    SplitIncidence,
    split_incidence,
    write_incidence_table,
)
from cobalance.graph.dataset.read import scan_incidence
from cobalance.graph.dataset.renewal import renew_digests
from cobalance.graph.dataset.state import DatasetState, check_name, dataset_state, find_dataset

TAG_SOURCE = "image tag"
"""Source of the mentions that a dataset's own tags lay over what was loaded."""
LOADED_TAG_SOURCE = "image tag when loaded"
"""Source of mentions that were by a tag where they come from, and are loaded like any other."""

IfExists = Literal["fail", "append", "replace"]
"""What to do where a dataset holds images of another source: nothing, add to them, delete them."""


@dataclass(frozen=True)
class IngestReport:
    """Numbers of images that a load changed; `kept` counts stored images not in the annotations."""

    created: int
    updated: int
    deleted: int
    unchanged: int
    kept: int


@dataclass(frozen=True)
class StoredDigests:
    """Digests of all images that a dataset has.

    Parameters
    ----------
    loaded : dict of str to int
        Content as it was loaded, by id, also of images that a tag leaves out.
    laid_over : dict of str to (int or None)
        Content as it is counted, where labels, properties or tags have been laid over what was
        loaded; None of an image that a tag leaves out.
    """

    loaded: dict[str, int]
    laid_over: dict[str, int | None]

    @classmethod
    def read(cls, store: GraphStore, dataset: str) -> "StoredDigests":
        """Read the digests of a dataset."""
        stored = cls({}, {})
        for row in store.stream(statements.STORED_IMAGES, dataset=dataset):
            image, counted, loaded = row["id"], row["digest"], row["loaded"]
            stored.loaded[image] = loaded
            if counted != loaded:
                stored.laid_over[image] = counted

        return stored

    @property
    def left_out(self) -> set[str]:
        """Images that a tag leaves out."""
        return {image for image, counted in self.laid_over.items() if counted is None}

    def counted_digests(self) -> dict[str, int]:
        """Content as it is counted, of the images that are."""
        merged = {**self.loaded, **self.laid_over}
        return {image: digest for image, digest in merged.items() if digest is not None}


def without_own_tags(annotations: Annotations) -> Annotations:
    """The annotations with mentions of tags, as another dataset has them, as loaded mentions.

    A dataset's own tags come and go, and their mentions with them.
    """
    sources = annotations.mentions["source"]
    if TAG_SOURCE not in sources.cat.categories:
        return annotations

    renamed = sources.astype(STRING).replace(TAG_SOURCE, LOADED_TAG_SOURCE).astype("category")
    return replace(annotations, mentions=annotations.mentions.assign(source=renamed))


def write_annotations(
    store: GraphStore,
    dataset: str,
    annotations: Annotations,
    *,
    source: str,
    if_exists: IfExists | None = None,
    progress: Progress = silent,
) -> IngestReport:
    """Update a dataset's images, concepts and co-occurrences to match the annotations.

    New images are created, changed ones updated, equal ones left alone, each known by its id and
    a digest of its content as it was loaded. What labels, properties and tags have laid over an
    image stays where the image is equal, and is to be applied again where it has changed; an image
    that a tag leaves out comes back until then. Interrupted, even by kill -9, it goes on when run
    again, and the graph is then equal to one that was never interrupted.

    Parameters
    ----------
    dataset : str
        The dataset's name; made if it does not exist.
    source : str
        Name of the file or frame that the annotations came from; a frame without a name gets one by
        its content.
    if_exists : {"fail", "append", "replace"} or None
        For images of another source than the dataset's: those that share no id with its images; or
        share some, come from a file or frame of another name, and say something else of more than
        a tenth of the shared ones. ``append`` adds them where they share no id; ``replace`` deletes
        whatever is not in `annotations`, of the same source, too. None is for changes of the
        dataset's own images, and updates and adds whatever is given.

    Raises
    ------
    ConflictError
        The dataset holds images of another source, the graph keeps a sample of its images, or
        another process writes it, too.
    StoreError
        The database fails.
    """
    state = renew_digests(store, make_dataset(store, dataset))

    progress("compare", 0, None)
    digests = image_digests(annotations)
    source = source or f"frame {int(digests.sum()) & 0xFFFFFF:06x}"
    ids = annotations.images["id"].array

    stored, change, report = _compare(store, state, ids, digests, source, if_exists)
    if change or not state.is_complete:
        wanted = _Wanted(annotations, digests, stored, change, source)
        _write(store, dataset, wanted, progress)
    return report


def write_changes(
    store: GraphStore,
    state: DatasetState,
    annotations: Annotations,
    *,
    loaded: Mapping[str, int] | None = None,
    progress: Progress = silent,
) -> IngestReport:
    """Lay labels or tags over some images of a dataset; their loaded content stays known.

    Parameters
    ----------
    annotations : Annotations
        Images of the dataset, with all that they show from now on.
    loaded : mapping of str to int, optional
        Digests of the images as they were loaded, where the store does not tell. A digest that no
        file gives (0) makes the next load of the image's file bring its content back.
    """
    state = renew_digests(store, state)

    progress("compare", 0, None)
    digests = image_digests(annotations)
    stored = StoredDigests.read(store, state.name)
    ids = annotations.images["id"].array
    change = compare(stored.counted_digests(), _values(ids), _values(digests), delete=False)

    if change or not state.is_complete:
        as_loaded = {**stored.loaded, **(loaded or {})}
        wanted = _Wanted(annotations, digests, stored, change, state.source or "", as_loaded)
        _write(store, state.name, wanted, progress)

    updated = len(change.updated)
    others = len(stored.loaded) - updated - change.unchanged
    return IngestReport(
        created=len(change.created),
        updated=updated,
        deleted=0,
        unchanged=change.unchanged,
        kept=others,
    )


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Wanted images of a dataset and their difference from its present ones.

    Parameters
    ----------
    annotations : Annotations
        Some or all of its images.
    digests : int array
        Of these images.
    stored : StoredDigests
        Of the images that it holds now.
    change : Change
        The difference.
    source : str
        Where its images are from.
    loaded : mapping of str to int
        Digests of images as they were loaded, where the annotations are laid over that.
    """

    annotations: Annotations
    digests: IntArray
    stored: StoredDigests
    change: Change
    source: str
    loaded: Mapping[str, int] = field(default_factory=dict)

    @property
    def replaced(self) -> set[str]:
        """Images that the dataset holds now, and that are deleted or written anew."""
        ids = self.annotations.images["id"].array
        return {*map(str, self.change.deleted), *ids[self.change.updated].tolist()}

    @property
    def written(self) -> IntArray:
        """Positions of the images that are written."""
        return np.concatenate([self.change.created, self.change.updated])


def _write(store: GraphStore, dataset: str, wanted: _Wanted, progress: Progress) -> None:
    """Write changes of images, and all that is counted of the images that there are then."""
    change, stored, replaced = wanted.change, wanted.stored, wanted.replaced
    claim = Claim.take(store, dataset)

    store.write(statements.BEGIN_IMAGES, dataset=dataset, source=wanted.source)
    _release(store, dataset, stored.left_out & replaced, change.deleted)
    write_images(claim, wanted.annotations, change, wanted.digests, progress, loaded=wanted.loaded)
    _delete_orphans(store, dataset)

    others = stored.counted_digests()
    for image in replaced:
        others.pop(image, None)

    # Another writer at the same time would leave a number of images that none of them counted.
    n_images = len(wanted.written) + len(others)
    (counted,) = store.read(statements.COUNT_IMAGES, dataset=dataset)
    if counted["images"] != n_images:
        raise claim.invalidate("digest")

    # Images that stay may show more than the annotations say: by a label or a tag.
    as_given = n_images == len(wanted.digests) and not stored.laid_over.keys() - replaced
    images = split_incidence(wanted.annotations) if as_given else scan_incidence(store, dataset)

    digest = dataset_digest(wanted.digests[wanted.written], others.values(), n_images)
    _write_counts(claim, images, digest, progress)
    store.write(statements.LINK_QUERIES, dataset=dataset)
    claim.finish(guards="digest", digest=digest, cooccurrence_digest=digest, images=n_images)


def _write_counts(claim: Claim, images: SplitIncidence, digest: int, progress: Progress) -> None:
    """Write the weights of all images, and their packed copies."""
    progress("co-occurrence", 0, None)
    incidence = images.incidence
    write_cooccurrence(claim, cooccurrence(incidence), incidence.concepts, incidence.classes)

    sizes, empty = incidence.class_sizes(), incidence.without_concepts()
    # A class without an image has no node.
    with_images = np.flatnonzero(sizes).tolist()
    names = [incidence.classes[code] for code in with_images]
    set_counts(claim, schema.CLASS, "without_concepts", names, empty[with_images])

    mined = read_mined_digest(claim.store, claim.dataset)
    write_incidence_table(claim, digest, images, mined=mined)
    write_image_lists(claim, digest, images.ids, incidence)


def _release(store: GraphStore, dataset: str, left_out: set[str], deleted: Collection[Key]) -> None:
    """Make images that are left out and to be written images again, and delete others of them."""
    gone = left_out.intersection(deleted)
    for ids in batches(sorted(left_out - gone)):
        store.write(statements.BRING_BACK, dataset=dataset, ids=list(ids))

    for ids in batches(sorted(gone)):
        delete = delete_statement(schema.EXCLUDED_IMAGE)
        store.write(delete, dataset=dataset, keys=list(ids))


def dry_run(
    store: GraphStore,
    dataset: str,
    annotations: Annotations,
    *,
    source: str,
    if_exists: IfExists | None = None,
    progress: Progress = silent,
) -> IngestReport:
    """Return the report of `write_annotations` without writing anything.

    OptionError for a name that cannot name a dataset, StaleError if a rename of it did not end, and
    ConflictError as there.
    """
    state = find_loaded(store, dataset)
    if state is None:
        n_images = len(annotations.images)
        return IngestReport(created=n_images, updated=0, deleted=0, unchanged=0, kept=0)

    progress("compare", 0, None)
    ids = annotations.images["id"].array
    digests = image_digests(without_own_tags(annotations))
    _, _, report = _compare(store, state, ids, digests, source, if_exists)
    return report


def _compare(
    store: GraphStore,
    state: DatasetState,
    ids: ExtensionArray,
    digests: IntArray,
    source: str,
    if_exists: IfExists | None,
) -> tuple[StoredDigests, Change, IngestReport]:
    """The stored digests, the change and its report; ConflictError if it is not allowed."""
    if state.sample is not None:
        raise ConflictError(
            f"The graph keeps a sample of the images of {state.name!r}, and images cannot be added "
            "to it. Load them as a sample again, into another dataset, or ",
            Action("drop_dataset", state.name),
            " first.",
        )

    stored = StoredDigests.read(store, state.name)
    delete = if_exists == "replace"
    change = compare(stored.loaded, _values(ids), _values(digests), delete=delete)
    updated, deleted = len(change.updated), len(change.deleted)
    shared = change.unchanged + updated
    report = IngestReport(
        created=len(change.created),
        updated=updated,
        deleted=deleted,
        unchanged=change.unchanged,
        kept=len(stored.loaded) - shared - deleted,
    )

    # Images of another source share no id with the dataset's, or come under another name and
    # differ in more than a tenth of those that they share.
    is_same_source = bool(shared) and (source == state.source or 10 * updated <= shared)
    is_allowed = if_exists in (None, "replace") or (if_exists == "append" and not shared)
    if is_same_source or is_allowed or not stored.loaded:
        return stored, change, report

    if shared:
        difference = f"say otherwise of {updated:,} by the same ids"
        condition = "ids of their own and "
    else:
        difference, condition = "are others", ""
    present = inflect(len(stored.loaded), "images")
    raise ConflictError(
        f"The dataset {state.name!r} holds {present} from {state.source}; those now "
        f"loaded from {source} {difference}. Name another dataset, or give ",
        Setting("if_exists", "replace"),
        f" to put these images in place of those, or {condition}",
        Setting("if_exists", "append"),
        " to add them.",
    )


def _values(column: ExtensionArray | IntArray) -> Iterator[Any]:
    """Values of a column as Python objects, few of which are there at a time."""
    for start in range(0, len(column), BLOCK):
        yield from column[start : start + BLOCK].tolist()


def find_loaded(store: GraphStore, dataset: str) -> DatasetState | None:
    """Find the dataset that a load changes; StaleError if a rename or restore of it did not end."""
    check_name(dataset)
    state = find_dataset(store, dataset)
    if state is not None and (state.renaming_to or state.restoring):
        state.require_complete()
    return state


def make_dataset(store: GraphStore, dataset: str) -> DatasetState:
    """Make sure that the dataset exists, and that no rename from or to its name is half done."""
    check_name(dataset)
    for row in store.read(statements.RENAMED_TO, dataset=dataset):
        dataset_state(store, row["name"]).require_complete()

    store.write(statements.CREATE_DATASET, dataset=dataset)
    state = dataset_state(store, dataset)
    if state.renaming_to or state.restoring:
        state.require_complete()
    return state


def write_images(
    claim: Claim,
    annotations: Annotations,
    change: Change,
    digests: IntArray,
    progress: Progress,
    *,
    loaded: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Write those images that a change names, with their classes and concepts.

    Parameters
    ----------
    digests : int array
        Of all the annotations' images.
    loaded : mapping of str to int
        By id, of the images that are not written as they were loaded.
    """
    written = np.concatenate([change.created, change.updated])
    images = annotations.images
    contents = ImageContents.of(annotations)

    classes = images["class_name"].iloc[written].unique().tolist()
    claim.write(merge_statement(schema.CLASS), keys=classes)
    claim.write(merge_statement(schema.CONCEPT), keys=contents.concepts_of(written))

    def rows_at(positions: IntArray) -> list[NodeRow]:
        batch = images.iloc[positions]
        keys, labels = batch["id"].tolist(), plain_values(batch["class_name"])
        columns = {name: plain_values(batch[name]) for name in batch}
        columns["digest"] = digests[positions].tolist()
        # An image's node has a digest as loaded only where it differs from that of its content.
        columns["loaded"] = [
            None if loaded.get(key) == digest else loaded.get(key)
            for key, digest in zip(keys, columns["digest"], strict=True)
        ]

        missing = [None] * len(batch)
        names = schema.IMAGE.property_names
        values = zip(*(columns.get(name, missing) for name in names), strict=True)
        return [
            (key, list(properties), [[[label]], contained])
            for key, properties, label, contained in zip(
                keys, values, labels, contents.edges(positions), strict=True
            )
        ]

    edges = (schema.LABELED, schema.CONTAINS)
    apply_change(claim, schema.IMAGE, edges, change, rows_at, "write images", progress)


def _delete_orphans(store: GraphStore, dataset: str) -> None:
    """Delete classes and concepts without images, and the cliques derived from them.

    A clique that lost an edge would equal the one mined next, and not be written again. A plan's
    queries stay: they name their class, and are linked to it again should it come back.
    """
    store.write(statements.FORGET_CLIQUES, dataset=dataset)
    derived_from = {schema.LABELED: schema.COUNTED_IN, schema.CONTAINS: schema.HAS}
    for edge, derived in derived_from.items():
        for text in orphan_statements(edge, [derived]):
            store.write_in_batches(text, dataset=dataset)


def write_cooccurrence(
    claim: Claim,
    counted: CoOccurrence,
    concept_names: Sequence[str],
    class_names: Sequence[str],
) -> None:
    """Write the weights w_ij of the paper's section 3.2, concept pairs and class-concept pairs."""
    concept_edges = (concept_names, counted.concept_pairs, counted.pair_images)
    class_edges = (class_names, counted.class_concept, counted.class_concept_images)
    for edge, (starts, pairs, images) in (
        (schema.CO_OCCURS, concept_edges),
        (schema.CLASS_CO_OCCURS, class_edges),
    ):
        weights = zip(pairs.tolist(), images.tolist(), strict=True)
        edges = {(starts[start], concept_names[end]): (n,) for (start, end), n in weights}
        sync_edges(claim, edge, edges)


def set_counts(
    claim: Claim, node: Node, count: str, names: Sequence[str], counts: IntArray
) -> None:
    """Set a count of existing classes or concepts."""
    rows = [[name, n] for name, n in zip(names, counts.tolist(), strict=True)]
    for batch in batches(rows):
        claim.write_all(set_statement(node, count), len(batch), rows=list(batch))


def dataset_digest(digests: IntArray, others: Iterable[int], n_images: int) -> int:
    """Digest a dataset as the sum of its images' digests, as a signed 64-bit number."""
    # The sum wraps around at 64 bits.
    return int(np.array([*others, digests.sum(), n_images], dtype=np.int64).sum())
