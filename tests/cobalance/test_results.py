"""Diagnosis and plans without a database, and how results look."""

import sys
from html.parser import HTMLParser
from types import ModuleType

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import cobalance as cb
from graph.counting.cliques import mine_cliques
from graph.diagnosis.imbalance import imbalance_table
from graph.errors import InputError, MissingExtraError, OptionError, UnknownNameError
from graph.options import Options
from graph.plugins import Plugin, Plugins
from tests.conftest import HOSTILE


@pytest.fixture(scope="module")
def found() -> cb.Imbalances:
    return cb.imbalances(cb.urbancars(), max_size=2)


def test_the_frame_is_the_imbalance_table_largest_gap_first(found):
    cliques = mine_cliques(cb.urbancars().incidence(), max_size=2)
    table = imbalance_table(cliques).sort_values("gap", ascending=False, kind="stable")
    pd.testing.assert_frame_equal(found.frame, table.reset_index(drop=True))
    assert found.to_frame() is not found.frame
    assert found.title() == (
        "89 concept combinations, 86 imbalanced; images: country 4,000, urban 4,000"
    )


def test_rows_are_filtered_sorted_and_cut(found):
    cows = found.where(concepts="cow", min_size=2, under_represented="urban")
    assert all("cow" in concepts and len(concepts) == 2 for concepts in cows.frame["concepts"])
    assert set(cows.frame["under_represented"]) == {"urban"}
    assert len(found.where(max_q_value=0.05, max_size=1)) == 17
    by_lift = found.sort("lift", ascending=True).top(5)
    assert by_lift.frame["lift"].is_monotonic_increasing
    assert len(by_lift) == 5
    # The statistics stay those over all cliques.
    assert cows.frame["q_value"].isin(found.frame["q_value"]).all()
    for wrong in ({"concepts": "caw"}, {"under_represented": "rural"}, {"min_gap": -1}):
        with pytest.raises(OptionError):
            found.where(**wrong)
    with pytest.raises(UnknownNameError, match="unknown column 'gab'"):
        found.sort("gab")


def test_options_of_mining_are_passed_on():
    frame = pd.DataFrame(
        {
            "label": ["x", "x", "y", "y"],
            "tags": ["cow|road", "cow|road", "road", "road"],
            "split": ["a", "b", "a", "b"],
        }
    )
    data = cb.from_frame(frame)
    assert cb.imbalances(data).frame["concepts"].tolist() == [("road",)]
    assert len(cb.imbalances(data, common=())) == 3
    assert cb.imbalances(data, split="a").cliques.class_sizes.tolist() == [1, 1]
    assert len(cb.imbalances(data, min_support=3)) == 0
    with pytest.raises(OptionError, match="max_size"):
        cb.imbalances(data, max_size=0)


def test_a_plan_closes_every_gap_and_says_what_it_changes(found):
    plan = cb.plan(found, min_size=1)
    assert (plan.images, len(plan)) == (7308, 76)
    assert plan.frame["n"].sum() == 7308
    assert plan.summary["total_gap_after"].tolist() == [0, 0]
    after = plan.simulate()
    assert after.frame["gap_after"].max() == 0
    assert after.imbalances.frame["gap"].max() == 0
    assert after.title() == "Sum of gaps: 21,574 → 0; 86 combinations change"
    assert cb.plan(cb.urbancars(), max_size=2, planner="published").images == 7238
    assert cb.plan(found, budget=100).images == 100
    with pytest.raises(OptionError, match="share"):
        cb.plan(found, planner_options={"share": 0.5})


def test_a_planner_s_own_options_reach_it_and_are_kept(found, monkeypatch):
    class Own(Options):
        images: int = 1

    few = ModuleType("few")
    few.PLUGIN = Plugin("few", "As many images of every clique.", options=Own)
    few.open_planner = lambda own: lambda cliques, _: np.full_like(cliques.counts, own.images)
    monkeypatch.setitem(sys.modules, "few", few)
    monkeypatch.setattr("generation.planners.PLANNERS", Plugins("planner", {"few": "few"}))
    plan = cb.plan(found, "few", planner_options={"images": 2})
    assert set(plan.frame["n"]) == {2}
    assert plan.record.planner_options == {"images": 2}
    assert set(cb.plan(found, "few").frame["n"]) == {1}


def test_a_plan_for_some_asks_for_nothing_else(found):
    plan = cb.plan(found.where(concepts="cow"))
    assert all("cow" in concepts for concepts in plan.frame["concepts"])
    whole = cb.plan(found)
    assert plan.images < whole.images
    assert plan.cliques is whole.cliques


