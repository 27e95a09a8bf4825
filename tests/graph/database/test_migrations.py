"""Migrations are frozen, and bring a database of any earlier version to the declared schema."""

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import ClientError

from graph.counting.cliques import Cliques
from graph.database import migrations
from graph.database.declarations import Definition
from graph.database.local.server import Endpoint, ensure_running, stop
from graph.database.migrations import MIGRATIONS, migrate
from graph.database.schema import ALL_NODES
from graph.database.store import GraphStore
from graph.diagnosis.association import leading_classes, log_odds_ratio
from graph.diagnosis.evidence import rate_differences
from graph.diagnosis.imbalance import imbalance_table
from graph.errors import SchemaTooNewError

FROZEN = {
    1: "bb3cbb3be3a537c8b3f4f051976babb61fa88b4b451412423f4fe3e34c5e544e",
    2: "beb8469d4fd35e90d6f2f9eb956b4ebbc9bc125afab359013a6442c1183dc036",
    3: "202624b629baf71dfccd3e3ae565701b4ae0286cf5d7084616d79271067903de",
    4: "700786ac656ba1630b2540c8f5426f6a3355c51d2cd0782006da438cc91de77b",
    5: "7019f77ba34ca6943cee8fa81e3d8c8cc7baa4d6deb3321150b62b703a9f2432",
    6: "10e519ae77868543d8f9f15882d6be7e67e73aae8dccea6f2168371cc7590c74",
    7: "aacdc34cca8c03ee276ba63f47b906c4d1181b3dee9de5905aacf0ccafb1f887",
    8: "ca54d52fc349542890d18f6f613b2f784443568f9aaaa1d0fbff7f4b424d892d",
    9: "84bb1f6e1d5815a07db0f598df158cc7284cd5b8117b69429d07395e3e33a6ca",
    10: "20d07f98f31f29233434a038cf60e15d19bb94d9f135cb87d798b4609f854de1",
    11: "2b99438cb6c4e518e345385f90bd65f98ad6196a927d620e3c45ba9db2ae0cfd",
    12: "caabe0f50d6e2c4582aaf962dd37d4cf5d5a9169f67c12c4b7334c8d080023dd",
    13: "2af10918dc51ca7255150b9472c4bc44d3b692c100250d6c8b7de5ccc21492a2",
    14: "e1bc2ba889b759f5d36315736f306ad22f6544993562f9243975ff64974c5324",
    15: "5649b605a556648ee9e65951fdfd20489918c0b3e2fe87dde5af9fbdd2f1a073",
    16: "4a7e16ab2c63c40c342f4648d4a83d0f78f6a8df5b38fa4a4a916112cf3a581e",
}

DECLARED = {definition for node in ALL_NODES for definition in node.definitions}


def digest(statements: tuple[str, ...]) -> str:
    return hashlib.sha256("\n;\n".join(statements).encode()).hexdigest()


def test_no_migration_is_edited():
    """A change of the schema is a new migration; databases have seen these as they are."""
    assert [migration.version for migration in MIGRATIONS] == list(FROZEN)
    assert {each.version: digest(each.statements) for each in MIGRATIONS} == FROZEN


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


@pytest.mark.parametrize("version", [0, 1, 2, 7, len(MIGRATIONS) - 1, len(MIGRATIONS)])
def test_a_database_of_any_version_comes_to_the_declared_schema(driver, monkeypatch, version):
    if version:
        with monkeypatch.context() as earlier:
            earlier.setattr(migrations, "MIGRATIONS", MIGRATIONS[:version])
            assert migrate(driver, "neo4j") == version
    assert migrate(driver, "neo4j") == len(MIGRATIONS)
    assert defined(driver) == DECLARED
    rows, _, _ = driver.execute_query("MATCH (m:Migration) RETURN m.version AS v ORDER BY v")
    assert [row["v"] for row in rows] == [migration.version for migration in MIGRATIONS]


