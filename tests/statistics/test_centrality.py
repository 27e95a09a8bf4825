"""Centrality against networkx, with exact distances."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.statistics.centrality import centrality


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 7))
    pairs = [(one, other) for one in range(n) for other in range(one + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return n, {pair: draw(st.integers(1, 6)) for pair in chosen}


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_measures_are_those_of_networkx(graph):
    n, images = graph
    found = centrality(list(images), list(images.values()), n)
    twin = nx.Graph()
    twin.add_nodes_from(range(n))
    for (one, other), count in images.items():
        twin.add_edge(one, other, images=count, distance=Fraction(1, count))
    assert found["degree"].tolist() == [degree for _, degree in twin.degree()]
    assert found["strength"].tolist() == [sum_ for _, sum_ in twin.degree(weight="images")]
    between = nx.betweenness_centrality(twin, weight="distance")
    assert found["betweenness"].to_numpy() == pytest.approx([between[code] for code in range(n)])
    rank = nx.pagerank(twin, weight="images", tol=1e-12, max_iter=1000) if n else {}
    assert found["pagerank"].to_numpy() == pytest.approx([rank[code] for code in range(n)])
    for parts in nx.connected_components(twin):
        labels = set(found["community"][sorted(parts)])
        others = (
            set(found["community"])
            if len(parts) == n
            else set(found["community"].drop(sorted(parts)))
        )
        assert len(parts) == n or not labels & others


def test_two_cliques_with_a_bridge_are_two_communities():
    twin = nx.barbell_graph(4, 0)
    found = centrality(list(twin.edges), [5] * twin.number_of_edges(), len(twin))
    assert found["community"].nunique() == 2
    assert found["community"][:4].nunique() == 1
    assert found["betweenness"].nlargest(2).index.tolist() == [3, 4]
    again = centrality(list(twin.edges), [5] * twin.number_of_edges(), len(twin))
    assert np.array_equal(found, again)