def test_a_plan_is_edited_in_pandas_saved_and_read(found, tmp_path):
    plan = cb.plan(found)
    frame = plan.to_frame()
    frame.loc[0, "n"] = 0
    edited = plan.edited(frame)
    assert edited.images == plan.images - plan.frame.loc[0, "n"]
    assert len(edited) == len(plan) - 1
    edited.save(tmp_path / "plan.json")
    again = cb.read_plan(tmp_path / "plan.json", found)
    assert again.record == edited.record
    assert again.summary.equals(edited.summary)
    frame.loc[1, "class"] = "rural"
    with pytest.raises(UnknownNameError, match="rural"):
        plan.edited(frame)
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(InputError):
        cb.read_plan(tmp_path / "plan.json", found)


def test_two_diagnoses_are_compared(found):
    after = cb.plan(found, min_size=1).simulate().imbalances
    change = cb.compare(found, after)
    assert change.title() == "Sum of gaps: 21,574 → 0; 86 imbalances solved, 0 introduced"
    assert set(change.frame["status"]) == {"solved"}
    assert change.notes == ()
    assert "<table" in change._repr_html_()
    other = cb.from_frame(pd.DataFrame({"label": ["x", "y"], "tags": ["cow", "cow"]}))
    with pytest.raises(OptionError, match="different classes"):
        cb.compare(found, cb.imbalances(other))


def test_planners_side_by_side(found):
    frame = cb.compare_planners(found, min_size=1)
    assert frame.loc["conbias", ["images", "gap_after"]].tolist() == [7308, 0]
    assert cb.compare_planners(found, ["published"]).index.tolist() == ["published"]
    with pytest.raises(UnknownNameError, match="unknown planner"):
        cb.compare_planners(found, ["conbais"])
    with pytest.raises(OptionError, match="planner conbias has no option 'order'"):
        cb.compare_planners(found, planner_options={"conbias": {"order": 1}})


def test_weights_balance_the_classes_of_each_group():
    frame = pd.DataFrame({"label": ["x", "x", "x", "y"], "tags": ["b|a", "a|b", "a", "a"]})
    data = cb.from_frame(frame)
    found = cb.weights(data)
    assert found.index.tolist() == ["0", "1", "2", "3"]
    assert found["group"].tolist() == [("a", "b"), ("a", "b"), ("a",), ("a",)]
    assert found["weight"].tolist() == [1.0, 1.0, 1.0, 1.0]
    of_a = cb.weights(data, ["a"])
    assert of_a["weight"].tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])
    with pytest.raises(UnknownNameError, match="unknown concept 'c'"):
        cb.weights(data, ["c"])


def test_the_concept_graph_for_both_libraries():
    frame = pd.DataFrame({"label": ["x", "x", "y"], "tags": ["cow|road", "cow|road|x", "cow"]})
    graph = cb.concept_graph(cb.from_frame(frame))
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
    with pytest.raises(MissingExtraError, match=r"cobalance\[graphs\]"):
        getattr(graph, method)()


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def everything(data: cb.Data) -> list[object]:
    found = cb.imbalances(data, common=())
    plan = cb.plan(found, min_size=1)
    return [data, found, found.top(0), plan, plan.simulate(), cb.concept_graph(data)]


def test_hostile_names_are_text():
    frame = pd.DataFrame(
        {"label": ["<b>x</b>", "y & z", "<b>x</b>"], "tags": [list(HOSTILE), ["<i>"], ["<i>"]]}
    )
    for result in everything(cb.from_frame(frame)):
        page = Page(result._repr_html_())
        assert page.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
        assert page.attributes <= {"style"}
        assert "<script" not in result._repr_html_()
    page = Page(cb.from_frame(frame)._repr_html_())
    assert "<script>alert(1)</script>" in page.text
    assert "<b>x</b>" in page.text


def test_nothing_is_loaded_from_elsewhere_and_colours_are_the_page_s():
    for result in everything(cb.urbancars()):
        html = result._repr_html_()
        assert "://" not in html
        assert "url(" not in html
        assert "color:inherit" in html
        assert result.title() in Page(html).text
        assert repr(result).startswith(result.title())


def test_a_result_of_nothing_is_shown_too():
    frame = pd.DataFrame({"label": ["x", "y"], "tags": ["cow", "road"]})
    data = cb.from_frame(frame)
    found = cb.imbalances(data)
    assert repr(found) == found.title()
    plan = cb.plan(found)
    assert plan.title() == "0 images to make (none) in 0 queries"
    assert "<table" in found._repr_html_() or found.title() in found._repr_html_()
    assert np.isnan(cb.imbalances(data, common=()).frame["log_odds_ratio"]).sum() == 0
