"""Cypher derived from declared nodes and edges: look-ups, writes and comparisons."""

from collections.abc import Iterator, Sequence

from cobalance.graph.database.declarations import DATASET, Edge, Node
from cobalance.graph.database.query import Statement

HAS_WRITER = Statement(
    "Whether a writer still has the claim on a dataset.",
    "MATCH (d:Dataset {name: $dataset, writer: $writer}) RETURN d.name AS name",
)

UPDATE_DATASET = Statement(
    "Set properties of a dataset.", "MATCH (d:Dataset {name: $dataset}) SET d += $values"
)

FINISH = Statement(
    "Set properties of a dataset and release the claim, if the writer still holds it.",
    """
MATCH (d:Dataset {name: $dataset, writer: $writer}) SET d += $values, d.writer = null
RETURN d.name AS name""",
)

AS_WRITER = (
    "MATCH (d:Dataset {name: $dataset}) SET d.updated_at = d.updated_at\n"
    "WITH d WHERE d.writer = $writer"
)
"""Begins a change by the dataset's writer.

The write takes the dataset's lock: a claim waits for it, and what is read after it is committed.
"""
_WRITTEN = "RETURN count(DISTINCT row) AS written"

_DELETE = "CALL ({0}) {{ DETACH DELETE {0} }} IN TRANSACTIONS OF 5000 ROWS"


def unknown_names_statement(nodes: Sequence[Node]) -> str:
    """Cypher that reads the dataset's properties, and the ``$names`` of each kind it lacks.

    Examples
    --------
    >>> from cobalance.graph.database.schema import CONCEPT
    >>> print(unknown_names_statement([CONCEPT]))
    OPTIONAL MATCH (d:Dataset {name: $dataset})
    RETURN properties(d) AS dataset,
      [[key IN $names[0] WHERE NOT EXISTS { (:Concept {dataset: $dataset, name: key}) }]] AS unknown
    """
    lists = (
        f"[key IN $names[{position}] WHERE NOT EXISTS {{ ({_pattern(node, 'key')}) }}]"
        for position, node in enumerate(nodes)
    )
    return (
        "OPTIONAL MATCH (d:Dataset {name: $dataset})\n"
        f"RETURN properties(d) AS dataset,\n  [{', '.join(lists)}] AS unknown"
    )


def names_statement(node: Node) -> str:
    """Cypher that reads the key of every node of a kind in ``$dataset``."""
    return f"MATCH (n:{node.label} {{{DATASET}: $dataset}}) RETURN n.{node.key.name} AS name"


def merge_clause(node: Node, variable: str, row: str) -> str:
    """Clause that creates a node with a row's properties unless its key exists.

    Its values are ``row.key`` and ``row.properties``, a map as `Node.check` gives it; further
    ``SET`` items may follow.
    """
    return (
        f"MERGE ({variable}:{node.label} {{{node.key.name}: {row}.key}})\n"
        f"ON CREATE SET {variable} += {row}.properties"
    )


def write_statement(node: Node, *edges: Edge, replace: bool = False) -> str:
    """Cypher that writes a batch of nodes, each with all its edges to nodes that exist.

    The statement takes ``$dataset``; ``$writer``, which must be the token of the dataset's latest
    writer (see `cobalance.graph.database.claim.Claim`); ``$targets``, for each edge the keys of the
    nodes that the batch points to; and ``$rows``: ``[key, [properties...], edges of the first kind,
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
    >>> from cobalance.graph.database.schema import CONCEPT
    >>> print(write_statement(CONCEPT))
    MATCH (:Dataset {name: $dataset, writer: $writer})
    UNWIND $rows AS row
    CREATE (n:Concept {dataset: $dataset, name: row[0], images: row[1][0]})
    RETURN count(*) AS written
    """
    # Ends are looked up once a batch, before the rows.
    lines = [f"MATCH (:Dataset {{name: ${DATASET}, writer: $writer}})"]
    for i, edge in enumerate(edges):
        lines += _ends(edge.end, f"$targets[{i}]", f"ends_{i}")
    lines.append("UNWIND $rows AS row")

    values = [f"{name}: row[1][{i}]" for i, name in enumerate(node.property_names)]
    identity = f"{DATASET}: $dataset, {node.key.name}: row[0]"
    if replace:
        lines.append(f"MATCH (n:{node.label} {{{identity}}})")
        lines.append(f"SET n = {{{', '.join([identity, *values])}}}")
        types = "|".join(edge.type for edge in edges)
        if edges:
            lines.append(f"WITH * CALL (n) {{ MATCH (n)-[old:{types}]->() DELETE old }}")
    else:
        lines.append(f"CREATE (n:{node.label} {{{', '.join([identity, *values])}}})")

    for i, edge in enumerate(edges):
        lines += _create_edges(edge, f"row[{i + 2}]", f"ends_{i}")
    lines.append("RETURN count(*) AS written")
    return "\n".join(lines)


