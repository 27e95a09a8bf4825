"""Around one node: neighbours as the records have them, and links as networkx finds them."""

import io
from collections import Counter
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.queries.concept_counts import class_counts
from cobalance.graph.queries.neighbourhood import (
    Link,
    read_neighbourhood,
    shortest_link,
    to_graphml,
)
from cobalance.statistics.imbalance import COUNT


def records_of(*images):
    return Annotations.from_records(
        ImageRecord(str(i), label, tuple(map(Mention, concepts)))
        for i, (label, *concepts) in enumerate(images)
    )


def weights(annotations):
    """Images of each class that show each two concepts, and each concept."""
    pairs, singles = {}, {}
    for record in annotations.records():
        names = sorted({mention.concept for mention in record.mentions})
        for pair in combinations(names, 2):
            pairs.setdefault(pair, Counter())[record.class_name] += 1
        for name in names:
            singles.setdefault(name, Counter())[record.class_name] += 1
    return pairs, singles


def edges_of(neighbourhood, kind="concept"):
    edges = neighbourhood.edges
    return {
        (row["source"], row["target"]): row
        for row in edges[edges["source_kind"] == kind].to_dict("records")
    }


def strongest(pairs, name, limit):
    own = {pair: found.total() for pair, found in pairs.items() if name in pair}
    other = {pair: pair[pair[0] == name] for pair in own}
    return sorted(own, key=lambda pair: (-own[pair], other[pair]))[:limit]


def test_neighbours_are_the_strongest_with_their_counts(store, load, random_annotations):
    annotations = random_annotations(300, n_concepts=12)
    dataset = load(annotations, MiningOptions(max_size=2))
    pairs, singles = weights(annotations)
    for centre in ("concept 0", "}) DETACH DELETE n //"):
        found = read_neighbourhood(store, dataset, centre, limit=6)
        edges = edges_of(found)
        assert set(edges) == set(strongest(pairs, centre, 6))
        for pair, row in edges.items():
            assert {y: row[COUNT + y] for y in found.class_sizes} == {
                y: pairs[pair][y] for y in found.class_sizes
            }
            expected = pairs[pair].total() * 300 / np.prod([singles[c].total() for c in pair])
            assert row["lift"] == pytest.approx(expected)
        nodes = found.nodes
        assert nodes["name"][0] == centre
        assert set(nodes["name"]) == {name for pair in edges for name in pair}
        for row in nodes.to_dict("records"):
            assert row["images"] == singles[row["name"]].total()
            assert row["images"] == sum(row[COUNT + y] for y in found.class_sizes)
        total = sum(centre in pair for pair in pairs)
        assert nodes["hidden"].tolist() == [total - 6] + [0] * 6
        assert nodes["expanded"].tolist() == [True] + [False] * 6


def test_expanding_and_collapsing(store, load):
    dataset = load(
        records_of(
            ("a", "centre", "near"),
            ("b", "near", "far"),
            ("a", "near", "far"),
            ("b", "far", "farther"),
            ("a", "other", "farther"),
        )
    )
    alone = read_neighbourhood(store, dataset, "centre")
    assert set(alone.nodes["name"]) == {"centre", "near"}
    near = read_neighbourhood(store, dataset, "centre", expanded=["near"])
    assert set(near.nodes["name"]) == {"centre", "near", "far"}
    assert set(edges_of(near)) == {("centre", "near"), ("far", "near")}
    for order in (["near", "far"], ["far", "near"], ["far", "near", "far"]):
        both = read_neighbourhood(store, dataset, "centre", expanded=order)
        assert set(both.nodes["name"]) == {"centre", "near", "far", "farther"}
    collapsed = read_neighbourhood(store, dataset, "centre", expanded=["far"])
    assert set(collapsed.nodes["name"]) == {"centre", "near"}
    assert not collapsed.nodes["hidden"].any()
    capped = read_neighbourhood(store, dataset, "centre", expanded=["near"], limit=1)
    nodes = capped.nodes.set_index("name")
    assert nodes["hidden"].to_dict() == {"centre": 0, "near": 0, "far": 0}
    capped = read_neighbourhood(store, dataset, "farther", expanded=["far"], limit=1)
    assert capped.nodes.set_index("name")["hidden"].to_dict() == {"farther": 1, "far": 0, "near": 0}


