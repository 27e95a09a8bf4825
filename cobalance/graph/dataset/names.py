"""Classes, concepts and splits of a dataset by name, with their sizes."""

from collections.abc import Mapping, Sequence

from pandas.api.extensions import ExtensionArray

from cobalance.graph.database.declarations import Node
from cobalance.graph.database.schema import CONCEPT
from cobalance.graph.database.statements import names_statement, unknown_names_statement
from cobalance.graph.database.store import GraphStore, Row
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.state import DatasetState, dataset_state
from cobalance.graph.errors import DataError, UnknownNameError

_IDS = 10_000  # ids in a query
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
    found = _look_up(store, dataset, names)
    if found["dataset"] is None:
        return dataset_state(store, dataset)  # raises, with the names that there are
    state = DatasetState.of(found["dataset"])
    if mined:
        state.require_mined()
    else:
        state.require_complete()
    _raise_unknown(store, dataset, names, found)
    return state


def check_names(store: GraphStore, dataset: str, names: Names) -> None:
    """Raise UnknownNameError unless the dataset has a node of the kind with each name."""
    _raise_unknown(store, dataset, names, _look_up(store, dataset, names))


def _look_up(store: GraphStore, dataset: str, names: Names) -> Row:
    of_kinds = [list(of_kind) for of_kind in names.values()]
    (row,) = store.read(unknown_names_statement([*names]), dataset=dataset, names=of_kinds)
    return row


def _raise_unknown(store: GraphStore, dataset: str, names: Names, found: Row) -> None:
    for node, missing in zip(names, found["unknown"], strict=True):
        if missing:
            rows = store.read(names_statement(node), dataset=dataset)
            raise UnknownNameError(node.label.lower(), missing[0], [row["name"] for row in rows])


def check_images(store: GraphStore, dataset: str, ids: Sequence[str]) -> None:
    """Raise DataError unless the dataset has all of these images."""
    unknown: list[str] = []
    for batch in batches(sorted(set(ids)), 10_000):
        rows = store.read(statements.UNKNOWN_IMAGES, dataset=dataset, ids=list(batch))
        unknown += [row["id"] for row in rows]
    if unknown:
        others = f", and {len(unknown) - 1:,} more" if unknown[1:] else ""
        raise DataError(
            f"{dataset!r} has no image {unknown[0]!r}{others}, which is to be edited. Plan for the "
            "images that it has."
        )


def splits_of(store: GraphStore, dataset: str, ids: Sequence[str]) -> set[str | None]:
    """The splits of some images; None for none."""
    found: set[str | None] = set()
    for batch in batches(sorted(set(ids)), 10_000):
        rows = store.read(statements.SPLITS_OF, dataset=dataset, ids=list(batch))
        found |= {row["split"] for row in rows}
    return found


def class_sizes(store: GraphStore, dataset: str) -> dict[str, int]:
    """Images of each class, by name in ascending order."""
    rows = store.read(statements.CLASS_SIZES, dataset=dataset)
    return {row["name"]: row["images"] for row in sorted(rows, key=lambda row: str(row["name"]))}


def concept_names(store: GraphStore, dataset: str) -> list[str]:
    """The dataset's concepts, in ascending order."""
    rows = store.read(names_statement(CONCEPT), dataset=dataset)
    return sorted(row["name"] for row in rows)


def split_sizes(store: GraphStore, dataset: str) -> dict[str | None, int]:
    """Images of each split, by name in ascending order; of none (None) last."""
    rows = store.read(statements.SPLIT_SIZES, dataset=dataset)
    return {row["split"]: row["images"] for row in rows}


def foreign_images(store: GraphStore, dataset: str, ids: Sequence[str] | ExtensionArray) -> int:
    """Count a dataset's images if none of them is among `ids`, else return 0.

    Also 0 where there is no such dataset. It takes a look-up in an index for each of `ids`, until
    one is found.
    """
    (counted,) = store.read(statements.COUNT_IMAGES, dataset=dataset)
    for start in range(0, len(ids) if counted["images"] else 0, _IDS):
        some = list(ids[start : start + _IDS])
        if store.read(statements.KNOWN_IMAGES, dataset=dataset, ids=some)[0]["known"]:
            return 0
    return int(counted["images"])
