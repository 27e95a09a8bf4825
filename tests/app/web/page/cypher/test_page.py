"""The Cypher page: saved queries as forms, queries of one's own, answers as tables and pictures."""

import io
import json

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.page.cypher import answers, pictures
from cobalance.app.web.page.cypher.result import MOST_CLIQUES
from cobalance.app.web.state import session
from cobalance.graph.console.run import ConsoleResult
from cobalance.graph.console.values import NodeValue
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.plans import write_plan
from cobalance.graph.dataset.state import list_datasets
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.workflows.cells import to_csv
from cobalance.workflows.concept_graph.colors import NEUTRAL, class_colors
from cobalance.workflows.parquet import to_parquet
from tests.app.conftest import OpenPage, WriteDataset, shown_text

PAIR = (
    "MATCH (q:Clique {dataset: $dataset})-[n:COUNTED_IN]->(y:Class) "
    "WHERE q.concepts = $concepts RETURN y.name AS class, n.images AS images ORDER BY class"
)


def answered(app: AppTest) -> AppTest:
    """The page with its answer: on a slow machine it was drawn before there was one."""
    if "_cypher_run" in app.session_state:
        app.session_state["_cypher_run"].outcome.exception(timeout=300)
        app.run()
    return app


def table(app: AppTest) -> pd.DataFrame:
    """The rows that a query returned."""
    return answered(app).dataframe[-1].value


def run(app: AppTest) -> AppTest:
    return app.button(key="_cypher_submit").click().run()


def choose(app: AppTest, name: str) -> AppTest:
    return app.selectbox(key="cypher_saved").select(name).run()


# --- Saved queries --------------------------------------------------------------------------------


def test_without_a_choice_the_saved_queries_are_listed(open_page: OpenPage, cars: str) -> None:
    app = open_page("cypher", dataset=cars)
    assert not app.exception
    assert sorted(table(app)["query"]) == sorted(CATALOGUE)


def test_saved_queries_are_found_by_their_descriptions_and_their_cypher(
    open_page: OpenPage, cars: str
) -> None:
    app = open_page("cypher", dataset=cars, cypher_search="weakest Chain")
    assert table(app)["query"].tolist() == ["shortest-link"]
    app.text_input(key="cypher_search").set_value("COUNTED_IN").run()
    assert set(table(app)["query"]) == {n for n, q in CATALOGUE.items() if "COUNTED_IN" in q.text}
    app.text_input(key="cypher_search").set_value("clique").run()
    assert table(app)["query"].iloc[0] == "clique"  # the name goes before a description
    app.text_input(key="cypher_search").set_value("a word that none has").run()
    assert "No saved query" in shown_text(app)
    assert not app.exception


def test_a_chosen_query_is_asked_at_once_with_its_defaults(open_page: OpenPage, cars: str) -> None:
    app = choose(open_page("cypher", dataset=cars), "imbalances")
    assert not app.exception
    assert app.code[0].value == CATALOGUE["imbalances"].text
    rows = table(app)
    assert rows["concepts"].iloc[0] == ["cow"]
    assert rows["counts"].iloc[0] == "country 9 · urban 1"


def test_one_that_counts_images_waits_for_run(open_page: OpenPage, cars: str) -> None:
    app = choose(open_page("cypher", dataset=cars), "edges-from-images")
    assert "Press Run" in shown_text(app)
    assert len(table(run(app))) > 0


def test_names_are_choices_and_must_be_chosen(open_page: OpenPage, cars: str) -> None:
    app = choose(open_page("cypher", dataset=cars), "imbalance-of-concepts")
    assert "Choose the clique's concepts" in shown_text(app)
    field = app.multiselect(key="cypher_concepts")
    assert field.options == ["alley", "cow", "field", "road", "sign"]
    field.set_value(["cow", "field"])
    assert table(run(app)).to_dict("list")["images"] == [6, 1]


def test_a_link_asks_again(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "cypher",
        dataset=cars,
        cypher_saved="imbalances-with-concepts",
        cypher_concepts=["cow"],
        **{"cypher_imbalances-with-concepts_limit": "1"},
    )
    assert len(table(app)) == 1
    assert "more rows than these 1" in shown_text(app)


