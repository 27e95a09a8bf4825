"""Load annotations into the concept graph: images with their edges, then co-occurrence edges."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pandas.api.extensions import ExtensionArray

from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cooccurrence import CoOccurrence, cooccurrence
from cobalance.graph.counting.incidence import incidence_of
from cobalance.graph.database import schema
from cobalance.graph.database.claim import Claim
from cobalance.graph.database.declarations import Node
from cobalance.graph.database.statements import merge_statement, orphan_statements, set_statement
from cobalance.graph.database.store import GraphStore
from cobalance.graph.database.sync import (
    Change,
    NodeRow,
    apply_change,
    batches,
    compare,
    read_digests,
    sync_edges,
)
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.cliques import read_mined_digest
from cobalance.graph.dataset.image_contents import ImageContents, image_digests
from cobalance.graph.dataset.image_lists import write_image_lists
from cobalance.graph.dataset.incidence_table import SplitIncidence, write_incidence_table
from cobalance.graph.dataset.read import scan_incidence
from cobalance.graph.dataset.state import DatasetState, check_name, dataset_state, find_dataset
from cobalance.graph.errors import Action, ConflictError, Setting
from cobalance.graph.mention_rows import BLOCK
from cobalance.graph.plurals import inflect
from cobalance.graph.progress import Progress, silent
from cobalance.graph.records import Annotations, plain_values

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
    a digest of its content. Interrupted, even by kill -9, it goes on when run again, and the
    graph is then equal to one that was never interrupted.

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
    state = make_dataset(store, dataset)
    progress("compare", 0, None)
    ids, digests = annotations.images["id"].array, image_digests(annotations)
    source = source or f"frame {int(digests.sum()) & 0xFFFFFF:06x}"
    stored, change, report = _compare(store, state, ids, digests, source, if_exists)
    if not change and state.digest is not None and state.cooccurrence_digest == state.digest:
        return report
    claim = Claim.take(store, dataset)
    store.write(statements.BEGIN_IMAGES, dataset=dataset, source=source)
    write_images(claim, annotations, change, digests, progress)
    _delete_orphans(store, dataset)
    progress("co-occurrence", 0, None)
    left = set(stored).difference(change.deleted, _values(ids) if stored else ())
    images = scan_incidence(store, dataset) if left else split_incidence(annotations)
    incidence = images.incidence
    write_cooccurrence(claim, cooccurrence(incidence), incidence.concepts, incidence.classes)
    sizes, empty = incidence.class_sizes(), incidence.without_concepts()
    kept = np.flatnonzero(sizes).tolist()  # a class without an image has no node
    names = [incidence.classes[code] for code in kept]
    set_counts(claim, schema.CLASS, "without_concepts", names, empty[kept])
    (counted,) = store.read(statements.COUNT_IMAGES, dataset=dataset)
    n_images = len(ids) + len(left)
    if counted["images"] != n_images:
        raise claim.invalidate("digest")
    digest = dataset_digest(digests, (stored[key] for key in left), n_images)
    mined = read_mined_digest(store, dataset)
    write_incidence_table(claim, digest, images, mined=mined)
    named = images.ids if left else ids
    write_image_lists(claim, digest, named, incidence)
    claim.finish(guards="digest", digest=digest, cooccurrence_digest=digest, images=n_images)
    return report


def write_changes(
    store: GraphStore, dataset: str, annotations: Annotations, progress: Progress = silent
) -> IngestReport:
    """Update some images of a dataset, whose source stays as it is; see `write_annotations`."""
    (row,) = store.read(statements.DATASET, dataset=dataset)
    source = row["dataset"].get("source", "")
    return write_annotations(store, dataset, annotations, source=source, progress=progress)


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
        return IngestReport(len(annotations.images), 0, 0, 0, 0)
    progress("compare", 0, None)
    ids, digests = annotations.images["id"].array, image_digests(annotations)
    return _compare(store, state, ids, digests, source, if_exists)[-1]


def _compare(
    store: GraphStore,
    state: DatasetState,
    ids: ExtensionArray,
    digests: IntArray,
    source: str,
    if_exists: IfExists | None,
) -> tuple[dict[str, int], Change, IngestReport]:
    """The stored digests, the change and its report; ConflictError if it is not allowed."""
    if state.sample is not None:
        raise ConflictError(
            f"The graph keeps a sample of the images of {state.name!r}, and images cannot be added "
            "to it. Load them as a sample again, into another dataset, or ",
            Action("drop_dataset", state.name),
            " first.",
        )
    stored = read_digests(store, schema.IMAGE, state.name)
    change = compare(stored, _values(ids), _values(digests), delete=if_exists == "replace")
    created, updated, deleted = len(change.created), len(change.updated), len(change.deleted)
    shared = change.unchanged + updated
    report = IngestReport(
        created, updated, deleted, change.unchanged, len(stored) - shared - deleted
    )
    own = bool(shared) and (source == state.source or 10 * updated <= shared)
    told = if_exists in (None, "replace") or (if_exists == "append" and not shared)
    if own or told or not stored:
        return stored, change, report
    theirs = inflect(len(stored), "images")
    raise ConflictError(
        f"The dataset {state.name!r} holds {theirs} from {state.source}; those now "
        f"loaded from {source} ",
        f"say otherwise of {updated:,} by the same ids" if shared else "are others",
        ". Name another dataset, or give ",
        *(Setting("if_exists", "replace"), " to put these images in place of those, or "),
        *(("ids of their own and ",) if shared else ()),
        *(Setting("if_exists", "append"), " to add them."),
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
) -> None:
    """Write those images that a change names, with their classes and concepts.

    Parameters
    ----------
    digests : int array
        Of all the annotations' images.
    """
    wanted = np.concatenate([change.created, change.updated])
    images = annotations.images
    contents = ImageContents.of(annotations)
    classes = images["class_name"].iloc[wanted].unique().tolist()
    claim.write(merge_statement(schema.CLASS), keys=classes)
    claim.write(merge_statement(schema.CONCEPT), keys=contents.concepts_of(wanted))

    def rows_at(positions: IntArray) -> list[NodeRow]:
        batch = images.iloc[positions]
        names = schema.IMAGE.property_names[1:]
        missing = [None] * len(batch)
        columns = [plain_values(batch[name]) if name in batch else missing for name in names]
        values = zip(digests[positions].tolist(), *columns, strict=True)
        keys, labels = batch["id"].tolist(), plain_values(batch["class_name"])
        found = zip(keys, values, labels, contents.edges(positions), strict=True)
        return [
            (key, list(properties), [[[label]], edges]) for key, properties, label, edges in found
        ]

    edges = (schema.LABELED, schema.CONTAINS)
    apply_change(claim, schema.IMAGE, edges, change, rows_at, "write images", progress)


def split_incidence(annotations: Annotations) -> SplitIncidence:
    """Build the incidence matrix of annotations with their splits and ids, without files."""
    splits, ids = annotations.images["split"].cat, annotations.images["id"].tolist()
    codes = splits.codes.to_numpy(dtype=np.int64)
    return SplitIncidence(incidence_of(annotations), codes, tuple(splits.categories), ids)


def _delete_orphans(store: GraphStore, dataset: str) -> None:
    """Delete classes and concepts without images, and the nodes derived from them.

    A clique that lost an edge would equal the one mined next, and not be written again.
    """
    for edge, derived in (
        (schema.LABELED, (schema.FOR_CLASS, schema.COUNTED_IN)),
        (schema.CONTAINS, (schema.HAS,)),
    ):
        for text in orphan_statements(edge, derived):
            store.write_in_batches(text, dataset=dataset)


def write_cooccurrence(
    claim: Claim,
    counted: CoOccurrence,
    concept_names: Sequence[str],
    class_names: Sequence[str],
) -> None:
    """Write the weights w_ij of the paper's section 3.2, concept pairs and class-concept pairs."""
    for edge, starts, pairs, images in (
        (schema.CO_OCCURS, concept_names, counted.concept_pairs, counted.pair_images),
        (
            schema.CLASS_CO_OCCURS,
            class_names,
            counted.class_concept,
            counted.class_concept_images,
        ),
    ):
        weights = zip(pairs.tolist(), images.tolist(), strict=True)
        wanted = {(starts[a], concept_names[b]): (n,) for (a, b), n in weights}
        sync_edges(claim, edge, wanted)


def set_counts(
    claim: Claim, node: Node, count: str, names: Sequence[str], counts: IntArray
) -> None:
    """Set a count of existing classes or concepts."""
    for rows in batches([[name, n] for name, n in zip(names, counts.tolist(), strict=True)]):
        claim.write_all(set_statement(node, count), len(rows), rows=list(rows))


def dataset_digest(digests: IntArray, others: Iterable[int], n_images: int) -> int:
    """Digest a dataset as the sum of its images' digests, as a signed 64-bit number."""
    return int(np.array([*others, digests.sum(), n_images], dtype=np.int64).sum())  # wraps around
