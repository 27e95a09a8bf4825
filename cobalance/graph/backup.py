"""Datasets as nodes and edges: read as of one moment, and written again.

A load, an order, a worker's report: each of them takes a lock of its dataset or job first, and
waits while these are read. A dataset that is being restored is marked: nothing counts it, and no
worker takes its jobs, until one last transaction makes all restored datasets whole.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from neo4j import Transaction

from cobalance.graph.database import schema
from cobalance.graph.database.declarations import Node
from cobalance.graph.database.migrations import changes_since
from cobalance.graph.database.store import GraphStore, Row
from cobalance.graph.database.sync import BATCH, EDGE_BATCH
from cobalance.graph.dataset.state import DatasetState
from cobalance.graph.errors import DataError, StaleError

KINDS = {
    node.label: node
    for node in schema.ALL_NODES
    if node.scope != "none" or node is schema.DATASET_NODE
}
"""Kinds of nodes that belong to a dataset, and its own, by label."""
_TYPES = {edge.type for edge in schema.EDGES}
_PACKED_BATCH = 20  # nodes with columns of up to a megabyte

Edge = list[Any]
"""Type; label, dataset and key of the start; the same of the end; properties."""

_AS_WRITER = """MATCH (d:Dataset {writer: $writer}) WHERE d.name IN $names
WITH count(d) AS held WHERE held = size($names)
UNWIND $rows AS row"""


def edges_statement(node: Node, *, incoming: bool = False) -> str:
    """Cypher that reads all edges that leave a kind of node in ``$dataset``.

    Or those that lead to it from outside of the datasets ``$names``.
    """
    keys = " ".join(f"WHEN '{label}' THEN x.{kind.key.name}" for label, kind in KINDS.items())
    other = f"labels(x)[0], coalesce(x.dataset, x.name), CASE labels(x)[0] {keys} END"
    own = f"'{node.label}', $dataset, n.{node.key.name}"
    found = f"MATCH (n:{node.label} {{{_dataset_key(node)}: $dataset}})"
    if incoming:
        where = "WHERE NOT coalesce(x.dataset, x.name) IN $names"
        return f"{found}<-[e]-(x) {where} RETURN [type(e), {other}, {own}, properties(e)]"
    return f"{found}-[e]->(x) RETURN [type(e), {own}, {other}, properties(e)]"


def create_edges_statement(kind: str, start: Node, end: Node) -> str:
    """Cypher that creates edges of which both ends exist.

    Examples
    --------
    >>> print(create_edges_statement("GENERATED_BY", schema.IMAGE, schema.JOB))
    MATCH (d:Dataset {writer: $writer}) WHERE d.name IN $names
    WITH count(d) AS held WHERE held = size($names)
    UNWIND $rows AS row
    MATCH (a:Image {dataset: row[2], id: row[3]})
    MATCH (b:Job {id: row[6]})
    CREATE (a)-[e:GENERATED_BY]->(b) SET e = row[7]
    """
    found = []
    for name, node, at in (("a", start, 2), ("b", end, 5)):
        within = f"dataset: row[{at}], " if node.scope == "dataset" else ""
        found.append(f"MATCH ({name}:{node.label} {{{within}{node.key.name}: row[{at + 1}]}})")
    return "\n".join([_AS_WRITER, *found, f"CREATE (a)-[e:{kind}]->(b) SET e = row[7]"])


def _dataset_key(node: Node) -> str:
    """The property that holds a node's dataset."""
    return "name" if node is schema.DATASET_NODE else "dataset"


@dataclass(frozen=True, eq=False)
class Cut:
    """Datasets while nobody else writes to them.

    Parameters
    ----------
    datasets : sequence of str
        Those that are whole.
    left_out : mapping of str to str
        The others, each with the reason.
    mining : collection of str
        Those whose cliques are being written, and are not read.
    """

    transaction: Transaction
    datasets: Sequence[str]
    left_out: Mapping[str, str]
    mining: set[str]

    def nodes(self, node: Node) -> Iterator[Row]:
        """Read the properties of a kind of node."""
        text = f"MATCH (n:{node.label} {{{_dataset_key(node)}: $dataset}}) RETURN properties(n)"
        for dataset in self.datasets:
            if node not in (schema.CLIQUE, schema.CLIQUE_TABLE) or dataset not in self.mining:
                yield from self._read(text, dataset)

    def edges(self) -> Iterator[Edge]:
        """Read all edges that leave a node here, or come from elsewhere, as to a job."""
        for node in KINDS.values():
            for dataset in self.datasets:
                yield from self._read(edges_statement(node), dataset)
                if node.scope != "dataset":
                    yield from self._read(edges_statement(node, incoming=True), dataset)

    def _read(self, text: str, dataset: str) -> Iterator[Any]:
        found = self.transaction.run(text, dataset=dataset, names=list(self.datasets))
        yield from (record[0] for record in found)


