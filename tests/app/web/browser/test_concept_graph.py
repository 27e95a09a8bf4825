"""The graph component without a browser: what is sent, whose selection holds, what is built."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import cobalance.app.web.browser
from cobalance.app.web.browser.browser_part import BUILD, Exchange
from cobalance.app.web.browser.concept_graph import Ids, next_exchange, payload
from cobalance.workflows.concept_graph.elements import GraphEdge, GraphNode, GraphPicture, GraphStep

FRONTEND = Path(cobalance.app.web.browser.__file__).parent / "frontend"
HOSTILE = "<img src=x onerror=alert(1)>'\"`\u202e\n שלום" + "x" * 300
BUILT = sorted(BUILD.glob("*.js"))


def node(id_: str, **changes: object) -> GraphNode:
    fields = {"label": id_, "kind": "concept", "x_px": 1.0, "y_px": 2.0, "size_px": 20.0}
    return GraphNode(id_, **{**fields, **changes})


def picture(*ids: str, edges: tuple[tuple[str, str], ...] = ()) -> GraphPicture:
    return GraphPicture(
        [node(id_) for id_ in ids], [GraphEdge(*ends, 2.0) for ends in edges], "#0072B2", "#D55E00"
    )


OUTLINES = {
    "highlighted": [["a", "b"]],
    "cliques": [["b"], ["b", "a"], ["a", "gone"]],
    "groups": [["gone", "b", "a"]],
}
NOTHING: Exchange[Ids] = Exchange(0, (), ())


def sent(
    drawn: GraphPicture | list[GraphStep],
    exchange: Exchange[Ids] = NOTHING,
    step: Exchange[Ids] = NOTHING,
) -> dict[str, object]:
    return payload(drawn, exchange, step, height_px=300, label="Links", **OUTLINES)


class TestPayload:
    def test_all_fields(self):
        drawn = GraphPicture(
            [
                node(
                    "a",
                    label="dog",
                    x_px=1.26,
                    y_px=-3,
                    size_px=18.04,
                    description="12 images",
                    color="#abc",
                ),
                node("b", kind="class", skew=-1 / 3),
            ],
            [GraphEdge("a", "b", 1.2345, 0.25, "3 images")],
            "#0072B2",
            "#D55E00",
            axis_px=(28.04, 1172),
            sizes=((20.06, "12"),),
        )
        assert sent(drawn, Exchange(4, ("a",), ("a",))) == {
            "nodes": [
                {
                    "id": "a",
                    "label": "dog",
                    "kind": "concept",
                    "x": 1.3,
                    "y": -3.0,
                    "size": 18.0,
                    "skew": 0.0,
                    "description": "12 images",
                    "color": "#abc",
                },
                {
                    "id": "b",
                    "label": "b",
                    "kind": "class",
                    "x": 1.0,
                    "y": 2.0,
                    "size": 20.0,
                    "skew": -0.333,
                    "description": "",
                    "color": None,
                },
            ],
            "edges": [
                {
                    "source": "a",
                    "target": "b",
                    "width": 1.23,
                    "skew": 0.25,
                    "description": "3 images",
                    "color": None,
                }
            ],
            "steps": [],
            "step": "",
            "step_request": 0,
            "axis": [28.0, 1172],
            "sizes": [[20.1, "12"]],
            "left_color": "#0072B2",
            "right_color": "#D55E00",
            "highlighted": [["a", "b"]],
            "cliques": [["b", "a"]],
            "groups": [["b", "a"]],
            "selected": ["a"],
            "request": 4,
            "height_px": 300,
            "label": "Links",
        }

    def test_numpy_and_hostile_names_become_json(self):
        drawn = GraphPicture(
            [
                node(HOSTILE, x_px=np.float32(1.5), size_px=np.int64(7), skew=np.float64(0.5)),
                node(np.str_("b")),
            ],
            [GraphEdge(HOSTILE, "b", np.float32(2.5))],
            "#000",
            "#fff",
        )
        text = json.dumps(sent(drawn), allow_nan=False)
        assert json.loads(text)["nodes"][0]["label"] == HOSTILE
        assert text.isascii()

    def test_a_story_is_its_first_picture_and_what_differs_at_each_step(self):
        first = picture("a", "b", edges=(("a", "b"),))
        then = GraphPicture(
            [node("a", x_px=7.04, size_px=9, skew=0.5, description="9 images"), gone("b")],
            [GraphEdge("a", "b", 4, -1, "4 images")],
            "#0072B2",
            "#D55E00",
        )
        steps = [GraphStep("now", "Now", first), GraphStep("then", HOSTILE, then)]
        data = sent(steps, step=Exchange(2, ("then",), ("then",)))
        assert (data["step"], data["step_request"]) == ("then", 2)
        assert data["nodes"] == sent(first)["nodes"]
        assert data["steps"] == [
            {
                "id": "now",
                "name": "Now",
                "nodes": [[1.0, 20.0, 0.0, "", False]] * 2,
                "edges": [[2.0, 0.0, ""]],
            },
            {
                "id": "then",
                "name": HOSTILE,
                "nodes": [[7.0, 9.0, 0.5, "9 images", False], [1.0, 20.0, 0.0, "", True]],
                "edges": [[4.0, -1.0, "4 images"]],
            },
        ]


def gone(id_: str) -> GraphNode:
    return node(id_, absent=True)


class TestPicture:
    def test_empty(self):
        assert sent(GraphPicture([], [], "#000", "#fff"))["nodes"] == []


def report(request: int, *nodes: str) -> dict[str, object]:
    return {"nodes": list(nodes), "request": request}


class TestSelection:
    known = ("a", "b", "c")

    def settle(self, before, wanted=(), said=None):
        return next_exchange(before, wanted, said, self.known)

    def test_first_run_takes_what_the_page_wants(self):
        assert self.settle(None, ("c", "a", "gone")).effective == ("a", "c")

    def test_a_person_selects(self):
        first = self.settle(None)
        assert self.settle(first, said=report(0, "b")) == Exchange(0, (), ("b",))

    def test_a_page_that_gives_back_what_it_got_asks_for_nothing(self):
        exchange = self.settle(self.settle(None), said=report(0, "b"))
        # Meanwhile the person went on, and that is not undone.
        exchange = self.settle(exchange, ("b",), report(0, "b", "c"))
        assert exchange == Exchange(0, ("b",), ("b", "c"))
        exchange = self.settle(exchange, ("c", "b"), report(0, "b", "c"))
        assert exchange == Exchange(0, ("c", "b"), ("b", "c"))

    def test_a_new_wish_of_the_page_wins_over_what_was_reported_before_it(self):
        exchange = self.settle(self.settle(None), said=report(0, "b"))
        exchange = self.settle(exchange, ("a",), report(0, "b"))
        assert exchange == Exchange(1, ("a",), ("a",))
        # The old report stays until the person does something; it is known to be old.
        exchange = self.settle(exchange, ("a",), report(0, "b"))
        assert exchange == Exchange(1, ("a",), ("a",))
        assert self.settle(exchange, ("a",), report(1, "c")).effective == ("c",)

    def test_a_page_clears(self):
        exchange = self.settle(self.settle(None, ("a",)), ("a",), report(0, "b"))
        assert self.settle(exchange, (), report(0, "b")) == Exchange(1, (), ())

    def test_the_same_wish_twice_with_another_between(self):
        exchange = self.settle(None, ("a",))
        exchange = self.settle(exchange, ("b",), report(0, "c"))
        exchange = self.settle(exchange, ("a",), report(0, "c"))
        assert exchange == Exchange(2, ("a",), ("a",))

    def test_nodes_that_left_the_picture_are_not_selected(self):
        assert self.settle(None, said=report(0, "b", "gone")).effective == ("b",)

    @pytest.mark.parametrize(
        "said",
        ["text", [], {}, {"nodes": "a", "request": 0}, {"nodes": [["a"], 3, None], "request": 0}],
    )
    def test_what_a_browser_says_is_not_trusted(self, said):
        assert self.settle(None, (), said).effective == ()


def page():
    import streamlit as st

    from cobalance.app.web.browser.concept_graph import concept_graph
    from cobalance.workflows.concept_graph.elements import GraphNode, GraphPicture

    nodes = [GraphNode(name, name, "concept", 0, 0, 20) for name in ("dog", "cat")]
    wanted = ("dog",) if st.checkbox("dog") else ()
    result = concept_graph(
        GraphPicture(nodes, [], "#000", "#fff"), key="graph", selected=wanted, height_px=200
    )
    st.text(f"{result.nodes} {result.expanded}")


def components(at):
    """What is sent for each component of a page, in its order."""

    def leaves(block):
        for child in block.children.values():
            if hasattr(child, "children"):
                yield from leaves(child)
            else:
                yield child

    return [leaf.proto for leaf in leaves(at.main) if leaf.type == "bidi_component"]


def test_in_a_page():
    """Two elements: the code, which is the same in each run, and the picture without the code."""
    at = AppTest.from_function(page).run()
    assert at.text[0].value == "() None"
    library, graph = components(at)
    assert (library.json, len(library.js_content) > 100_000) == ("", True)
    assert len(graph.js_content) < 2_000
    assert json.loads(graph.json)["nodes"][1]["label"] == "cat"
    at.checkbox[0].check().run()
    assert at.text[0].value == "('dog',) None"
    again, changed = components(at)
    assert again == library
    assert json.loads(changed.json)["request"] == 1
    assert changed.id == graph.id


class TestBuild:
    def test_it_is_that_of_the_sources(self):
        names = ["build.mjs", "package-lock.json", "package.json"]
        names += [f"src/{file.name}" for file in (FRONTEND / "src").iterdir()]
        digest = hashlib.sha256()
        for name in sorted(names):
            digest.update(f"{name}\0".encode() + (FRONTEND / name).read_bytes() + b"\0")
        assert [file.name for file in BUILT] == [
            f"{part}{half}.js"
            for part in ("concept_graph", "cypher_editor", "image_grid", "review_grid")
            for half in ("", "_mount")
        ]
        for file in BUILT:
            first = file.read_text(encoding="utf-8").split("\n", 1)[0]
            assert digest.hexdigest() in first, "Run `npm run build` in app/web/browser/frontend."

    @pytest.mark.parametrize("file", BUILT, ids=lambda file: file.name)
    def test_it_asks_no_other_host(self, file):
        text = file.read_text(encoding="utf-8")
        addresses = re.findall(r"\b(?:https?|wss?):/{1,2}[^\s\"'`)]*", text)
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # a namespace
        called = re.search(
            r"\b(?:fetch|importScripts|import|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\(",
            text,
        )
        assert called is None, called
        assert "sourceMappingURL" not in text

    def test_it_is_a_module_with_one_default_export(self):
        for file in BUILT:
            assert re.search(r"export\{[\w$]+ as default\};\s*$", file.read_text(encoding="utf-8"))

    @staticmethod
    def shipped() -> dict[str, str]:
        """The versions of the packages that the built files hold."""
        packages = json.loads((FRONTEND / "package-lock.json").read_text())["packages"]
        return {
            name.removeprefix("node_modules/"): entry["version"]
            for name, entry in packages.items()
            if name and not entry.get("dev")
        }

    def test_licences_are_there(self):
        licences = (BUILD / "LICENSES").read_text(encoding="utf-8")
        for name in (
            "Cytoscape Consortium",
            "heap",
            "lodash",
            "Engelschall",
            "Renaudeau",
            "jQuery",
            "style-mod",
        ):
            assert name in licences
        version = json.loads((FRONTEND / "package.json").read_text())["dependencies"]["cytoscape"]
        assert f"Cytoscape.js {version}" in licences
        for name, version in self.shipped().items():
            assert name == "cytoscape" or f"{name} {version}" in " ".join(licences.split()), name

    def test_packages_are_pinned_by_content_and_not_by_address(self):
        lock = json.loads((FRONTEND / "package-lock.json").read_text())
        packages = {name: entry for name, entry in lock["packages"].items() if name}
        assert all("resolved" not in entry for entry in packages.values())
        assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
        assert {name.split("/")[0] for name in self.shipped()} == {
            "@codemirror",
            "@lezer",
            "@marijn",
            "crelt",
            "cytoscape",
            "style-mod",
            "w3c-keyname",
        }
        manifest = json.loads((FRONTEND / "package.json").read_text())
        versions = [*manifest["dependencies"].values(), *manifest["devDependencies"].values()]
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