def test_a_plan_written_meanwhile_is_a_choice(
    open_page: OpenPage, cars: str, store: GraphStore
) -> None:
    app = choose(open_page("cypher", dataset=cars), "plan-queries")
    assert app.selectbox(key="cypher_plan").options == []
    queries = [("urban", ("cow",), 7)]
    write_plan(store, cars, "mine", queries, planner="published", min_size=1, max_size=1)
    app.run()
    app.selectbox(key="cypher_plan").select("mine")
    assert table(run(app))["n"].tolist() == [7]


def test_one_about_cliques_offers_to_mine_first(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("x",), 2), ("b", ("x",), 1)], mine=False)
    app = open_page("cypher", dataset=dataset, cypher_saved="imbalances")
    assert not app.exception
    assert "Not mined yet" in shown_text(app)
    assert len(table(choose(app, "classes"))) == 2


def test_every_saved_query_has_a_form(open_page: OpenPage, cars: str, store: GraphStore) -> None:
    queries = [("urban", ("cow",), 7)]
    write_plan(store, cars, "mine", queries, planner="published", min_size=1, max_size=1)
    chosen = {"cypher_concepts": ["cow", "road"], "cypher_class": "urban"}
    chosen |= dict.fromkeys(("cypher_concept", "cypher_compared", "cypher_without"), "cow")
    app = open_page("cypher", dataset=cars, cypher_plan="mine", **chosen)
    for name in CATALOGUE:
        choose(app, name)
        for field in (*app.multiselect, *app.selectbox):
            if field.key in chosen:
                field.set_value(chosen[field.key])
            elif field.key == "cypher_plan":
                field.set_value("mine")
        answered(run(app))
        assert not app.exception, name
        assert " s" in app.markdown[1].value, name
        assert "did not work" not in shown_text(app), name


