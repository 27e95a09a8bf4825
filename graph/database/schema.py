"""What the graph holds, declared once: constraints, indexes and every write are derived from it."""

from collections.abc import Iterable
from dataclasses import dataclass

from graph.database.job_counters import COUNTS

DATASET = "dataset"  # the property that keys every node to its dataset


@dataclass(frozen=True)
class Node:
    """A kind of node, unique in its dataset by one property.

    Parameters
    ----------
    label : str
        The Cypher label.
    key : str
        The property that identifies the node within its dataset.
    properties : tuple of str
        All other properties, in the order in which writes pass them.
    indexed : tuple of (str or tuple of str)
        Properties, alone or several together, that reads filter or sort by within a dataset.
    in_whole_store : bool
        Its key is unique in the store, and its indexes span all datasets: such nodes are found by
        their key alone, also while their dataset is being renamed.
    """

    label: str
    key: str
    properties: tuple[str, ...] = ()
    indexed: tuple[str | tuple[str, ...], ...] = ()
    in_whole_store: bool = False

    def __post_init__(self) -> None:
        _check_names(self.label, self.key, *self.properties)
        unknown = {name for names in self.index_properties() for name in names}
        unknown -= {self.key, *self.properties}
        if unknown:
            raise ValueError(f"{self.label}: indexed but not declared: {sorted(unknown)}")

    def index_properties(self) -> list[tuple[str, ...]]:
        """The properties of each index, but for the dataset."""
        return [(names,) if isinstance(names, str) else names for names in self.indexed]


@dataclass(frozen=True)
class Edge:
    """A kind of relationship, at most once between two nodes of one dataset."""

    type: str
    start: Node
    end: Node
    properties: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_names(self.type, *self.properties)


def _check_names(*names: str) -> None:
    for name in names:
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot stand in Cypher unquoted")


CLASS = Node("Class", "name")
CONCEPT = Node("Concept", "name")
IMAGE = Node("Image", "id", ("digest", "split", "uri", "width_px", "height_px", "synthetic"))
CLIQUE = Node(
    "Clique",
    "concepts",  # ascending
    (
        "digest",
        "size",
        "gap",
        "under_represented",
        "over_represented",
        "lift",
        "log_odds_ratio",
        "log_odds_ratio_low",
        "log_odds_ratio_high",
        "p_value",
        "q_value",
        "test",
    ),
    ("gap",),
)
CLIQUE_TABLE = Node("CliqueTable", "part", ("mined_as", "parts", "concepts", "members", "counts"))
PLAN = Node(
    "Plan",
    "name",
    ("planner", "mined_as", "min_size", "max_size", "images", "max_per_query", "budget"),
)
GENERATION_QUERY = Node(
    "GenerationQuery", "key", ("digest", "plan", "class_name", "concepts", "n"), ("plan",)
)

JOB = Node(
    "Job",
    "id",
    (
        "plan",
        "state",
        "settings",  # JSON
        "created_by",
        "created_at",
        "started_at",
        "ended_at",
        "updated_at",
        "heartbeat_at",
        "error",
        "note",
        "dataset_digest",
        "whole",
        "attempt",
        "round",
        "round_spans",  # JSON
        *COUNTS,
    ),
    in_whole_store=True,
)
JOB_QUERY = Node(
    "JobQuery",
    "id",
    (
        "job",
        "position",
        "class_name",
        "concepts",
        "n",
        "state",
        "accepted",
        "rejected",
        "seconds",
        "message",
        "retries",
        "started_at",
        "ended_at",
    ),
    (("job", "state"),),
    in_whole_store=True,
)
CANDIDATE = Node(
    "Candidate",
    "id",
    (
        "job",
        "query",
        "uri",
        "source_image",
        "source_uri",
        "mask_uri",
        "scores",  # JSON
        "provenance",  # JSON
        "fingerprint",
        "verdict",
        "reason",
        "decided_by",
        "decided_at",
        "seed",
        "seconds",
        "created_at",
    ),
    (("job", "verdict"), ("query", "verdict")),
    in_whole_store=True,
)