def test_several_processes_may_open_an_empty_database_at_once(driver):
    start = Barrier(4)

    def open_it(_: int) -> int:
        start.wait()
        return migrate(driver, "neo4j")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(open_it, range(4))) == [len(MIGRATIONS)] * 4
    assert defined(driver) == DECLARED


def test_a_foreign_index_where_a_constraint_belongs_is_an_error(driver):
    """Else the database would do without the constraint, and call its schema complete."""
    driver.execute_query("CREATE INDEX foreign_index FOR (n:Dataset) ON (n.name)")
    with pytest.raises(ClientError, match="already exists an index"):
        migrate(driver, "neo4j")
    assert not driver.execute_query("MATCH (m:Migration) RETURN m").records


def test_jobs_keep_whether_they_are_complete(driver, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "MIGRATIONS", MIGRATIONS[:3])
        migrate(driver, "neo4j")
    driver.execute_query(
        "CREATE (:Job {id: 'a', whole: true}) CREATE (:Job {id: 'b', whole: false}) "
        "CREATE (:Job {id: 'c'})"
    )
    migrate(driver, "neo4j")
    rows, _, _ = driver.execute_query("MATCH (j:Job) RETURN properties(j) AS job ORDER BY j.id")
    assert [row["job"] for row in rows] == [
        {"id": "a", "complete": True, "pending": 0, "unmade": 0},
        {"id": "b", "complete": False, "pending": 0, "unmade": 0},
        {"id": "c", "pending": 0, "unmade": 0},
    ]


def test_jobs_get_their_recipe_and_backend_from_their_settings(driver, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "MIGRATIONS", MIGRATIONS[:8])
        migrate(driver, "neo4j")
    stored = json.dumps({"recipe": "pinpoint", "backend": "inpaint", "making": {"steps": 3}})
    driver.execute_query("CREATE (:Job {id: 'a', settings: $stored})", stored=stored)
    driver.execute_query("CREATE (:Job {id: 'b', settings: '{}'})")
    migrate(driver, "neo4j")
    rows, _, _ = driver.execute_query(
        "MATCH (j:Job) RETURN j.recipe AS recipe, j.backend AS backend ORDER BY j.id"
    )
    assert [row.data() for row in rows] == [
        {"recipe": "pinpoint", "backend": "inpaint"},
        {"recipe": None, "backend": None},
    ]


def test_cliques_get_the_evidence_of_their_counts(driver, monkeypatch):
    """As mining would write it; those of a dataset that was never mined to the end do without."""
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "MIGRATIONS", MIGRATIONS[:13])
        migrate(driver, "neo4j")
    sizes = np.array([3335, 4665, 7])
    counts = np.array([[0, 0, 7], [301, 400, 1], [3335, 4665, 7], [12, 9, 0]])
    driver.execute_query(
        "CREATE (d:Dataset {name: 'd', mined_classes: ['a', 'b', 'c'], mined_images: $sizes}) "
        "CREATE (:Dataset {name: 'broken'}) CREATE (:Clique {dataset: 'broken', concepts: ['x']}) "
        "FOREACH (name IN d.mined_classes | CREATE (:Class {dataset: 'd', name: name})) WITH d "
        "UNWIND range(0, 3) AS i "
        "CREATE (q:Clique {dataset: 'd', concepts: [toString(i)], q_value: $q_values[i], "
        "gap: $gaps[i]}) WITH d, q, i MATCH (y:Class {dataset: 'd'}) "
        "WITH q, i, y ORDER BY y.name WITH q, i, collect(y) AS classes UNWIND [0, 1, 2] AS j "
        "WITH q, i, j, classes[j] AS y CREATE (q)-[:COUNTED_IN {images: $counts[i][j]}]->(y)",
        sizes=sizes.tolist(),
        counts=counts.tolist(),
        q_values=[0.05, 0.051, 1.0, 1e-9],
        gaps=np.ptp(counts, axis=1).tolist(),
    )
    migrate(driver, "neo4j")
    rows, _, _ = driver.execute_query(
        "MATCH (q:Clique {dataset: 'd'}) RETURN q.leans AS leans, q.effect AS effect "
        "ORDER BY q.concepts"
    )
    assert [row["leans"] for row in rows] == [True, False, False, True]
    assert [row["effect"] for row in rows] == rate_differences(counts, sizes)[0].tolist()
    rows, _, _ = driver.execute_query(
        "MATCH (d:Dataset) RETURN d.leaning_cliques AS leaning, d.unproven_cliques AS more "
        "ORDER BY d.name DESC"
    )
    assert [row.data() for row in rows] == [
        {"leaning": 2, "more": 2},
        {"leaning": None, "more": None},
    ]


