"""`cobalance datasets export-graph`, and centrality in the listing of concepts."""

import json
import shlex

import networkx as nx
import pandas as pd

ROWS = """id,class,concepts,split
1,country,cow|road,train
2,country,cow,test
3,urban,road,train
4,urban,cow|road,train
5,urban,sign|road,train
"""


def test_the_graph_in_files_and_its_measures_in_the_listing(run, store, dataset, tmp_path):
    (tmp_path / "cars.csv").write_text(ROWS)
    run("ingest", tmp_path / "cars.csv", "--dataset", dataset)
    run("mine", dataset, "--any-class")
    file = tmp_path / "graph.graphml"
    done = run("datasets", "export-graph", dataset, file, "--centrality", "--cliques")
    assert done.stderr == (f"{file}: 3 concepts, 2 classes, 2 pairs of concepts, 5 cliques.\n")
    graph = nx.read_graphml(file)
    assert graph["cow"]["road"] | {"lift": 0, "log_odds_ratio": 0} == {
        "images": 2,
        "count_country": 1,
        "count_urban": 1,
        "gap": 0,
        "effect": 1 / 6,
        "highest_rate": "country",
        "lowest_rate": "urban",
        "lift": 0,
        "log_odds_ratio": 0,
    }
    done = run("datasets", "show", dataset, "--centrality", "--format", "json")
    listed = pd.DataFrame(json.loads(done.stdout)).set_index("concept")
    assert listed["degree"].to_dict() == {"cow": 1, "road": 2, "sign": 1}
    assert listed["betweenness"].to_dict() == {"cow": 0, "road": 1, "sign": 0}
    assert listed["pagerank"].to_dict() == {
        name: graph.nodes[name]["pagerank"] for name in ("cow", "road", "sign")
    }

    run("datasets", "export-graph", dataset, tmp_path / "test.json", "--split", "test")
    part = nx.node_link_graph(json.loads((tmp_path / "test.json").read_bytes()), edges="edges")
    assert set(part) == {"cow", "class:country"}
    done = run("datasets", "export-graph", dataset, tmp_path / "folder", "--as", "neo4j")
    assert shlex.split(done.stdout)[:4] == ["neo4j-admin", "database", "import", "full"]
    for arguments, message, code in (
        ((dataset, tmp_path / "graph.txt"), "choose a format with --as", 2),
        ((dataset, tmp_path / "graph.json", "--split", "val"), "unknown split 'val'", 2),
        (("no such", tmp_path / "graph.json"), "no such", 1),
    ):
        assert message in run("datasets", "export-graph", *arguments, exit_code=code).stderr