LABELED = Edge("LABELED", IMAGE, CLASS)
CONTAINS = Edge("CONTAINS", IMAGE, CONCEPT, ("source", "score", "count"))
CO_OCCURS = Edge("CO_OCCURS", CONCEPT, CONCEPT, ("images",))
CLASS_CO_OCCURS = Edge("CO_OCCURS", CLASS, CONCEPT, ("images",))
HAS = Edge("HAS", CLIQUE, CONCEPT)
COUNTED_IN = Edge("COUNTED_IN", CLIQUE, CLASS, ("images",))
REBALANCES = Edge("REBALANCES", GENERATION_QUERY, CLIQUE)
FOR_CLASS = Edge("FOR_CLASS", GENERATION_QUERY, CLASS)
ASKED_BY = Edge("ASKED_BY", GENERATION_QUERY, PLAN)
RUNS = Edge("RUNS", JOB, JOB_QUERY)
JOB_REBALANCES = Edge("REBALANCES", JOB_QUERY, CLIQUE)
JOB_FOR_CLASS = Edge("FOR_CLASS", JOB_QUERY, CLASS)
MADE_FOR = Edge("MADE_FOR", CANDIDATE, JOB_QUERY)
GENERATED_BY = Edge("GENERATED_BY", IMAGE, JOB)  # of whichever dataset the job is
DERIVED_FROM = Edge("DERIVED_FROM", IMAGE, IMAGE)

NODES = (CLASS, CONCEPT, IMAGE, CLIQUE, PLAN, GENERATION_QUERY)
JOB_NODES = (JOB, JOB_QUERY, CANDIDATE)
COPIES = (CLIQUE_TABLE,)
"""What other nodes say already, packed for those who read all of it."""


STORE_STATEMENTS = (
    "CREATE CONSTRAINT dataset_key IF NOT EXISTS FOR (n:Dataset) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT migration_key IF NOT EXISTS FOR (n:Migration) REQUIRE n.version IS UNIQUE",
)
"""Constraints of what belongs to no dataset."""


def definition_statements(nodes: Iterable[Node] = NODES) -> list[str]:
    """Constraints and indexes for declared nodes; each may be run any number of times.

    Examples
    --------
    >>> definition_statements()[0]
    'CREATE CONSTRAINT class_key IF NOT EXISTS FOR (n:Class) REQUIRE (n.dataset, n.name) IS UNIQUE'
    >>> for statement in definition_statements([JOB]):
    ...     print(statement)
    CREATE CONSTRAINT job_key IF NOT EXISTS FOR (n:Job) REQUIRE (n.id) IS UNIQUE
    CREATE INDEX job_dataset IF NOT EXISTS FOR (n:Job) ON (n.dataset)
    """
    statements = []
    for node in nodes:
        name = node.label.lower()
        within = () if node.in_whole_store else (DATASET,)
        statements.append(
            f"CREATE CONSTRAINT {name}_key IF NOT EXISTS FOR (n:{node.label}) "
            f"REQUIRE ({_listed(*within, node.key)}) IS UNIQUE"
        )
        indexes = [(DATASET,)] if node.in_whole_store else []
        statements.extend(
            f"CREATE INDEX {name}_{'_'.join(names)} IF NOT EXISTS FOR (n:{node.label}) "
            f"ON ({_listed(*within, *names)})"
            for names in (*indexes, *node.index_properties())
        )
    return statements


def _listed(*properties: str) -> str:
    return ", ".join(f"n.{name}" for name in properties)


def write_statement(node: Node, *edges: Edge, replace: bool = False) -> str:
    """Cypher that writes a batch of nodes, each with all its edges to nodes that exist.

    The statement takes ``$dataset``; ``$writer``, which must be the token of the dataset's latest
    writer (see `graph.dataset.state.claim`); ``$targets``, for each edge the keys of the nodes
    that the batch points to; and ``$rows``: ``[key, [properties...], edges of the first kind,
    ...]``. A row's edges of a kind are columns of equal length: ``[positions in the targets,
    values of the first property, ...]``. It returns how many rows it wrote: fewer than were sent
    means that a node it needs is gone or that another process writes now, and the caller must not
    commit.

    Parameters
    ----------
    node : Node
        The kind of node.
    *edges : Edge
        Kinds of edge that start there.
    replace : bool
        False creates new nodes. True takes existing ones, and replaces their properties and the
        declared edges.

    Notes
    -----
    On 118,000 images, looking end nodes up once a batch and then by position in a list takes half
    the time of a look-up per edge, and ``FOREACH`` over columns three quarters of that of a
    subquery over edges, which planned an Eager. ``benchmarks/ingest.py`` times the whole.

    Examples
    --------
    >>> print(write_statement(CONCEPT))
    MATCH (:Dataset {name: $dataset, writer: $writer})
    UNWIND $rows AS row
    CREATE (n:Concept {dataset: $dataset, name: row[0]})
    RETURN count(*) AS written
    """
    lines = [f"MATCH (:Dataset {{name: ${DATASET}, writer: $writer}})"]
    for i, edge in enumerate(edges):
        lines += [
            "WITH *, COLLECT {",
            f"  UNWIND range(0, size($targets[{i}]) - 1) AS at",
            f"  MATCH (t:{edge.end.label} "
            f"{{{DATASET}: $dataset, {edge.end.key}: $targets[{i}][at]}})",
            f"  RETURN t ORDER BY at }} AS ends_{i}",
            f"WHERE size(ends_{i}) = size($targets[{i}])",
        ]
    lines.append("UNWIND $rows AS row")
    values = [f"{prop}: row[1][{j}]" for j, prop in enumerate(node.properties)]
    identity = f"{DATASET}: $dataset, {node.key}: row[0]"
    if replace:
        lines.append(f"MATCH (n:{node.label} {{{identity}}})")
        lines.append(f"SET n = {{{', '.join([identity, *values])}}}")
        types = "|".join(edge.type for edge in edges)
        if edges:
            lines.append(f"WITH * CALL (n) {{ MATCH (n)-[old:{types}]->() DELETE old }}")
    else:
        lines.append(f"CREATE (n:{node.label} {{{', '.join([identity, *values])}}})")
    for i, edge in enumerate(edges):
        columns = f"row[{i + 2}]"
        values = [f"{prop}: {columns}[{j + 1}][k]" for j, prop in enumerate(edge.properties)]
        properties = f" {{{', '.join(values)}}}" if values else ""
        lines += [
            f"FOREACH (k IN range(0, size({columns}[0]) - 1) |",
            f"  FOREACH (target IN [ends_{i}[{columns}[0][k]]] |",
            f"    CREATE (n)-[:{edge.type}{properties}]->(target)))",
        ]
    lines.append("RETURN count(*) AS written")
    return "\n".join(lines)


