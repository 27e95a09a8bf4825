"""The drawing without scripts: what it says of places, sizes and colours."""

import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from cobalance.graph.queries.overview import Overview
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture
from cobalance.workflows.concept_graph.overview import Axis, of_overview
from cobalance.workflows.concept_graph.svg import picture_svg


def drawn(picture):
    return ET.fromstring(picture_svg(picture, "Concepts"))


def texts(svg):
    return {"".join(one.itertext()): one for one in svg.iter("text")}


def test_ticks_stand_at_their_skews_and_the_key_has_the_sizes_of_the_circles():
    counts = {"w": (1, 3), "x": (20, 20), "y": (3, 1), "z": (0, 200)}
    classes = ("a", "b")
    overview = Overview(
        class_sizes=dict.fromkeys(classes, 200),
        pair_class_sizes=dict.fromkeys(classes, 200),
        concepts=pd.DataFrame(
            {
                "concept": [*counts],
                "images": [sum(pair) for pair in counts.values()],
                "count_a": [pair[0] for pair in counts.values()],
                "count_b": [pair[1] for pair in counts.values()],
            }
        ),
        edges=pd.DataFrame(columns=["concept_1", "concept_2", "images", "count_a", "count_b"]),
        hidden_concepts=0,
    )
    svg = drawn(of_overview(overview, Axis.between(classes, *classes)))
    named = texts(svg)
    place = {name: float(named[name].get("x")) for name in ("w", "x", "y", "z", "equal rates")}
    assert place["equal rates"] == place["x"]
    ticks = [one for one in svg.iter("text") if one.text == "3 times the rate"]
    assert [float(one.get("x")) for one in ticks] == [place["y"], place["w"]]
    assert all(float(one.get("y")) > float(named["x"].get("y")) for one in ticks)
    key = [one for one in svg.iter("circle") if one.get("fill") == "none"]
    (largest,) = [one for one in svg.iter("circle") if float(one.get("cx")) == place["z"]]
    assert key[0].get("r") == largest.get("r")
    assert float(key[1].get("r")) == pytest.approx(float(largest.get("r")) / 2, abs=0.1)
    assert {"200 images", "50"} <= {*named}
    left, top, width, height = map(float, svg.get("viewBox").split())
    for one in svg.iter("text"):
        assert left < float(one.get("x")) < left + width
        assert top < float(one.get("y")) < top + height


def test_names_cover_neither_discs_nor_each_other_where_there_is_room():
    """In a column the names go beside their discs, as far as the drawing reaches."""
    column = [GraphNode(f"{i}", f"concept {i}", "concept", 100, 30 * i, 26) for i in range(9)]
    wide = GraphNode("wide", "x" * 24, "concept", 100, 330, 20)
    svg = drawn(GraphPicture([*column, wide], [], "#000", "#fff"))
    discs = [[float(one.get(at)) for at in ("cx", "cy", "r")] for one in svg.iter("circle")]
    spans = []
    for one in svg.iter("text"):
        x, y, width = float(one.get("x")), float(one.get("y")), 6 * len(one.text)
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[one.get("text-anchor")]
        spans.append((left, left + width, y))
    for place, (left, right, y) in enumerate(spans):
        for cx, cy, r in discs:
            assert not (left < cx + r and cx - r < right and y - 10 < cy + r and cy - r < y)
        for other in spans[:place]:
            assert not (left < other[1] and other[0] < right and abs(y - other[2]) < 10)


def test_a_colour_of_its_own_goes_before_that_of_the_skew():
    nodes = [
        GraphNode("a", "a", "class", 0, 0, 20, color="#abcdef"),
        GraphNode("b", "b", "concept", 90, 0, 20, skew=1),
    ]
    svg = drawn(GraphPicture(nodes, [GraphEdge("a", "b", 2, color="#123456")], "#000", "#fff"))
    (box,), (disc,), (line,) = (list(svg.iter(tag)) for tag in ("rect", "circle", "path"))
    assert (box.get("stroke"), line.get("stroke")) == ("#abcdef", "#123456")
    assert disc.get("fill") == "#ffffff"
