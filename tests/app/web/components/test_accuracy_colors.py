"""Colours of a concept graph by accuracy: of a picture by hand, and on the two pages."""

import numpy as np
import pytest

from cobalance.app.web.components.graph_colors import (
    RIGHT_COLOR,
    WRONG_COLOR,
    cliques_of,
    color_by_accuracy,
)
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture
from cobalance.workflows.concept_graph.overview import node_id
from cobalance.workflows.evaluate.failures import accuracy_of_cliques
from tests.app.conftest import shown_text
from tests.app.web.page.evaluate.test_page import evaluate, output  # noqa: F401

HOSTILE = "<b> :red[x] $y$"


def picture():
    names = ("cow", "road", HOSTILE, "never")
    nodes = [
        GraphNode(node_id(name), name, "concept", i, 0, 9, 0.5) for i, name in enumerate(names)
    ]
    nodes.insert(2, GraphNode(node_id("cow", "class"), "cow", "class", 5, 5, 44, -1))
    cow, road, of_class = node_id("cow"), node_id("road"), node_id("cow", "class")
    edges = [
        GraphEdge(cow, road, 2, 0.5, "2 images"),
        GraphEdge(of_class, node_id(HOSTILE), 2, 0.5, "its own"),
    ]
    return GraphPicture(nodes, edges, "#000000", "#ffffff")


def test_colours_are_differences_from_overall_accuracy():
    drawn = picture()
    # 10 images, 6 right: 1 of 2 with cow and road, 5 of 6 with a road, all of the hostile name.
    shows = [("cow", "road")] * 2 + [("road",)] * 4 + [("cow",)] * 2 + [(HOSTILE,)] * 1 + [()]
    right = np.array([1, 0, 1, 1, 1, 1, 0, 0, 1, 0], dtype=bool)
    cliques = cliques_of(drawn)
    assert cliques == (
        *((), ("cow",), ("road",), (), (HOSTILE,), ("never",)),
        *(("cow", "road"), (HOSTILE,)),
    )
    found = color_by_accuracy(drawn, accuracy_of_cliques(right, shows, cliques))
    leaning = {node.id: node.skew for node in found.nodes}
    assert leaning == pytest.approx(
        {
            node_id("cow"): -1,  # 1 of 4: 35 points below, and the scale ends at 15
            node_id("road"): 1,  # 5 of 6
            node_id(HOSTILE): 1,
            node_id("never"): 0,
            node_id("cow", "class"): 0,
        }
    )
    assert [edge.skew for edge in found.edges] == pytest.approx([(0.5 - 0.6) / 0.15, 1])
    assert found.edges[0].description.startswith("2 images\n50.0 [9.5, 90.5]% of 2 test images")
    assert found.edges[1].description == "its own"
    labels = [node.label for node in found.nodes]
    assert labels == ["cow", "road", "cow", HOSTILE, "never (untested)"]
    assert "No test image" in found.nodes[4].description
    assert [(node.x_px, node.size_px) for node in found.nodes] == [
        (node.x_px, node.size_px) for node in drawn.nodes
    ]
    assert (found.left_color, found.right_color) == (WRONG_COLOR, RIGHT_COLOR)


def test_no_tested_image_leaves_all_grey():
    drawn = picture()
    judged = accuracy_of_cliques(np.zeros(0, dtype=bool), [], cliques_of(drawn))
    found = color_by_accuracy(drawn, judged)
    assert {one.skew for one in (*found.nodes, *found.edges)} == {0}


def test_pages_colour_by_the_model_of_the_address(open_page, store, cars, output):  # noqa: F811
    evaluate(store, output, cars, "erm", 0, wrong=5)  # of 20
    app = open_page("diagnose", dataset=cars)
    assert app.selectbox(key="color").options == ["Class", "Group"]
    model = app.selectbox(key="model").options[0]
    app = open_page("diagnose", dataset=cars, model=model, color="Accuracy")
    assert not app.exception
    assert app.selectbox(key="color").value == "Accuracy"
    legend = "".join(one.proto.body for one in app.get("html"))
    assert "Accuracy: ≤ 60%" in legend
    assert "≥ 90%" in legend
    assert "grey: 75.0%, as overall" in legend
    near = open_page("diagnose", view="Around", dataset=cars, model=model)
    assert not near.exception
    assert "grey: 75.0%, as overall" in "".join(one.proto.body for one in near.get("html"))
    assert "grey" not in shown_text(open_page("diagnose", view="Around", dataset=cars))