def merge_statement(node: Node) -> str:
    """Cypher that merges nodes with the keys in ``$keys`` in ``$dataset``."""
    return f"UNWIND $keys AS key MERGE (n{_pattern(node, 'key')})"


def delete_statement(node: Node) -> str:
    """Cypher that deletes the nodes with the keys in ``$keys`` in ``$dataset``, and their edges."""
    return f"UNWIND $keys AS key MATCH (n{_pattern(node, 'key')}) DETACH DELETE n"


def clear_statement(node: Node) -> str:
    """Cypher that deletes all nodes of a kind in ``$dataset``, as the dataset's writer."""
    return f"{AS_WRITER}\nMATCH (n:{node.label} {{{DATASET}: d.name}}) DELETE n"


def set_statement(node: Node, name: str) -> str:
    """Cypher that sets a property of existing nodes, as the writer: rows of [key, value]."""
    rows = f"UNWIND $rows AS row\nMATCH (n{_pattern(node, 'row[0]')})"
    return f"{AS_WRITER}\n{rows} SET n.{name} = row[1]\nRETURN count(*) AS written"


def drop_statement(node: Node) -> str:
    """Cypher that deletes all nodes of a kind in the datasets ``$names``, in transactions."""
    return f"UNWIND $names AS name MATCH (n:{node.label} {{{DATASET}: name}}) {_DELETE.format('n')}"


def orphan_statements(edge: Edge, dependants: Sequence[Edge]) -> Iterator[str]:
    """Yield Cypher that deletes the ends in ``$dataset`` that no such edge leads to any more.

    Each of them is run in turn, in transactions of its own: first those that delete the starts of
    `dependants`, which were derived from the ends.

    Examples
    --------
    >>> from cobalance.graph.database.schema import CONTAINS, HAS
    >>> for text in orphan_statements(CONTAINS, [HAS]):
    ...     print(text)
    MATCH (n:Concept {dataset: $dataset}) WHERE NOT EXISTS { (n)<-[:CONTAINS]-() }
    MATCH (n)<-[:HAS]-(d:Clique)
    CALL (d) { DETACH DELETE d } IN TRANSACTIONS OF 5000 ROWS
    MATCH (n:Concept {dataset: $dataset}) WHERE NOT EXISTS { (n)<-[:CONTAINS]-() }
    CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS
    """
    orphans = (
        f"MATCH (n:{edge.end.label} {{{DATASET}: $dataset}}) "
        f"WHERE NOT EXISTS {{ (n)<-[:{edge.type}]-() }}\n"
    )

    for dependant in dependants:
        derived = f"MATCH (n)<-[:{dependant.type}]-(d:{dependant.start.label})\n"
        yield orphans + derived + _DELETE.format("d")
    yield orphans + _DELETE.format("n")


def rename_statement(node: Node) -> str:
    """Cypher that moves all nodes of a kind from dataset ``$name`` to ``$new``, in transactions."""
    return (
        f"MATCH (n:{node.label} {{{DATASET}: $name}}) "
        f"CALL (n) {{ SET n.{DATASET} = $new }} IN TRANSACTIONS OF 5000 ROWS"
    )


def digests_statement(node: Node) -> str:
    """Cypher that reads the key and content digest of every node of a kind in ``$dataset``."""
    return (
        f"MATCH (n:{node.label} {{{DATASET}: $dataset}}) "
        f"RETURN n.{node.key.name} AS key, n.digest AS digest"
    )


