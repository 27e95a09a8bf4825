"""Classes, concepts and splits of a dataset by name, with their sizes."""

from collections.abc import Mapping, Sequence

from cobalance.base import DataError, UnknownNameError
from cobalance.graph.database import GraphStore, Node, Row
from cobalance.graph.database.statements import names_statement, unknown_names_statement
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.state import DatasetState, dataset_state, state_of

Names = Mapping[Node, Sequence[str]]
"""Names of classes, concepts or plans, by their kind of node."""


def state_with_names(
    store: GraphStore, dataset: str, names: Names, *, mined: bool = False
) -> DatasetState:
    """Read a dataset's state, and check it and the given names in one round trip.

    Parameters
    ----------
    names : mapping of Node to sequence of str
        Names that the dataset must have, by kind.
    mined : bool
        Whether its cliques must be up to date.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, it is not complete, or is to be mined and has not been.
    UnknownNameError
        It has no node of the kind with one of the names.
    """
    row = _look_up(store, dataset, names)
    if row["dataset"] is None:
        # It raises an error with the names of the datasets that there are.
        return dataset_state(store, dataset)

    state = state_of(store, row["dataset"])
    if mined:
        state.require_mined()
    else:
        state.require_complete()

    _raise_unknown(store, dataset, names, row)
    return state


def check_names(store: GraphStore, dataset: str, names: Names) -> None:
    """Raise UnknownNameError unless the dataset has a node of the kind with each name."""
    _raise_unknown(store, dataset, names, _look_up(store, dataset, names))


def _look_up(store: GraphStore, dataset: str, names: Names) -> Row:
    names_by_kind = [list(names_of_kind) for names_of_kind in names.values()]
    text = unknown_names_statement([*names])
    (row,) = store.read(text, dataset=dataset, names=names_by_kind)
    return row


def _raise_unknown(store: GraphStore, dataset: str, names: Names, row: Row) -> None:
    for node, missing in zip(names, row["unknown"], strict=True):
        if missing:
            known = read_names(store, dataset, node)
            raise UnknownNameError(node.label.lower(), missing[0], known)


def check_images(store: GraphStore, dataset: str, ids: Sequence[str]) -> None:
    """Raise DataError unless the dataset has all of these images."""
    rows = store.read(statements.UNKNOWN_IMAGES, dataset=dataset, ids=sorted(set(ids)))
    if unknown := [row["id"] for row in rows]:
        others = f", and {len(unknown) - 1:,} more" if unknown[1:] else ""
        raise DataError(
            f"{dataset!r} has no image {unknown[0]!r}{others}, which is to be edited. Plan for the "
            "images that it has."
        )


def splits_of(store: GraphStore, dataset: str, ids: Sequence[str]) -> set[str | None]:
    """The splits of some images; None for none."""
    rows = store.read(statements.SPLITS_OF, dataset=dataset, ids=sorted(set(ids)))
    return {row["split"] for row in rows}


def class_sizes(store: GraphStore, dataset: str) -> dict[str, int]:
    """Images of each class, by name in ascending order."""
    rows = store.read(statements.CLASS_SIZES, dataset=dataset)
    return dict(sorted((row["name"], row["images"]) for row in rows))


def read_names(store: GraphStore, dataset: str, node: Node) -> list[str]:
    """Names of all classes, concepts or plans, in ascending order."""
    return sorted(row["name"] for row in store.read(names_statement(node), dataset=dataset))


def split_sizes(store: GraphStore, dataset: str) -> dict[str | None, int]:
    """Images of each split, by name in ascending order; of none (None) last."""
    rows = store.read(statements.SPLIT_SIZES, dataset=dataset)
    return {row["split"]: row["images"] for row in rows}
