"""A database comes to the declared schema."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import ClientError

from cobalance.base.errors import SchemaVersionError
from cobalance.graph.database.declarations import Definition
from cobalance.graph.database.local.server_control import Endpoint, ensure_running, stop
from cobalance.graph.database.migrations import VERSION, migrate
from cobalance.graph.database.schema import ALL_NODES
from cobalance.graph.database.store import GraphStore

DECLARED = {definition for node in ALL_NODES for definition in node.definitions}


@pytest.fixture(scope="module")
def server(settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """A server of its own, since constraints are those of a whole database."""
    own = settings.model_copy(
        update={"cobalance_home": tmp_path_factory.mktemp("schema"), "neo4j_uri": None}
    ).local_server()
    try:
        yield ensure_running(own)
    finally:
        stop(own)


@pytest.fixture
def driver(server):
    with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as opened:
        yield opened
        opened.execute_query("MATCH (n) DETACH DELETE n")
        for definition in defined(opened):
            opened.execute_query(f"DROP {definition.kind.upper()} {definition.name}")


def defined(driver) -> set[Definition]:
    """The constraints and indexes that a database has."""
    constraints, _, _ = driver.execute_query("SHOW CONSTRAINTS YIELD *")
    indexes, _, _ = driver.execute_query("SHOW INDEXES YIELD * WHERE owningConstraint IS NULL")
    assert all(row["type"] == "UNIQUENESS" for row in constraints)
    found = [("constraint", row) for row in constraints]
    found += [("index", row) for row in indexes if row["type"] != "LOOKUP"]
    return {
        Definition(kind, row["name"], row["labelsOrTypes"][0], tuple(row["properties"]))
        for kind, row in found
    }


def test_an_empty_database_comes_to_the_declared_schema(driver):
    for _ in range(2):
        assert migrate(driver, "neo4j") == VERSION
        assert defined(driver) == DECLARED
    rows, _, _ = driver.execute_query("MATCH (m:Migration) RETURN m.version AS v ORDER BY v")
    assert [row["v"] for row in rows] == [VERSION]


def test_several_processes_may_open_an_empty_database_at_once(driver):
    start = Barrier(4)

    def open_it(_: int) -> int:
        start.wait()
        return migrate(driver, "neo4j")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(open_it, range(4))) == [VERSION] * 4
    assert defined(driver) == DECLARED


def test_a_foreign_index_where_a_constraint_belongs_is_an_error(driver):
    """Else the database would do without the constraint, and call its schema complete."""
    driver.execute_query("CREATE INDEX foreign_index FOR (n:Dataset) ON (n.name)")
    with pytest.raises(ClientError, match="already exists an index"):
        migrate(driver, "neo4j")
    assert not driver.execute_query("MATCH (m:Migration) RETURN m").records


def test_a_database_of_another_version_is_left_alone(server, driver):
    migrate(driver, "neo4j")
    newer = VERSION + 1
    driver.execute_query("CREATE (:Migration {version: $version})", version=newer)
    with pytest.raises(SchemaVersionError, match=f"has schema version {newer}"):
        GraphStore.connect(server.uri, server.username, server.password)
    driver.execute_query("MATCH (m:Migration) DELETE m")
    driver.execute_query("CREATE (:Migration {version: 15})")
    with pytest.raises(SchemaVersionError, match="was made by a version of cobalance from before"):
        migrate(driver, "neo4j")
    assert driver.execute_query("MATCH (m:Migration) RETURN m.version").records[0][0] == 15
