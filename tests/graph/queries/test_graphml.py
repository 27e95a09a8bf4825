"""What leaves as GraphML or CSV can be read again, whatever the names hold."""

import io
from xml.etree import ElementTree as ET

import networkx as nx
import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from graph.queries.neighbourhood import to_graphml

HOSTILE = [
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
    for class_name in HOSTILE:
        names = [HOSTILE[0], *HOSTILE]
        nodes = nodes_of(names, class_name)
        edges = pd.DataFrame(
            {
                "source_kind": ["class", "concept"],
                "source": [HOSTILE[0], HOSTILE[1]],
                "target": [HOSTILE[0], HOSTILE[2]],
                "images": [7, 8],
                "lift": [1.5, np.nan],
                "count_" + class_name: [np.nan, 2.0],
            }
        )
        content = to_graphml(nodes, edges)
        assert ET.fromstring(content) is not None
        graph = nx.read_graphml(io.BytesIO(content))
        labels = [values["label"] for _, values in graph.nodes(data=True)]
        assert labels[:4] == [HOSTILE[0], *HOSTILE[:3]]
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