def test_around_a_class_that_is_called_like_a_concept(store, load):
    dataset = load(
        records_of(
            ("bird", "bird", "sky"),
            ("bird", "bird", "sky", "tree"),
            ("bird", "sky"),
            ("cat", "tree", "bird"),
        ),
        MiningOptions(max_size=2, common=()),
    )
    found = read_neighbourhood(store, dataset, "bird", "class", limit=2)
    assert found.nodes[["kind", "name", "images", "hidden"]].to_numpy().tolist() == [
        ["class", "bird", 3, 1],
        ["concept", "bird", 3, 0],
        ["concept", "sky", 3, 0],
    ]
    assert found.nodes[[COUNT + "bird", COUNT + "cat"]].to_numpy().tolist() == [
        [3, 0],
        [2, 1],
        [3, 0],
    ]
    edges = edges_of(found, "class")
    assert {ends: row["images"] for ends, row in edges.items()} == {
        ("bird", "sky"): 3,
        ("bird", "bird"): 2,
    }
    assert edges["bird", "bird"]["lift"] == pytest.approx(2 * 4 / (3 * 3))
    assert edges["bird", "sky"][COUNT + "cat"] == 0
    wider = read_neighbourhood(store, dataset, "bird", "class", ["sky"], limit=2)
    assert set(edges_of(wider)) == {("bird", "sky"), ("sky", "tree")}
    assert ("concept", "tree") in set(zip(wider.nodes["kind"], wider.nodes["name"], strict=True))


def test_without_mining_an_edge_has_no_counts_but_its_weight(store, load, random_annotations):
    dataset = load(random_annotations(100))
    found = read_neighbourhood(store, dataset, "concept 0")
    assert len(found.edges)
    assert np.isnan(class_counts(found.edges)).all()
    assert (found.edges["images"] > 0).all()


def test_a_concept_on_its_own(store, load):
    dataset = load(records_of(("a", "x", "y"), ("b", "alone"), ("a",)))
    found = read_neighbourhood(store, dataset, "alone")
    assert found.nodes["name"].tolist() == ["alone"]
    assert len(found.edges) == 0
    assert shortest_link(store, dataset, "alone", "x") is None
    assert shortest_link(store, dataset, "x", "alone") is None
    assert shortest_link(store, dataset, "x", "x") == Link(("x",), ())


def test_the_shortest_link_is_the_strongest_of_the_shortest(store, load):
    """A sparse graph, as networkx sees it: every pair, both ways."""
    rng = np.random.default_rng(3)
    names = [f"c{i}" for i in range(16)]
    images = []
    for _ in range(22):
        i, j = rng.choice(len(names), 2, replace=False)
        images += [("ab"[len(images) % 2], names[i], names[j])] * int(rng.integers(1, 4))
    annotations = records_of(*images, *(("a", name) for name in names))
    dataset = load(annotations)
    pairs, _ = weights(annotations)
    graph = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_weighted_edges_from((*pair, found.total()) for pair, found in pairs.items())

    def rank(path):
        images = [graph.edges[edge]["weight"] for edge in pairwise(path)]
        return -min(images), -sum(images), min(path, path[::-1])

    lengths = set()
    for a, b in combinations(names, 2):
        link, back = shortest_link(store, dataset, a, b), shortest_link(store, dataset, b, a)
        if not nx.has_path(graph, a, b):
            assert link is back is None
            continue
        assert link is not None
        assert back == Link(link.concepts[::-1], link.images[::-1])
        assert (link.concepts[0], link.concepts[-1]) == (a, b)
        best = min(nx.all_shortest_paths(graph, a, b), key=rank)
        assert rank(list(link.concepts)) == rank(best)
        assert link.images == tuple(graph.edges[edge]["weight"] for edge in pairwise(link.concepts))
        lengths.add(len(link.images))
    assert {1, 2, 3} <= lengths


