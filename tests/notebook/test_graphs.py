"""The concept graph for networkx and igraph."""

import networkx as nx
import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import MissingExtraError


def test_the_concept_graph_for_both_libraries():
    frame = pd.DataFrame({"label": ["x", "x", "y"], "tags": ["cow|road", "cow|road|x", "cow"]})
    graph = cb.concept_graph(cb.read(frame))
    assert graph.edges.iloc[0].tolist() == ["cow", "road", 2]
    for classes, nodes, edges in ((False, 3, 3), (True, 5, 7)):
        one, other = graph.to_networkx(classes=classes), graph.to_igraph(classes=classes)
        assert (one.number_of_nodes(), one.number_of_edges()) == (nodes, edges)
        assert (other.vcount(), other.ecount()) == (nodes, edges)
        assert set(one) == set(other.vs["name"])
        images = {
            frozenset((other.vs[e.source]["name"], other.vs[e.target]["name"])): e["images"]
            for e in other.es
        }
        assert images == {frozenset(e[:2]): e[2]["images"] for e in one.edges(data=True)}
    assert one["class:x"]["cow"]["images"] == 2
    assert one.nodes["cow"] == {"kind": "concept", "images": 3, "count_x": 2, "count_y": 1}
    assert nx.is_connected(one)


@pytest.mark.parametrize(
    ("library", "method"), [("networkx", "to_networkx"), ("igraph", "to_igraph")]
)
def test_a_library_that_is_not_installed_is_named(monkeypatch, library, method):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    graph = cb.concept_graph(cb.urbancars())
    with pytest.raises(MissingExtraError, match=r"pip install .*\[graphs\]'"):
        getattr(graph, method)()