def edges_statement(edge: Edge) -> str:
    """Cypher that reads both end keys and all properties of every edge of a kind."""
    values = "".join(f", e.{prop} AS {prop}" for prop in edge.property_names)
    return (
        f"MATCH (a:{edge.start.label} {{{DATASET}: $dataset}})-[e:{edge.type}]->"
        f"(b:{edge.end.label}) "
        f"RETURN a.{edge.start.key.name} AS start, b.{edge.end.key.name} AS end{values}"
    )


def merge_edges_statement(edge: Edge) -> str:
    """Cypher that merges edges between existing nodes: rows of [start, end]."""
    return (
        f"UNWIND $rows AS row\nMATCH (a{_pattern(edge.start, 'row[0]')})\n"
        f"MATCH (b{_pattern(edge.end, 'row[1]')})\nMERGE (a)-[e:{edge.type}]->(b)"
    )


def _pattern(node: Node, key: str) -> str:
    within = f"{DATASET}: $dataset, " if node.scope == "dataset" else ""
    return f":{node.label} {{{within}{node.key.name}: {key}}}"


def _ends(node: Node, keys: str, variable: str) -> list[str]:
    """Clauses that look up the nodes with the keys of a parameter, all of them and in order."""
    key = f"{keys}[at]"
    return [
        "WITH *, COLLECT {",
        f"  UNWIND range(0, size({keys}) - 1) AS at",
        f"  MATCH (t{_pattern(node, key)})",
        f"  RETURN t ORDER BY at }} AS {variable}",
        f"WHERE size({variable}) = size({keys})",
    ]


def _create_edges(edge: Edge, columns: str, ends: str) -> list[str]:
    """Clauses that create the edges of node ``n`` in columns, to a list of nodes."""
    # The first column has the positions of the ends, the others a property each.
    names = enumerate(edge.property_names, start=1)
    values = [f"{name}: {columns}[{column}][k]" for column, name in names]
    properties = f" {{{', '.join(values)}}}" if values else ""
    return [
        f"FOREACH (k IN range(0, size({columns}[0]) - 1) |",
        f"  FOREACH (target IN [{ends}[{columns}[0][k]]] |",
        f"    CREATE (n)-[:{edge.type}{properties}]->(target)))",
    ]


def create_edges_statement(edge: Edge) -> str:
    """Cypher that creates edges that do not exist yet, as the dataset's writer.

    It takes ``$writer``; ``$ends``, the keys of the nodes that the edges lead to; and ``$rows``:
    ``[key of the start, edges]``, these as columns like those of `write_statement`. It returns how
    many edges it created.

    Notes
    -----
    A MERGE of each looks through the edges that a concept has already.
    """
    return "\n".join(
        [
            AS_WRITER,
            *_ends(edge.end, "$ends", "ends"),
            "UNWIND $rows AS row",
            f"MATCH (n{_pattern(edge.start, 'row[0]')})",
            *_create_edges(edge, "row[1]", "ends"),
            "RETURN coalesce(sum(size(row[1][0])), 0) AS written",
        ]
    )


def update_edges_statement(edge: Edge) -> str:
    """Cypher that sets the properties of existing edges, as the dataset's writer.

    Rows are ``[start, end, properties...]``.
    """
    # The keys of both ends come before the properties.
    names = enumerate(edge.property_names, start=2)
    values = ", ".join(f"e.{name} = row[{column}]" for column, name in names)
    return "\n".join([AS_WRITER, *_edge_of_row(edge), f"SET {values}", _WRITTEN])


def delete_edges_statement(edge: Edge) -> str:
    """Cypher that deletes the edges between the pairs of keys in ``$rows``, as the writer."""
    return "\n".join([AS_WRITER, *_edge_of_row(edge), "DELETE e", _WRITTEN])


def _edge_of_row(edge: Edge) -> list[str]:
    start, end = _pattern(edge.start, "row[0]"), _pattern(edge.end, "row[1]")
    return ["UNWIND $rows AS row", f"MATCH (a{start})-[e:{edge.type}]->(b{end})"]
