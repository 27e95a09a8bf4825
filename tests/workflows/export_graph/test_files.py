"""The concept graph in files: what is read back equals what was counted, whatever the names."""

import csv
import io
import json
from collections import Counter
from itertools import combinations

import networkx as nx
import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import CobalanceError, MissingExtraError
from cobalance.workflows.export_graph import files

HOSTILE = ["cow", "a,b", 'say "hi"', "x;y", "back\\slash", "two  words", "<&>", "=1+1", "true"]
HOSTILE += ["1", "日本", "two\u2028lines", "class:b", "clique:1", '"', "it's"]
CLASSES = ['a"b', "c:d;e,f", "=g"]
IMAGES = [
    (CLASSES[i % 3], [HOSTILE[(i * k) % len(HOSTILE)] for k in range(1, 4)]) for i in range(30)
]
NUMBERS = ("images", "gap", "degree", "strength", "community")
MEASURES = ("lift", "log_odds_ratio", "betweenness", "pagerank")


@pytest.fixture(scope="module")
def data():
    frame = pd.DataFrame(IMAGES, columns=["label", "tags"])
    return cb.read(frame, class_column="label", concepts_column="tags")


@pytest.fixture(scope="module")
def graph(data):
    return cb.concept_graph(data).with_centrality()


def counted(size):
    """Images of each class by combination, counted one by one."""
    found = {}
    for class_name, concepts in IMAGES:
        for some in combinations(sorted(set(concepts)), size):
            found.setdefault(some, Counter())[class_name] += 1
    return found


READERS = {
    "graphml": nx.read_graphml,
    "gexf": nx.read_gexf,
    "json": lambda file: nx.node_link_graph(json.loads(file.read_bytes()), edges="edges"),
}


@pytest.mark.parametrize("kind", READERS)
def test_names_types_and_values_survive(graph, data, tmp_path, kind):
    file = tmp_path / f"graph.{kind}"
    assert graph.save(file, cliques=cb.imbalances(data, max_size=3, common=())) is None
    assert list(tmp_path.iterdir()) == [file]
    read = READERS[kind](file)
    kinds = Counter(held["kind"] for _, held in read.nodes(data=True))
    n_cliques = sum(len(counted(size)) for size in (1, 2, 3))
    assert kinds == {"concept": len(HOSTILE), "class": 3, "clique": n_cliques}
    for (name,), counts in counted(1).items():
        held = read.nodes[name]
        assert held["images"] == counts.total()
        assert [held[f"count_{one}"] for one in CLASSES] == [counts[one] for one in CLASSES]
        gap = max(counts[one] for one in CLASSES) - min(counts[one] for one in CLASSES)
        assert held["gap"] == gap
        assert ("over_represented" in held) == (gap > 0)
        assert {type(held[one]) for one in NUMBERS} == {int}
        assert {type(held[one]) for one in MEASURES} == {float}
        for class_name in CLASSES:
            shared = read.get_edge_data(f"class::{class_name}", name, {"images": 0})
            assert shared["images"] == counts[class_name]
    for (one, other), counts in counted(2).items():
        held = read[one][other]
        assert held["images"] == counts.total()
        assert [held[f"count_{name}"] for name in CLASSES] == [counts[name] for name in CLASSES]
    for node, held in read.nodes(data=True):
        if held["kind"] == "clique":
            members = tuple(sorted(read[node]))
            assert held["size"] == len(members)
            ours = counted(len(members))[members]
            assert [held[f"count_{name}"] for name in CLASSES] == [ours[name] for name in CLASSES]


def test_the_same_graph_from_every_format(graph, tmp_path):
    read = []
    for kind, reader in READERS.items():
        graph.save(tmp_path / f"graph.{kind}")
        found = reader(tmp_path / f"graph.{kind}")
        nodes = {
            node: held | {"label": held.get("label", node)} for node, held in found.nodes(data=True)
        }
        edges = {
            frozenset(edge[:2]): {name: value for name, value in edge[2].items() if name != "id"}
            for edge in found.edges(data=True)
        }
        read.append((nodes, edges))
    assert read[0] == read[1] == read[2]


