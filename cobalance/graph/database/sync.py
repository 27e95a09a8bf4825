"""Synchronise nodes and edges with the store: write only the differences, in parallel batches."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cobalance.base import ConstraintViolatedError, Progress
from cobalance.graph.database import statements
from cobalance.graph.database.claim import Claim
from cobalance.graph.database.declarations import Edge, Node
from cobalance.graph.database.store import GraphStore, other_writer

# Rows of nodes with their edges. With boxes, 500 to 2,000 load equally fast, and 5,000 a third
# slower.
BATCH = 1000
# Rows of edges alone.
EDGE_BATCH = 10_000
# Neo4j commits two streams of new nodes 1.5 times as fast as one.
SESSIONS = 2

Key = str | tuple[str, ...]
K = TypeVar("K", str, tuple[str, ...])
RowT = TypeVar("RowT")
NodeRow = tuple[Key, list[Any], list[list[Sequence[Any]]]]
"""A node's key, its properties as declared, and its edges of each kind as columns: the keys of
their ends, then each property as declared."""


@dataclass(frozen=True)
class Change:
    """Differences between the stored and the wanted nodes of a kind.

    `created` and `updated` are positions among the wanted nodes, `deleted` the stored keys that are
    not wanted, and `unchanged` is the number of nodes that stay as they are.
    """

    created: npt.NDArray[np.int64]
    updated: npt.NDArray[np.int64]
    deleted: tuple[Key, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(len(self.created) or len(self.updated) or self.deleted)


def compare(
    stored: Mapping[K, int], keys: Iterable[K], digests: Iterable[int], *, delete: bool
) -> Change:
    """Compare wanted nodes with stored ones by key and content digest.

    Examples
    --------
    >>> change = compare({"a": 1, "b": 2, "c": 3}, ["a", "b", "d"], [1, 9, 4], delete=True)
    >>> change.created.tolist(), change.updated.tolist(), change.deleted, change.unchanged
    ([2], [1], ('c',), 1)
    """
    created, updated = array("q"), array("q")
    n_unchanged = 0
    deleted = set(stored) if delete else set()

    for position, (key, digest) in enumerate(zip(keys, digests, strict=True)):
        stored_digest = stored.get(key)
        if stored_digest is None:
            created.append(position)
        elif stored_digest != digest:
            updated.append(position)
        else:
            n_unchanged += 1
        deleted.discard(key)

    return Change(
        created=np.array(created, dtype=np.int64),
        updated=np.array(updated, dtype=np.int64),
        deleted=tuple(sorted(deleted)),
        unchanged=n_unchanged,
    )


def read_digests(store: GraphStore, node: Node, dataset: str) -> dict[Any, int]:
    """Read the content digest of every node of a kind in a dataset, by key."""
    digests: dict[Any, int] = {}
    for row in store.stream(statements.digests_statement(node), dataset=dataset):
        key = row["key"]
        # The driver returns a tuple as a list.
        if isinstance(key, list):
            key = tuple(key)
        digests[key] = row["digest"]
    return digests


def apply_change(
    claim: Claim,
    node: Node,
    edges: Sequence[Edge],
    change: Change,
    rows_at: Callable[[npt.NDArray[np.int64]], list[NodeRow]],
    stage: str,
    progress: Progress,
) -> None:
    """Write the differences; each batch is one transaction of nodes with all their edges.

    Killed at any moment it leaves whole nodes or none, so that comparing again and applying what
    is left gives the same graph as a run that was never interrupted.

    Parameters
    ----------
    rows_at : callable
        Gives the rows of the wanted nodes at the positions it is called with.
    stage, progress
        What to report, as created + updated + deleted nodes.
    """
    total = len(change.created) + len(change.updated) + len(change.deleted)
    done = 0

    def work() -> Iterator[tuple[str, dict[str, Any], int]]:
        for keys in batches(change.deleted):
            yield statements.delete_statement(node), {"keys": list(keys)}, 0

        for positions, replace in ((change.created, False), (change.updated, True)):
            text = statements.write_statement(node, *edges, replace=replace)
            for start in range(0, len(positions), BATCH):
                rows = rows_at(positions[start : start + BATCH])
                _check_types(node, edges, rows)
                yield text, _with_targets(rows, len(edges)), len(rows)

    def write(text: str, parameters: dict[str, Any], expected: int) -> int:
        if not expected:
            claim.write(text, **parameters)
            return len(parameters["keys"])

        try:
            claim.write_all(text, expected, **parameters)
        except ConstraintViolatedError as error:
            # Of two writers at once, the second may come upon keys that the first has written.
            if claim.is_held():
                raise
            raise other_writer() from error
        return expected

    for count in in_parallel(write, work()):
        done += count
        progress(stage, done, total)


def _check_types(node: Node, edges: Sequence[Edge], rows: Sequence[NodeRow]) -> None:
    """Raise TypeError if a value to be written is not of the type that the schema declares."""
    node.key.check(key for key, _, _ in rows)
    for position, declared in enumerate(node.properties):
        declared.check(properties[position] for _, properties, _ in rows)
    for kind, edge in enumerate(edges):
        for column, declared in enumerate(edge.properties, start=1):
            declared.check(chain.from_iterable(columns[kind][column] for _, _, columns in rows))


def _with_targets(rows: list[NodeRow], n_edges: int) -> dict[str, Any]:
    """Replace the end keys of edges by positions in a list of the distinct ends of this batch."""
    targets: list[dict[Key, int]] = [{} for _ in range(n_edges)]
    parameter_rows = []
    for key, properties, edges_by_kind in rows:
        row: list[Any] = [key, properties]
        for ends, (keys, *columns) in zip(targets, edges_by_kind, strict=True):
            positions = [ends.setdefault(end, len(ends)) for end in keys]
            row.append([positions, *columns])
        parameter_rows.append(row)
    return {"rows": parameter_rows, "targets": [list(ends) for ends in targets]}


def sync_edges(claim: Claim, edge: Edge, wanted: Mapping[tuple[str, str], tuple[Any, ...]]) -> bool:
    """Make the stored edges of a kind equal to `wanted` (ends → properties); True if any differed.

    The edges that differ change in one transaction per batch, as the dataset's writer alone; a
    kill between two batches is mended by running again.

    Raises
    ------
    ConflictError
        Another process has claimed the dataset, or one of the ends is gone.
    """
    stored = {
        (row["start"], row["end"]): tuple(row[name] for name in edge.property_names)
        for row in claim.store.stream(statements.edges_statement(edge), dataset=claim.dataset)
    }
    gone = sorted([*ends] for ends in stored.keys() - wanted.keys())
    new, changed = [], []
    for ends, values in sorted(wanted.items()):
        if ends not in stored:
            new.append((*ends, values))
        elif stored[ends] != values:
            changed.append([*ends, *values])

    for rows in batches(gone, EDGE_BATCH):
        claim.write_all(statements.delete_edges_statement(edge), len(rows), rows=rows)
    for rows in batches(changed, EDGE_BATCH):
        claim.write_all(statements.update_edges_statement(edge), len(rows), rows=rows)
    create = statements.create_edges_statement(edge)
    for new_edges in batches(new, EDGE_BATCH):
        columns = _by_start(new_edges, len(edge.properties))
        claim.write_all(create, len(new_edges), **columns)
    return bool(gone or changed or new)


def _by_start(
    edges: Sequence[tuple[str, str, tuple[Any, ...]]], n_properties: int
) -> dict[str, Any]:
    """Group edges by start as columns, with their ends as positions among the distinct ends."""
    starts: dict[str, list[list[Any]]] = {}
    ends: dict[str, int] = {}
    for start, end, values in edges:
        columns = starts.setdefault(start, [[] for _ in range(1 + n_properties)])
        position = ends.setdefault(end, len(ends))
        for column, value in zip(columns, (position, *values), strict=True):
            column.append(value)
    return {"rows": [*starts.items()], "ends": list(ends)}


def batches(rows: Sequence[RowT], size: int = BATCH) -> Iterator[Sequence[RowT]]:
    """Split rows into consecutive slices of `size`; the last one may be shorter."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def in_parallel(work: Callable[..., int], jobs: Iterable[tuple[Any, ...]]) -> Iterator[int]:
    """Run `work` on each job in a few threads, with few jobs waiting; results as they come.

    When one fails or the caller stops, what runs is waited for and nothing more starts.
    """
    with ThreadPoolExecutor(SESSIONS) as pool:
        running: set[Future[int]] = set()
        try:
            for job in jobs:
                running.add(pool.submit(work, *job))
                if len(running) > SESSIONS:
                    ended, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in ended)
            for future in running:
                yield future.result()
        finally:
            for future in running:
                future.cancel()