def test_names_may_be_anything(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    hostile = "}) DETACH DELETE n // <script>alert(1)</script> :red[x] $y$ `z`"
    write_dataset(dataset, [("a", (hostile, "b"), 2), ("b*c*", (hostile,), 1)])
    app = open_page("cypher", dataset=dataset, cypher_saved="clique", cypher_concepts=[hostile])
    assert not app.exception
    assert table(app)["concepts"].iloc[0] == [hostile]


# --- Queries of one's own -------------------------------------------------------------------------


def write(app: AppTest, text: str) -> AppTest:
    """Write a query as the editor, which is the browser's, leaves it in the session."""
    app.session_state["cypher_text"] = text
    return app


def own(open_page: OpenPage, cars: str, text: str, parameters: str = "", **more: str) -> AppTest:
    """Open a link to a query of one's own, and press Run."""
    given = {"cypher_text": text, "cypher_parameters": parameters, **more}
    return run(open_page("cypher", dataset=cars, cypher_ask="Your own", **given))


def test_a_link_fills_the_editor_and_a_person_runs_it(open_page: OpenPage, cars: str) -> None:
    given = {"cypher_text": "RETURN $x AS n", "cypher_parameters": '{"x": 7}', "cypher_rows": "9"}
    app = open_page("cypher", dataset=cars, cypher_ask="Your own", **given)
    assert app.session_state["cypher_text"] == "RETURN $x AS n"
    assert "_cypher_run" not in app.session_state
    assert "Press Run" in shown_text(app)
    app.run()  # nor does it when the page is drawn again
    assert "_cypher_run" not in app.session_state
    assert table(run(app))["n"].tolist() == [7]


def test_a_plan_is_a_table_with_its_steps_set_in(open_page: OpenPage, cars: str) -> None:
    product = "MATCH (y:Class {dataset: $dataset}), (c:Concept {dataset: $dataset}) RETURN y, c"
    app = own(open_page, cars, f"PROFILE {product}")
    steps = table(app)
    assert list(steps)[:4] == ["operator", "details", "estimated rows", "rows"]
    assert steps["operator"].iloc[0] == "ProduceResults"
    assert any(name.startswith("\N{NO-BREAK SPACE}" * 2) for name in steps["operator"])
    assert "cypher_view" not in {control.key for control in app.segmented_control}
    assert "_cypher_plan" not in {button.key for button in app.button}


def test_a_query_of_ones_own_with_parameters(open_page: OpenPage, cars: str) -> None:
    app = own(open_page, cars, PAIR, '{"concepts": ["cow", "field"]}')
    assert not app.exception
    assert table(app).to_dict("list") == {"class": ["country", "urban"], "images": [6, 1]}


def test_an_edited_query_is_asked_when_it_is_run(open_page: OpenPage, cars: str) -> None:
    app = own(open_page, cars, "RETURN 1 AS n")
    assert table(run(write(app, "RETURN 2 AS n")))["n"].tolist() == [2]


def test_what_writes_is_refused_with_the_reason(
    open_page: OpenPage, cars: str, store: GraphStore
) -> None:
    app = answered(own(open_page, cars, "MATCH (n) DETACH DELETE n"))
    assert not app.exception
    assert "DETACH" in shown_text(app) or "DELETE" in shown_text(app)
    assert store.read("MATCH (n:Image {dataset: $name}) RETURN count(*) AS n", name=cars)[0]["n"]


@pytest.mark.parametrize(
    ("text", "parameters", "told"),
    [
        ("MATCH (n RETURN n", "", "Invalid input"),
        ("RETURN $missing", "", "missing"),
        ("RETURN 1", "{cow}", "not JSON"),
        ("RETURN 1", "[1]", "not an object"),
    ],
)
def test_mistakes_are_messages(
    open_page: OpenPage, cars: str, text: str, parameters: str, told: str
) -> None:
    app = answered(own(open_page, cars, text, parameters))
    assert not app.exception
    assert told in shown_text(app)


def test_a_query_beyond_its_time_is_given_up(open_page: OpenPage, cars: str) -> None:
    slow = "UNWIND range(1, 20000) AS a UNWIND range(1, 20000) AS b RETURN sum(a * b) AS s"
    app = own(open_page, cars, slow, cypher_seconds="3")
    assert not app.exception
    assert app.button(key="_cypher_stop").label == "Stop waiting"
    waiting = app.session_state["_cypher_run"]
    assert waiting.outcome.exception(timeout=300) is not None
    assert "did not end within 3 s" in shown_text(app.run())


def test_more_rows_than_asked_for_are_said(open_page: OpenPage, cars: str) -> None:
    app = own(open_page, cars, "UNWIND range(1, 50) AS n RETURN n", cypher_rows="10")
    assert len(table(app)) == 10
    assert "more rows than these 10" in shown_text(app)


def test_a_long_query_is_not_in_the_link(open_page: OpenPage, cars: str) -> None:
    app = own(open_page, cars, "RETURN 1 AS n")
    assert "cypher_text" in app.query_params
    run(write(app, f"RETURN '{'x' * 2500}' AS n"))
    assert table(app)["n"].str.len().tolist() == [2500]
    assert "cypher_text" not in app.query_params
    assert "the URL" in shown_text(app)


def test_a_saved_query_can_be_edited(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "cypher", dataset=cars, cypher_saved="imbalance-of-concepts", cypher_concepts=["cow"]
    )
    app.button(key="_cypher_copy").click().run()
    assert app.session_state["cypher_text"] == CATALOGUE["imbalance-of-concepts"].text
    assert json.loads(app.text_input(key="cypher_parameters").value) == {
        "concepts": ["cow"],
        "split": None,
    }
    assert table(run(app))["images"].tolist() == [9, 1]


# --- Answers --------------------------------------------------------------------------------------


def test_nodes_and_links_are_a_picture_too(open_page: OpenPage, cars: str) -> None:
    text = "MATCH p = (:Class {dataset: $dataset})-[:CO_OCCURS]->(:Concept) RETURN p"
    app = own(open_page, cars, text)
    assert "CO_OCCURS" in table(app)["p"].iloc[0]
    app.segmented_control(key="cypher_view").set_value("Graph").run()
    assert not app.exception
    drawn = pictures.elements_in(app.session_state["_cypher_run"].outcome.result())
    assert len(drawn.nodes) == 7
    assert len(drawn.links) == 9


def test_a_node_is_inspected_and_opened_elsewhere(open_page: OpenPage, cars: str) -> None:
    text = "MATCH (c:Concept {dataset: $dataset})-[r:CO_OCCURS]-(:Concept) RETURN c, r"
    given = {"cypher_view": "Graph", "cypher_node": "Concept sign"}
    app = answered(own(open_page, cars, text, **given))
    assert not app.exception
    told, degrees = (frame.value for frame in app.dataframe[-2:])
    assert dict(told.to_numpy().tolist())["name"] == "sign"
    counted = dict(degrees.to_numpy().tolist())
    assert counted["CONTAINS"] == 10  # its images
    assert counted["HAS"] >= 1
    assert (
        "not returned"
        not in answers.as_frame(
            app.session_state["_cypher_run"].outcome.result(),
            app.session_state["_cypher_run"].names,
        ).to_csv()
    )
    app.button(key="_cypher_near").click().run()
    assert app.title[0].value == "Diagnose"
    assert app.selectbox(key="near_concept").value == "sign"


def test_a_name_alone_is_inspected_too(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "cypher",
        dataset=cars,
        cypher_saved="neighbourhood",
        cypher_concept="cow",
        cypher_view="Graph",
        cypher_node="Concept field",
    )
    told, _ = (frame.value for frame in answered(app).dataframe[-2:])
    assert dict(told.to_numpy().tolist())["name"] == "field"
    app.button(key="_cypher_diagnose").click().run()
    assert app.query_params["clique"] in ('["field"]', ['["field"]'])
    assert app.title[0].value == "Diagnose"


def test_results_have_names_and_no_ids(open_page: OpenPage, cars: str) -> None:
    text = (
        "MATCH (y:Class {dataset: $dataset, name: 'urban'})-[r:CO_OCCURS]->(c {name: 'sign'}) "
        "RETURN y, r, [(y)-[s:CO_OCCURS]->(c) | s] AS all"
    )
    app = answered(own(open_page, cars, text))
    row = table(app).iloc[0]
    assert row["y"].startswith("urban · Class")
    assert row["r"].startswith("urban \N{RIGHTWARDS ARROW} sign · CO_OCCURS · images: 9")
    run = app.session_state["_cypher_run"]
    (whole,) = answers.as_frame(run.outcome.result(), run.names).to_dict("records")
    assert json.loads(whole["y"])["properties"]["name"] == "urban"
    assert json.loads(whole["all"])[0]["start"] == "urban"
    assert not any(id_ in str(whole) for id_ in run.names)


@pytest.mark.parametrize(
    "stats",
    [
        {"nodes": 3, "relationships": 0},
        {"id": "a", "labels": ["b"], "properties": {"digest": 1}},
        {"id": 1, "type": 2, "start": 3, "end": 4, "properties": 5},
        {"labels": "a", "properties": None},
    ],
)
def test_a_map_is_what_it_is_whatever_its_keys(
    open_page: OpenPage, cars: str, stats: dict[str, object]
) -> None:
    app = answered(own(open_page, cars, "RETURN $stats AS stats", json.dumps({"stats": stats})))
    assert not app.exception
    assert json.loads(table(app)["stats"].iloc[0]) == stats
    assert "cypher_view" not in {control.key for control in app.segmented_control}


def test_numbers_alone_are_no_picture(open_page: OpenPage, cars: str) -> None:
    app = answered(own(open_page, cars, "RETURN 1 AS n"))
    assert "cypher_view" not in {control.key for control in app.segmented_control}
    assert "_cypher_plan" not in {button.key for button in app.button}


def test_cliques_are_taken_to_the_plan(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "cypher",
        dataset=cars,
        cypher_saved="imbalances",
        cypher_imbalances_min_gap="7",
    )
    answered(app).button(key="_cypher_plan").click().run()
    assert not app.exception
    assert app.title[0].value == "Plan"
    assert app.query_params["clique"] == ['["cow"]', '["sign"]']


def test_without_a_dataset_the_graph_can_be_asked(
    open_page: OpenPage, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = list_datasets(store).head(0)  # the server may have some
    monkeypatch.setattr(session, "datasets", lambda: none)
    app = open_page("cypher")
    assert "No dataset yet" in shown_text(app)
    app = run(open_page("cypher", cypher_ask="Your own", cypher_text="RETURN 1 AS n"))
    assert table(app)["n"].tolist() == [1]


RESULT = ConsoleResult(
    ("concepts", "n", "share", "node", "mixed", "flag", "nothing"),
    [
        (["a", "b"], 1, 0.5, NodeValue(id="1", labels=["X"], properties={}), 1, True, None),
        (["b", "a"], None, 2, None, "two", None, None),
        (None, 2**40, None, None, [1, {"x": None}], False, None),
    ],
    truncated=False,
    elapsed_s=0.1,
)


def test_files_hold_what_was_returned() -> None:
    frame = answers.as_frame(RESULT)
    content, as_json = to_parquet(frame)
    parquet = pd.read_parquet(io.BytesIO(content))
    assert as_json == []
    assert parquet["concepts"].iloc[0].tolist() == ["a", "b"]
    assert parquet["n"].tolist()[2] == 2**40
    csv = pd.read_csv(io.BytesIO(to_csv(frame)))
    assert csv["mixed"].tolist() == ["1", "two", '[1, {"x": null}]']
    assert csv["concepts"].iloc[0] == '["a", "b"]'


def test_a_result_without_rows_has_its_columns() -> None:
    empty = ConsoleResult(("a", "b"), [], truncated=False, elapsed_s=0.1)
    assert answers.as_frame(empty).columns.tolist() == ["a", "b"]
    assert to_csv(answers.as_frame(empty)) == b"a,b\n"
    content, _ = to_parquet(answers.as_frame(empty))
    assert pd.read_parquet(io.BytesIO(content)).to_dict("list") == {"a": [], "b": []}


def test_the_same_clique_is_named_once() -> None:
    assert answers.cliques_in(RESULT) == [("a", "b")]


def test_columns_of_names_are_a_picture() -> None:
    result = ConsoleResult(
        ("start", "end", "images"),
        [("urban", "cow", 3), ("cow", "road", 2), ("cow", "urban", 1)],
        truncated=False,
        elapsed_s=0.1,
    )
    found = pictures.elements_in(result, ["urban", "country"])
    kinds = {(node.name, node.kind) for node in found.nodes.values()}
    assert kinds == {
        ("urban", "class"),
        ("cow", "concept"),
        ("road", "concept"),
        ("urban", "concept"),
    }
    classes = ["urban", "country", "tundra"]  # as many as there are, each in its own colour
    picture = pictures.picture_of(found, classes)
    colors = {(node.label, node.kind): node.color for node in picture.nodes}
    assert colors == dict.fromkeys(kinds) | {("urban", "class"): class_colors(classes)["urban"]}
    assert [edge.color for edge in picture.edges] == [class_colors(classes)["urban"], None, None]


def test_cliques_have_a_size_and_a_colour_of_their_own() -> None:
    elements = pictures.Elements()
    for id_, label in (("1", "Clique"), ("2", "Concept"), ("3", "Class")):
        kind = "class" if label == "Class" else "concept"
        elements.nodes[id_] = pictures.FoundNode(label, kind, label)
    for start, end in (("1", "2"), ("1", "3"), ("2", "3")):  # each has two links
        elements.link(start, end, 1.0, "")
    picture = pictures.picture_of(elements, ["Class", "other"])
    clique, concept, of_class = picture.nodes
    assert clique.size_px < concept.size_px
    assert concept.color is None
    assert clique.color not in (None, of_class.color, NEUTRAL)
    by_ends = {(edge.source, edge.target): edge.color for edge in picture.edges}
    assert by_ends == {("1", "2"): None, ("1", "3"): of_class.color, ("2", "3"): of_class.color}


def test_a_large_picture_is_cut() -> None:
    rows = [("hub", f"concept {i}", i) for i in range(300)]
    result = ConsoleResult(("concept_1", "concept_2", "images"), rows, False, 0.1)
    picture = pictures.picture_of(pictures.elements_in(result), [])
    assert len(picture.nodes) == pictures.MOST_NODES
    assert len(picture.edges) == pictures.MOST_NODES - 1


def test_only_so_many_cliques_go_into_a_link(open_page: OpenPage, cars: str) -> None:
    text = "UNWIND range(1, 150) AS i RETURN ['cow', toString(i)] AS concepts"
    app = answered(own(open_page, cars, text))
    assert app.button(key="_cypher_plan").label == "Use the first 100 cliques in a plan"
    assert MOST_CLIQUES == 100


def test_intervals_are_shown_as_intervals() -> None:
    rows = [([0.0012, 0.05], [["urban", 3]]), ([None, None], [])]
    shown, _ = answers.as_table(ConsoleResult(("limits", "n"), rows, False, 0.1))
    assert shown["limits"].tolist() == ["[0.001, 0.050]", ""]
    assert shown["n"].tolist()[0] == "urban 3"
