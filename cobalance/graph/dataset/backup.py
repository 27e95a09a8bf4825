"""Datasets as rows of nodes and edges: read as of one moment, and written again.

A load, an order, a worker's report: each of them takes a lock of its dataset or job first, and
waits while these are read. A dataset that is being restored is marked: nothing counts it, and no
worker takes its jobs, until one last transaction makes all restored datasets whole.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import NoneType
from typing import Any, NamedTuple

from neo4j import ManagedTransaction
from neo4j.time import DateTime

from cobalance.base import Action, ConflictError, Setting, StaleError, T
from cobalance.graph.database import GraphStore, Node, Row, schema
from cobalance.graph.database.migrations import changes_since
from cobalance.graph.database.sync import BATCH, EDGE_BATCH
from cobalance.graph.dataset.state import DatasetState, find_dataset

# Nodes with columns of up to a megabyte.
_PACKED_BATCH = 20
_AS_WRITER = """MATCH (d:Dataset {writer: $writer}) WHERE d.name IN $names
WITH count(d) AS held WHERE held = size($names)
UNWIND $rows AS row"""


class Part(NamedTuple):
    """A kind of node or edge: its file in a backup, and Cypher that reads rows and writes ``row``.

    A node's row has its dataset and properties, an edge's the dataset and key of its start, the
    same of its end, and properties.
    """

    name: str
    read: str
    write: str
    # Of the values of a row.
    kinds: tuple[type, ...]
    batch: int
    node: Node | None = None


def _node_part(node: Node) -> Part:
    is_packed = any(declared.type is bytes for declared in node.properties)
    return Part(
        name=f"graph/{node.label}.jsonl",
        read=f"MATCH (n:{node.label}) WHERE n.dataset IN $names RETURN [n.dataset, properties(n)]",
        write=f"CREATE (n:{node.label}) SET n = row[1], n.dataset = row[0]",
        kinds=(str, dict),
        batch=_PACKED_BATCH if is_packed else BATCH,
        node=node,
    )


def edge_part(kind: str, start: Node, end: Node) -> Part:
    """The part of a kind of edge; one that has lost an end is not written again.

    Examples
    --------
    >>> part = edge_part("GENERATED_BY", schema.IMAGE, schema.JOB)
    >>> print(part.read)
    MATCH (a:Image)-[e:GENERATED_BY]->(b:Job)
    WHERE a.dataset IN $names OR coalesce(b.dataset, b.name) IN $names
    RETURN [a.dataset, a.id, coalesce(b.dataset, b.name), b.id, properties(e)]
    >>> print(part.write)
    MATCH (a:Image {dataset: row[0], id: row[1]})
    MATCH (b:Job {id: row[3]})
    CREATE (a)-[e:GENERATED_BY]->(b) SET e = row[4]
    """
    # The end may be of another dataset, and then the edge belongs to both.
    end_dataset = "coalesce(b.dataset, b.name)"
    or_of_end = "" if end.scope == "dataset" else f" OR {end_dataset} IN $names"
    keys = f"a.dataset, a.{start.key.name}, {end_dataset}, b.{end.key.name}"

    def match(node: Node, position: int) -> str:
        within = f"dataset: row[{position}], " if node.scope == "dataset" else ""
        return f":{node.label} {{{within}{node.key.name}: row[{position + 1}]}}"

    return Part(
        name=f"graph/{start.label}-{kind}-{end.label}.jsonl",
        read=f"MATCH (a:{start.label})-[e:{kind}]->(b:{end.label})\n"
        f"WHERE a.dataset IN $names{or_of_end}\n"
        f"RETURN [{keys}, properties(e)]",
        write=f"MATCH (a{match(start, 0)})\nMATCH (b{match(end, 2)})\n"
        f"CREATE (a)-[e:{kind}]->(b) SET e = row[4]",
        kinds=(str, object, str, object, dict),
        batch=EDGE_BATCH,
    )


_KINDS = [node for node in schema.ALL_NODES if node.scope != "none"]
# An image that a tag leaves out keeps its edges.
_IMAGES = {schema.IMAGE: (schema.IMAGE, schema.EXCLUDED_IMAGE)}
NODES = {node: _node_part(node) for node in _KINDS}
PARTS = (
    *NODES.values(),
    *(
        edge_part(edge.type, start, end)
        for edge in schema.EDGES
        for start in _IMAGES.get(edge.start, (edge.start,))
        for end in _IMAGES.get(edge.end, (edge.end,))
    ),
)
"""All that a dataset has in the graph, but for its own node."""

_LOCKS = [
    f"MATCH (n:{node.label}) WHERE coalesce(n.dataset, n.name) IN $names "
    "SET n.updated_at = n.updated_at"
    for node in (schema.DATASET_NODE, *(node for node in _KINDS if node.scope == "store"))
    if "updated_at" in node.property_names
]


Rows = Callable[[Part], Iterator[list[Any]]]
"""Reads the rows of a part."""


def read_cut(
    store: GraphStore,
    names: Sequence[str],
    work: Callable[[dict[str, Row], dict[str, str], Rows], T],
) -> T:
    """Read datasets under their locks and their jobs', so that nobody writes meanwhile.

    The work begins anew where the database breaks a deadlock.

    Parameters
    ----------
    work : callable
        Is given the properties of the datasets that are whole, the others with the reason why they
        are not (one is being loaded, renamed or restored, or that was broken off), and what reads
        the rows of the first.
    """

    def read(transaction: ManagedTransaction) -> T:
        whole, left_out = dict[str, Row](), dict[str, str]()
        text = "MATCH (d:Dataset) WHERE d.name IN $names RETURN properties(d) ORDER BY d.name"
        for (properties,) in transaction.run(text, names=list(names)):
            try:
                DatasetState.of(properties).require_complete()
                whole[properties["name"]] = properties
            except StaleError as error:
                left_out[properties["name"]] = str(error)

        def rows(part: Part) -> Iterator[list[Any]]:
            return (record[0] for record in transaction.run(part.read, names=list(whole)))

        return work(whole, left_out, rows)

    return store.with_locks(_LOCKS, read, names=list(names))


def _check_properties(properties: Mapping[str, object], *others: object) -> None:
    """Raise an error of Python unless the database can store properties, and other values."""
    if unnamed := [name for name in properties if not name.isidentifier()]:
        raise ValueError(f"{unnamed[0]!r} is no name of a property")

    for value in (*properties.values(), *others):
        match value:
            case str():
                # It fails for half of a surrogate pair.
                value.encode()
            case int():
                value.to_bytes(8, signed=True)
            case list() if len(kinds := {*map(type, value)}) < 2 and not kinds & {list, NoneType}:
                _check_properties({}, *value)
            case None | float() | bytes() | DateTime():
                pass
            case _:
                raise TypeError(f"a property cannot be {value!r:.40}")


def _node_key(node: Node, row: list[Any]) -> tuple[str, str]:
    """The dataset and key that no other row of a kind of node may have."""
    # The keys of jobs and runs are unique in the store, so that their dataset does not count.
    dataset = row[0] if node.scope == "dataset" else ""
    return dataset, repr(row[1][node.key.name])


@dataclass(eq=False)
class Restoration:
    """Datasets being restored, from their properties by name, which are checked as rows are."""

    store: GraphStore
    datasets: Mapping[str, Row]
    _writer: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        for name, properties in self.datasets.items():
            _check_properties(properties, name)
            DatasetState.of(properties)

    def check(self, part: Part, rows: Iterator[list[Any]]) -> None:
        """Raise an error unless the database can store the rows of a part.

        Raises
        ------
        ConflictError
            A job, run, evaluation or what belongs to one is in a dataset of another name.
        TypeError, ValueError, LookupError, ArithmeticError
            A row cannot be.
        """
        keys = set[tuple[str, str]]()
        while batch := list(islice(rows, part.batch)):
            for row in batch:
                _check_properties(row[-1], *row[:-1])
            if part.node is None:
                continue

            new_keys = {_node_key(part.node, row) for row in batch}
            if len(new_keys) < len(batch) or not keys.isdisjoint(new_keys):
                raise ValueError(f"two have the same {part.node.key.name}")
            keys |= new_keys

            if part.node.scope != "dataset":
                self._check_not_stored(part.node, [row[1][part.node.key.name] for row in batch])

    def _check_not_stored(self, node: Node, keys: list[Any]) -> None:
        """Raise ConflictError if a dataset that is not restored has a node with one of the keys."""
        text = (
            f"MATCH (n:{node.label}) WHERE n.{node.key.name} IN $keys "
            "AND NOT n.dataset IN $names RETURN n.dataset AS dataset LIMIT 1"
        )
        for row in self.store.read(text, keys=keys, names=list(self.datasets)):
            raise ConflictError(
                "The store has the same jobs, runs or evaluations in "
                f"{row['dataset']!r}, one of these datasets under another name. ",
                Action("drop_dataset", row["dataset"]),
                " first, or restore into another store.",
            )

    def find_existing(self, *, replace: bool) -> list[str]:
        """Names of the datasets that the store has, of which whole ones are to be replaced.

        Raises
        ------
        ConflictError
            One is whole, and not to be replaced.
        """
        existing, broken = list[str](), list[str]()
        for name in self.datasets:
            state = find_dataset(self.store, name)
            if state is not None:
                existing.append(name)
                if state.restoring is not None:
                    broken.append(name)

        whole = [name for name in existing if name not in broken]
        if whole and not replace:
            note = ""
            if broken:
                names = ", ".join(map(repr, broken))
                note = f"Restoring {names} did not end; name that alone to end it. "
            raise ConflictError(
                f"The store has {', '.join(map(repr, whole))} already. {note}"
                "To have what the backup has in place of all, restore with ",
                Setting("replace", True),
                ".",
            )
        return existing

    def begin(self, name: str, digest: str) -> None:
        """Mark a dataset, or a new one, as being restored from the backup with a digest."""
        text = "MERGE (d:Dataset {name: $name}) SET d.restoring = $digest, d.writer = $writer"
        self.store.write(text, name=name, digest=digest, writer=self._writer)

    def write(self, part: Part, rows: Iterator[list[Any]]) -> None:
        """Write the rows of a part."""
        text = f"{_AS_WRITER} {part.write}"
        names = list(self.datasets)
        while batch := list(islice(rows, part.batch)):
            self.store.write(text, writer=self._writer, names=names, rows=batch)

    def finish(self, schema_version: int) -> None:
        """Apply later changes of the schema, and make the datasets whole.

        Raises
        ------
        ConflictError
            Another process has dropped, loaded or restored one of them meanwhile.
        """
        names = list(self.datasets)

        def write(assignments: str) -> None:
            text = f"{_AS_WRITER} MATCH (d:Dataset {{name: row[0]}}) SET {assignments}"
            text = f"{text} RETURN count(d) AS written"
            rows = list(self.datasets.items())
            self.store.write_all(text, len(rows), writer=self._writer, names=names, rows=rows)

        # Changes see the datasets' own nodes, which are marked as being restored until all is done.
        write("d += row[1], d.name = row[0]")
        for text in changes_since(schema_version):
            self.store.write(text)
        write("d.writer = null, d.restoring = null")