def merge_statement(node: Node) -> str:
    """Cypher that makes sure that nodes with the keys in ``$keys`` exist in ``$dataset``."""
    return f"UNWIND $keys AS key MERGE (n:{node.label} {{{DATASET}: $dataset, {node.key}: key}})"


def delete_statement(node: Node) -> str:
    """Cypher that deletes the nodes with the keys in ``$keys`` in ``$dataset``, and their edges."""
    return (
        f"UNWIND $keys AS key MATCH (n:{node.label} {{{DATASET}: $dataset, {node.key}: key}}) "
        "DETACH DELETE n"
    )


def digests_statement(node: Node) -> str:
    """Cypher that reads the key and content digest of every node of a kind in ``$dataset``."""
    return (
        f"MATCH (n:{node.label} {{{DATASET}: $dataset}}) "
        f"RETURN n.{node.key} AS key, n.digest AS digest"
    )


def edges_statement(edge: Edge) -> str:
    """Cypher that reads both end keys and all properties of every edge of a kind."""
    values = "".join(f", e.{prop} AS {prop}" for prop in edge.properties)
    return (
        f"MATCH (a:{edge.start.label} {{{DATASET}: $dataset}})-[e:{edge.type}]->"
        f"(b:{edge.end.label}) RETURN a.{edge.start.key} AS start, b.{edge.end.key} AS end{values}"
    )


def merge_edges_statement(edge: Edge) -> str:
    """Cypher that merges edges between existing nodes: rows of [start, end, properties...].

    Examples
    --------
    >>> print(merge_edges_statement(GENERATED_BY))
    UNWIND $rows AS row
    MATCH (a:Image {dataset: $dataset, id: row[0]})
    MATCH (b:Job {id: row[1]})
    MERGE (a)-[e:GENERATED_BY]->(b)
    RETURN count(*) AS written
    """
    values = ", ".join(f"e.{prop} = row[{j + 2}]" for j, prop in enumerate(edge.properties))
    return "\n".join(
        [
            "UNWIND $rows AS row",
            f"MATCH (a{_one(edge.start, 'row[0]')})",
            f"MATCH (b{_one(edge.end, 'row[1]')})",
            f"MERGE (a)-[e:{edge.type}]->(b)",
            *([f"SET {values}"] if values else []),
            "RETURN count(*) AS written",
        ]
    )


def _one(node: Node, key: str) -> str:
    within = "" if node.in_whole_store else f"{DATASET}: $dataset, "
    return f":{node.label} {{{within}{node.key}: {key}}}"


def delete_edges_statement(edge: Edge) -> str:
    """Cypher that deletes the edges between the pairs of keys in ``$rows``."""
    return "\n".join(
        [
            "UNWIND $rows AS row",
            f"MATCH (a:{edge.start.label} {{{DATASET}: $dataset, {edge.start.key}: row[0]}})"
            f"-[e:{edge.type}]->"
            f"(b:{edge.end.label} {{{DATASET}: $dataset, {edge.end.key}: row[1]}})",
            "DELETE e",
        ]
    )