def test_csv_for_the_import(graph, data, tmp_path):
    command = graph.save(
        tmp_path / "to import", format="neo4j", cliques=cb.imbalances(data, max_size=2, common=())
    )
    tables = {
        file.name: list(csv.DictReader(io.StringIO(file.read_text(), newline="")))
        for file in (tmp_path / "to import").glob("*.csv")
    }
    concepts = {row["name:ID(Concept)"]: row for row in tables["concepts.csv"]}
    assert set(concepts) == set(HOSTILE)
    for (name,), counts in counted(1).items():
        assert int(concepts[name]["images:long"]) == counts.total()
        parts = concepts[name]["counts:long[]"].split("\x1f")
        assert list(map(int, parts)) == [counts[one] for one in sorted(CLASSES)]
        assert concepts[name][":LABEL"] == "Concept"
        float(concepts[name]["lift:double"])
    shared = {
        (row[":START_ID(Class)"], row[":END_ID(Concept)"]): int(row["images:long"])
        for row in tables["class_concepts.csv"]
    }
    assert shared == {
        (one, name): n for (name,), counts in counted(1).items() for one, n in counts.items()
    }
    cliques = {row["number:ID(Clique){id-type: long}"]: row for row in tables["cliques.csv"]}
    members = {}
    for row in tables["clique_concepts.csv"]:
        members.setdefault(row[":START_ID(Clique){id-type: long}"], []).append(
            row[":END_ID(Concept)"]
        )
    assert {number: row["concepts:string[]"].split("\x1f") for number, row in cliques.items()} == (
        members
    )
    assert len(tables["clique_counts.csv"]) == 3 * len(cliques)
    for name in tables:
        assert f"{tmp_path}/to import/{name}'" in command
    assert command.count("--nodes=") == 3
    assert "--array-delimiter=U+001F" in command


def test_a_folder_of_something_else_stays(graph, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(CobalanceError, match=r"mine\.txt"):
        graph.save(tmp_path, format="neo4j")
    graph.save(tmp_path, format="neo4j", overwrite=True)
    graph.save(tmp_path, format="neo4j")
    assert not (tmp_path / "mine.txt").exists()


def test_a_write_that_fails_leaves_what_was_there(graph, tmp_path, monkeypatch):
    file = tmp_path / "graph.gexf"
    file.write_text("before")
    monkeypatch.setattr(nx, "write_gexf", lambda graph, out, **how: out.write(b"half") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        graph.save(file)
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("graph.txt", r"graph\.txt: its suffix .* with format: graphml, gexf, json, neo4j"),
        ("graph", "its suffix is of no graph format"),
        ("missing/graph.json", "No such file"),
    ],
)
def test_a_target_that_cannot_be_written(graph, tmp_path, file, message):
    with pytest.raises(CobalanceError, match=message):
        graph.save(tmp_path / file)
    with pytest.raises(CobalanceError, match="unknown graph format 'dot'"):
        graph.save(tmp_path / file, format="dot")


def test_a_character_that_xml_refuses(tmp_path):
    frame = pd.DataFrame({"label": ["a"], "tags": [["x\uffff"]]})
    graph = cb.concept_graph(cb.read(frame))
    with pytest.raises(CobalanceError, match="XML"):
        graph.save(tmp_path / "graph.graphml")
    graph.save(tmp_path / "graph.json")
    assert "x\uffff" in READERS["json"](tmp_path / "graph.json")


def test_without_networkx(graph, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[graphs\]'"):
        graph.save(tmp_path / "graph.json")
    assert graph.save(tmp_path / "folder", format="neo4j")


def test_a_graph_without_edges(tmp_path):
    frame = pd.DataFrame({"label": ["a", "b"], "tags": [["x"], []]})
    graph = cb.concept_graph(cb.read(frame)).with_centrality()
    for kind, reader in READERS.items():
        graph.save(tmp_path / f"graph.{kind}")
        assert len(reader(tmp_path / f"graph.{kind}")) == 3
    assert graph.save(tmp_path / "folder", format="neo4j")
    assert files.FORMATS[-1] == "neo4j"


def test_columns_of_frames(graph):
    one = graph.with_lean()
    assert (
        one.nodes["concept"].tolist() == one.with_lean().with_centrality().nodes["concept"].tolist()
    )
    assert {*NUMBERS, *MEASURES} <= set(one.nodes.columns)
    vertex = graph.to_igraph().vs.find("cow")
    assert vertex["strength"] == sum(
        counts.total() for pair, counts in counted(2).items() if "cow" in pair
    )
    names = {frozenset(row[:2]): row[2] for row in one.edges.itertuples(index=False)}
    assert names == {frozenset(pair): counts.total() for pair, counts in counted(2).items()}