def test_odds_ratios_of_an_earlier_version_become_those_of_the_rates(driver, monkeypatch):
    """As mining would write them, whatever the confidence; run again, they stay."""
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "MIGRATIONS", MIGRATIONS[:15])
        migrate(driver, "neo4j")
    sizes, classes = np.array([300, 40, 20, 600]), ("a b", "a_b", "c", "d")
    counts = [[90, 20, 0, 90], [40, 40, 20, 41], [0, 0, 7, 8], [9, 9, 9, 9], sizes.tolist()]
    counts = np.array(counts)
    members = np.arange(len(counts))[:, None]
    table = imbalance_table(
        Cliques(members, counts, sizes, tuple("vwxyz"), classes), confidence=0.8
    )
    gaps = np.ptp(counts, axis=1)
    over, under = leading_classes(counts)
    before = log_odds_ratio(counts, sizes, over, under, confidence=0.8)
    named = [
        [None if gap == 0 else classes[code] for gap, code in zip(gaps, pair, strict=True)]
        for pair in (over, under)
    ]
    driver.execute_query(
        "CREATE (d:Dataset {name: 'd', mined_classes: $classes, mined_images: $sizes}) "
        "FOREACH (name IN d.mined_classes | CREATE (:Class {dataset: 'd', name: name})) WITH d "
        "UNWIND range(0, size($counts) - 1) AS i "
        "CREATE (q:Clique {dataset: 'd', concepts: [toString(i)], effect: $effect[i], "
        "gap: $gaps[i], over_represented: $named[0][i], under_represented: $named[1][i], "
        "log_odds_ratio: $odds[i][0], log_odds_ratio_low: $odds[i][1], "
        "log_odds_ratio_high: $odds[i][2]}) WITH d, q, i "
        "UNWIND range(0, 3) AS j MATCH (y:Class {dataset: 'd', name: $classes[j]}) "
        "CREATE (q)-[:COUNTED_IN {images: $counts[i][j]}]->(y)",
        classes=list(classes),
        sizes=sizes.tolist(),
        counts=counts.tolist(),
        effect=table["effect"].tolist(),
        gaps=gaps.tolist(),
        named=named,
        odds=before.tolist(),
    )
    columns = ["highest_rate", "lowest_rate", *table.filter(like="log_odds").columns]
    for _ in range(2):
        migrate(driver, "neo4j")
        rows, _, _ = driver.execute_query("MATCH (q:Clique) RETURN q ORDER BY q.concepts")
        for row, expected in zip(rows, table[columns].to_dict("records"), strict=True):
            assert [row["q"].get(name) for name in columns[:2]] == [
                None if pd.isna(expected[name]) else expected[name] for name in columns[:2]
            ]
            wanted = [expected[name] for name in columns[2:]]
            if pd.isna(expected["highest_rate"]):  # its interval was of two other classes
                wanted = [0.0, None, None]
            found = [row["q"].get(name) for name in columns[2:]]
            assert found == pytest.approx(wanted)
        driver.execute_query("MATCH (m:Migration {version: 16}) DELETE m")


def test_a_newer_database_is_left_alone(server, driver):
    migrate(driver, "neo4j")
    newer = len(MIGRATIONS) + 1
    driver.execute_query("CREATE (:Migration {version: $version})", version=newer)
    with pytest.raises(SchemaTooNewError, match=f"has schema version {newer}"):
        GraphStore.connect(server.uri, server.username, server.password)
