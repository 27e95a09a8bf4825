"""The Neighbourhood page: expand and collapse, the shortest link, the same as a table."""

import json
from itertools import pairwise

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.page.neighbourhood import rings
from cobalance.app.web.page.neighbourhood.page import read_chain, with_chain
from cobalance.app.web.page.neighbourhood.rings import links_table, picture_of
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.queries.neighbourhood import read_neighbourhood
from cobalance.workflows.concept_graph.colors import CLASS_COLORS
from cobalance.workflows.concept_graph.overview import ALL_OTHERS, Axis, node_id
from tests.app.conftest import OpenPage, WriteDataset, shown_text

BETWEEN = Axis.between(["country", "urban"], "country", "urban")


def table(app: AppTest) -> list[tuple[str, str, int]]:
    """The links: from, with, images."""
    shown = app.dataframe[-1].value
    return list(zip(shown["from"], shown["with"], shown["images"], strict=True))


def test_the_most_frequent_concept_comes_first(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", view="Around", dataset=cars)
    assert not app.exception
    assert app.selectbox(key="near_concept").value == "cow"
    assert table(app) == [("cow", "field", 7), ("cow", "road", 3)]


def test_a_link_expands_and_an_x_collapses(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "diagnose", view="Around", dataset=cars, near_concept="alley", near_expanded=["sign"]
    )
    assert table(app) == [("sign", "road", 6), ("alley", "sign", 4)]
    app.multiselect(key="near_expanded").set_value([]).run()
    assert table(app) == [("alley", "sign", 4)]


def test_a_double_click_expands_and_another_collapses(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", view="Around", dataset=cars, near_concept="alley")
    for expanded in (["sign"], []):
        app.session_state["_near_toggled"] = "sign"  # what the graph leaves for the next run
        app.run()
        assert app.multiselect(key="near_expanded").value == expanded


def test_another_centre_starts_collapsed(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "diagnose", view="Around", dataset=cars, near_concept="alley", near_expanded=["sign"]
    )
    app.selectbox(key="near_concept").select("cow").run()
    assert app.multiselect(key="near_expanded").value == []


def test_what_is_beyond_the_cap_is_said(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", view="Around", dataset=cars, near_concept="road", near_most="1")
    assert table(app) == [("road", "sign", 6)]
    assert "**road**: 1 more not shown" in shown_text(app)


def test_one_that_is_not_shown_cannot_be_expanded(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "diagnose", view="Around", dataset=cars, near_concept="alley", near_expanded=["field"]
    )
    assert "not next to what is shown: **field**" in shown_text(app)


def test_a_class_and_its_concepts(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", view="Around", dataset=cars, near_kind="Class", near_class="urban")
    assert not app.exception
    shown = app.dataframe[-1].value
    assert table(app)[0] == ("urban", "sign", 9)
    assert shown["rate 0"].tolist()[0] == 10  # 1 of the 10 images of country, 9 of urban
    assert shown["rate 1"].tolist()[0] == 90
    assert shown["lean"].tolist()[0] == pytest.approx(0.8)


def test_the_shortest_link_is_a_sentence_and_in_the_table(open_page: OpenPage, cars: str) -> None:
    app = open_page("diagnose", view="Around", dataset=cars, near_concept="alley", near_to="field")
    assert not app.exception
    told = "**alley** – **sign** – **road** – **cow** – **field**: 4 images show the first two"
    assert told in shown_text(app)
    assert "and 7 images the last two." in shown_text(app)
    assert ("cow", "field", 7) in table(app)


def test_where_no_link_leads(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("w", "x"), 2), ("b", ("y", "z"), 1)])
    app = open_page("diagnose", view="Around", dataset=dataset, near_concept="w", near_to="z")
    assert not app.exception
    assert "No chain of shared images leads from **w** to **z**" in shown_text(app)


def test_without_mining_links_have_no_counts_by_class(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("w", "x"), 2), ("b", ("x",), 1)], mine=False)
    app = open_page("diagnose", view="Around", dataset=dataset)
    assert not app.exception
    assert table(app) == [("x", "w", 2)]
    assert app.dataframe[-1].value["rate 0"].isna().all()
    assert "not mined" in shown_text(app)


