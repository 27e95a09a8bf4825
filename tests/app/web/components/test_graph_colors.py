"""Colours of a concept graph by community: of a picture by hand, and on Diagnose."""

from cobalance.app.web.components.graph_colors import COMMUNITY_COLORS, color_by_community
from cobalance.workflows.concept_graph.colors import NEUTRAL
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture
from cobalance.workflows.concept_graph.overview import node_id
from cobalance.workflows.diagnose.facets import Facet
from tests.app.conftest import OpenPage, WriteDataset, shown_text


def test_a_link_has_the_colour_of_its_ends_where_they_share_one() -> None:
    cow, barn, bus, alone = map(node_id, ("cow", "barn", "bus", "alone"))
    names = ("cow", "barn", "bus", "alone")
    nodes = [GraphNode(node_id(name), name, "concept", 0, 0, 9, 0.5) for name in names]
    edges = [GraphEdge(cow, barn, 2), GraphEdge(cow, bus, 2), GraphEdge(bus, alone, 2)]
    facets = [
        Facet("together:cow, barn", "cow, barn", ("barn", "cow"), 1),
        Facet("together:bus, tram", "bus, tram", ("bus", "tram"), 1),
    ]
    found = color_by_community(GraphPicture(nodes, edges, "#000000", "#ffffff"), facets)
    assert [node.color for node in found.nodes] == [
        COMMUNITY_COLORS[0],
        COMMUNITY_COLORS[0],
        COMMUNITY_COLORS[1],
        NEUTRAL,
    ]
    assert [edge.color for edge in found.edges] == [COMMUNITY_COLORS[0], NEUTRAL, NEUTRAL]
    assert "Occurs with: cow, barn" in found.nodes[0].description
    assert [node.skew for node in found.nodes] == [0.5] * 4


def test_groups_of_concepts_that_occur_together_are_named_below_the_graph(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(
        dataset,
        [(name, together, 9) for name in "ab" for together in (("cow", "barn"), ("bus", "tram"))],
    )
    app = open_page("diagnose", dataset=dataset, color="Group")
    assert not app.exception
    legend = " ".join(one.proto.body for one in app.get("html"))
    assert "barn, cow" in legend
    assert "bus, tram" in legend
    whole = open_page(
        "diagnose",
        dataset=write_dataset(f"{dataset} renamed", [(name, ("cow", "barn"), 9) for name in "ab"]),
        color="Group",
    )
    assert "All concepts are one community." in shown_text(whole)