def test_astronomically_many_links_do_not_hang(store, load):
    """Ten layers of eight concepts: a billion equally short chains."""
    layers = [["first"], *([f"{i}-{j}" for j in range(8)] for i in range(10)), ["last"]]
    images = [
        ("a", above, below)
        for upper, lower in pairwise(layers)
        for above in upper
        for below in lower
    ]
    dataset = load(records_of(*images))
    link = shortest_link(store, dataset, "first", "last")
    assert link is not None
    assert link.images == (1,) * 11


def test_misspelt_names_are_refused(store, load, random_annotations):
    dataset = load(random_annotations(60))
    with pytest.raises(UnknownNameError, match="unknown concept 'class 0'"):
        read_neighbourhood(store, dataset, "class 0")
    with pytest.raises(UnknownNameError, match="unknown class 'concept 0'"):
        read_neighbourhood(store, dataset, "concept 0", "class")
    with pytest.raises(UnknownNameError, match="unknown concept 'x'"):
        read_neighbourhood(store, dataset, "class 0", "class", ["x"])
    with pytest.raises(UnknownNameError, match="unknown concept 'x'"):
        shortest_link(store, dataset, "concept 0", "x")


HOSTILE_IN_XML = [
    "<script>alert(1)</script>",
    "a & b \"c\" 'd' ]]>",
    "\u0634\u0627\u0631\u0639 \U0001f6e3",
    "bell \x07 null \x00 escape \x1b",
    "\ufffe \uffff",
    "long " * 60,
]


def nodes_of(names, class_name="a"):
    return pd.DataFrame(
        {
            "kind": ["class", *["concept"] * (len(names) - 1)],
            "name": names,
            "images": np.arange(len(names)),
            "expanded": True,
            "count_" + class_name: np.arange(len(names)),
        }
    )


def test_hostile_names_come_back():
    for class_name in HOSTILE_IN_XML:
        names = [HOSTILE_IN_XML[0], *HOSTILE_IN_XML]
        nodes = nodes_of(names, class_name)
        edges = pd.DataFrame(
            {
                "source_kind": ["class", "concept"],
                "source": [HOSTILE_IN_XML[0], HOSTILE_IN_XML[1]],
                "target": [HOSTILE_IN_XML[0], HOSTILE_IN_XML[2]],
                "images": [7, 8],
                "lift": [1.5, np.nan],
                "count_" + class_name: [np.nan, 2.0],
            }
        )
        content = to_graphml(nodes, edges)
        assert ET.fromstring(content) is not None
        graph = nx.read_graphml(io.BytesIO(content))
        labels = [values["label"] for _, values in graph.nodes(data=True)]
        assert labels[:4] == [HOSTILE_IN_XML[0], *HOSTILE_IN_XML[:3]]
        assert labels[4] == "bell \ufffd null \ufffd escape \ufffd"
        assert labels[5] == "\ufffd \ufffd"
        assert [values["kind"] for _, values in graph.nodes(data=True)][:2] == ["class", "concept"]
        assert graph.edges["n0", "n1"] == {"images": 7, "lift": 1.5}
        assert sorted(map(str, graph.edges["n2", "n3"].values())) == ["2.0", "8"]
        assert all("expanded" not in values for _, values in graph.nodes(data=True))


@given(st.lists(st.text(max_size=20), min_size=1, max_size=5, unique=True))
def test_any_names_are_xml(names):
    graph = nx.read_graphml(io.BytesIO(to_graphml(nodes_of(names), pd.DataFrame())))
    assert len(graph) == len(names)