def test_many_classes_have_an_axis_to_choose(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    groups = [(f"class {i}", ("x", "y"), i + 1) for i in range(6)]
    write_dataset(dataset, [*groups, *((f"class {i}", ("x",), 9 - i) for i in range(6))])
    app = open_page("diagnose", view="Around", dataset=dataset, left="class 1", right="class 3")
    assert not app.exception
    assert app.selectbox(key="right").options[0] == ALL_OTHERS
    table = app.dataframe[-1]
    columns = json.loads(table.proto.columns)
    for i, color in enumerate(CLASS_COLORS[:6]):
        # A share of the class's 10 images, as a bar in the class's colour under its name.
        assert table.value[f"rate {i}"].tolist() == [10 * (i + 1)]
        assert columns[f"rate {i}"]["label"] == f"% of class {i}"
        drawn = columns[f"rate {i}"]["type_config"]
        assert (drawn["type"], drawn["color"], drawn["max_value"]) == ("progress", color, 60)


def test_without_concepts_it_says_what_to_do(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", (), 2), ("b", (), 1)], mine=False)
    app = open_page("diagnose", view="Around", dataset=dataset)
    assert not app.exception
    assert "No concepts" in shown_text(app)


def test_names_may_be_anything(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    hostile = [
        "<b>`x`",
        "**y**",
        "c:z",
        ("long " * 60).strip(),
        "a",
        '"; MATCH (n) DETACH DELETE n //',
    ]
    rows = [("a", (one, other), 2 + i) for i, (one, other) in enumerate(pairwise(hostile))]
    write_dataset(dataset, [*rows, ("$b$", tuple(hostile), 1)])
    for name in hostile:
        app = open_page(
            "diagnose",
            view="Around",
            dataset=dataset,
            near_concept=name,
            near_expanded=["c:z"],
            near_to="a" if name != "a" else "c:z",
        )
        assert not app.exception
        assert app.selectbox(key="near_concept").value == name


def test_the_picture_has_the_left_class_on_the_left(store: GraphStore, cars: str) -> None:
    found = read_neighbourhood(store, cars, "urban", "class")
    drawn = picture_of(found, BETWEEN)
    nodes = {node.id: node for node in drawn.nodes}
    assert nodes[node_id("urban", "class")].skew == 1
    assert nodes[node_id("cow")].x_px < nodes[node_id("sign")].x_px
    assert nodes[node_id("cow")].skew < 0 < nodes[node_id("sign")].skew
    assert {edge.skew > 0 for edge in drawn.edges if edge.target == node_id("sign")} == {True}


def test_nothing_moves_when_a_concept_is_expanded(
    store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    """Nor when a more frequent one comes with it, beside which all discs are smaller."""
    rows = [(name, ("hub", f"c{i}"), i + 2) for i in range(6) for name in ("a", "b")]
    rows += [("a", ("c1", f"d{i}"), 1) for i in range(9)] + [("b", ("c1", "often"), 90)]
    rows += [("b", ("d3", f"e{i}"), 1) for i in range(5)]
    write_dataset(dataset, rows)
    axis = Axis.between(["a", "b"], "a", "b")
    places: dict[str, tuple[float, float]] = {}
    for expanded in ([], ["c1"], ["c1", "d3"]):
        found = read_neighbourhood(store, dataset, "hub", expanded=expanded)
        drawn = picture_of(found, axis, expanded)
        now = {node.id: (node.x_px, node.y_px) for node in drawn.nodes}
        assert len(now) > len(places)
        assert {id_: now[id_] for id_ in places} == places
        places = now


def test_a_picture_is_cut_and_the_table_is_not(
    store: GraphStore, dataset: str, write_dataset: WriteDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rings, "MOST_NODES", 5)
    write_dataset(dataset, [(c, ("hub", f"c{i}"), i + 1) for i in range(9) for c in ("a", "b")])
    found = read_neighbourhood(store, dataset, "hub")
    drawn = picture_of(found, Axis.between(["a", "b"], "a", "b"))
    assert len(drawn.nodes) == 5
    assert len(drawn.edges) == 4
    assert len(links_table("concept", "hub", (), found, BETWEEN)) == 9


def test_a_chain_brings_what_is_missing(store: GraphStore, cars: str) -> None:
    found = read_neighbourhood(store, cars, "alley")
    more = with_chain(found, *read_chain(store, cars, ("alley", "sign", "road")))
    assert more.nodes["name"].tolist() == ["alley", "sign", "road"]
    assert more.edges["images"].tolist() == [4, 6]
    assert more.edges["lift"].isna().tolist() == [False, True]


def test_counts_of_a_mined_split_are_compared_with_that_split(store: GraphStore, cars: str) -> None:
    mine_dataset(store, cars, MiningOptions(max_size=1), max_cliques=100)
    found = read_neighbourhood(store, cars, "cow")
    assert np.isnan(links_table("concept", "cow", (), found, BETWEEN)["lean"]).all()


def test_a_node_and_an_edge_lead_to_details(open_page: OpenPage, cars: str) -> None:
    for nodes, clique in (
        (["c:field"], '["cow","field"]'),  # with the centre
        (["c:cow", "c:field"], '["cow","field"]'),
    ):
        app = open_page(
            "diagnose", view="Around", dataset=cars, near_concept="cow", near_selected=nodes
        )
        app = app.button(key="_near_details").click().run()
        assert not app.exception
        assert app.query_params["images"] in (clique, [clique])
        assert "images" in shown_text(app)
    alone = open_page(
        "diagnose", view="Around", dataset=cars, near_concept="cow", near_selected=["c:cow"]
    )
    assert "_near_details" not in [one.key for one in alone.button]
