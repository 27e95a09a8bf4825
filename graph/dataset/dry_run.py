"""Dry run of a load: report the changes without writing them."""

from graph.database import schema
from graph.database.store import GraphStore
from graph.database.sync import compare, stored_digests
from graph.dataset.contents import image_digests
from graph.dataset.state import check_name, find_dataset
from graph.dataset.write import IngestReport
from graph.progress import Progress, silent
from graph.records import Annotations


def dry_run(
    store: GraphStore,
    dataset: str,
    annotations: Annotations,
    *,
    replace: bool = False,
    progress: Progress = silent,
) -> IngestReport:
    """Return the report of `graph.dataset.write.write_annotations` without writing anything.

    Raises
    ------
    OptionError
        The name cannot name a dataset.
    StaleError
        A rename of the dataset did not end.
    """
    check_name(dataset)
    state = find_dataset(store, dataset)
    if state is None:
        return IngestReport(len(annotations.images), 0, 0, 0, 0)
    if state.renaming_to is not None:
        state.require_complete()
    progress("compare", 0, None)
    stored = stored_digests(store, schema.IMAGE, dataset)
    keys, digests = annotations.images["id"].tolist(), image_digests(annotations).tolist()
    change = compare(stored, keys, digests, delete=replace)
    present = change.unchanged + len(change.updated)
    return IngestReport(
        len(change.created),
        len(change.updated),
        len(change.deleted),
        change.unchanged,
        len(stored) - present - len(change.deleted),
    )