@contextmanager
def open_cut(store: GraphStore, names: Sequence[str]) -> Iterator[Cut]:
    """Wait for the locks of datasets and of their jobs, and hold them for the block.

    A dataset that is being loaded, renamed or restored, or where that was broken off, is left out.
    """
    kinds = [schema.DATASET_NODE, *(node for node in KINDS.values() if node.scope == "store")]
    locks = [
        f"MATCH (n:{node.label}) WHERE n.{_dataset_key(node)} IN $names "
        "SET n.updated_at = n.updated_at"
        for node in kinds
        if "updated_at" in node.property_names
    ]
    text = "MATCH (d:Dataset) WHERE d.name IN $names RETURN properties(d) ORDER BY d.name"
    with store.hold_locks(locks, names=list(names)) as transaction:
        whole, left_out, mining = list[str](), dict[str, str](), set[str]()
        for (properties,) in transaction.run(text, names=list(names)):
            state = DatasetState.of(properties)
            try:
                state.require_complete()
                whole.append(state.name)
            except StaleError as error:
                left_out[state.name] = str(error)
            if "writer" in properties and not state.is_mined:
                mining.add(state.name)
        yield Cut(transaction, whole, left_out, mining)


@dataclass(eq=False)
class Restoration:
    """Datasets being restored; rows of other datasets are skipped."""

    store: GraphStore
    datasets: Sequence[str]
    _writer: str = field(default_factory=lambda: uuid.uuid4().hex)
    _digests: list[list[Any]] = field(default_factory=list)

    def find_owner(self, node: Node, keys: Sequence[str]) -> str | None:
        """A dataset of another name that has a node of one of these keys."""
        text = (
            f"UNWIND $keys AS key MATCH (n:{node.label} {{{node.key.name}: key}}) "
            "WHERE NOT n.dataset IN $names RETURN n.dataset AS dataset LIMIT 1"
        )
        found = self.store.read(text, keys=list(keys), names=list(self.datasets))
        return str(found[0]["dataset"]) if found else None

    def begin(self, digest: str) -> None:
        """Create the datasets, marked as being restored from the backup with a digest."""
        text = "UNWIND $names AS x CREATE (:Dataset {name: x, restoring: $digest, writer: $writer})"
        self.store.write(text, names=list(self.datasets), digest=digest, writer=self._writer)

    def add_nodes(self, node: Node, rows: Iterable[Row]) -> Iterator[int]:
        """Write nodes, and yield how many are done, batch by batch."""
        packed = any(each.type is bytes for each in node.properties)
        made, own = f"CREATE (n:{node.label}) SET n = row", iter(rows)
        if node is schema.DATASET_NODE:
            made, own = "MATCH (n:Dataset {name: row.name}) SET n += row", map(self._keep, own)
        left = (row for row in own if row[_dataset_key(node)] in self.datasets)
        while batch := list(islice(left, _PACKED_BATCH if packed else BATCH)):
            self._write(f"{_AS_WRITER} {made} RETURN count(*) AS written", batch)
            yield len(batch)

    def add_edges(self, edges: Iterable[Edge]) -> Iterator[int]:
        """Write edges, and yield how many are done; one that has lost an end is left out."""
        waiting = dict[tuple[str, str, str], list[Edge]]()
        for edge in edges:
            if edge[2] in self.datasets or edge[5] in self.datasets:
                of_kind = waiting.setdefault((edge[0], edge[1], edge[4]), [])
                of_kind.append(edge)
                if len(of_kind) == EDGE_BATCH:
                    yield self._connect(of_kind)
                    of_kind.clear()
        yield from map(self._connect, filter(None, waiting.values()))

    def finish(self, schema_version: int) -> None:
        """Apply later changes of the schema, and make the datasets whole."""
        for text in changes_since(schema_version):
            self.store.write(text)
        made = "SET d.digest = row[1], d.writer = null, d.restoring = null"
        text = f"{_AS_WRITER} MATCH (d:Dataset {{name: row[0]}}) {made} RETURN count(d) AS written"
        self._write(text, self._digests)

    def _connect(self, edges: list[Edge]) -> int:
        kind, start, end = edges[0][0], KINDS.get(edges[0][1]), KINDS.get(edges[0][4])
        if kind not in _TYPES or start is None or end is None:
            raise DataError(f"The backup has edges {kind!r}, which are none of cobalance's.")
        text, names = create_edges_statement(kind, start, end), list(self.datasets)
        self.store.write(text, writer=self._writer, names=names, rows=edges)
        return len(edges)

    def _keep(self, row: Row) -> Row:
        """A dataset's properties but for the digest, which makes it whole."""
        if row["name"] in self.datasets:
            self._digests.append([row["name"], row["digest"]])
        return {name: value for name, value in row.items() if name not in ("digest", "writer")}

    def _write(self, text: str, rows: list[Any]) -> None:
        names = list(self.datasets)
        self.store.write_all(text, len(rows), writer=self._writer, names=names, rows=rows)
