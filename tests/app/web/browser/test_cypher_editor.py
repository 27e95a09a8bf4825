"""The Cypher editor without a browser: whose text holds, what is sent, what is completed."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.browser.browser_part import Exchange
from cobalance.app.web.browser.cypher_editor import MOST_CHARACTERS, next_text
from cobalance.graph.console.completions import FUNCTIONS, KEYWORDS, editor_words
from cobalance.graph.console.guard import check_read_only
from cobalance.graph.database import schema
from cobalance.graph.database.store import GraphStore


def report(request: int, text: object) -> dict[str, object]:
    return {"text": text, "request": request}


def test_whose_text_holds() -> None:
    written = next_text(None, "RETURN 1", None)
    assert written == Exchange(0, "RETURN 1", "RETURN 1")
    written = next_text(written, "RETURN 1", report(0, "RETURN 2"))
    assert written.effective == "RETURN 2"
    # The page passes back what it got, late; meanwhile the person went on.
    written = next_text(written, "RETURN 2", report(0, "RETURN 3"))
    assert written == Exchange(0, "RETURN 2", "RETURN 3")
    # A text of the page's own wins over what was reported before it, until the person writes.
    written = next_text(written, "MATCH (n)", report(0, "RETURN 3"))
    assert written == Exchange(1, "MATCH (n)", "MATCH (n)")
    assert next_text(written, "MATCH (n)", report(1, "RETURN 4")).effective == "RETURN 4"


@pytest.mark.parametrize(
    "said",
    ["text", [], {}, report(0, None), report(0, ["x"]), report(0, "x" * MOST_CHARACTERS * 2)],
)
def test_what_a_browser_says_is_not_trusted(said: object) -> None:
    assert next_text(None, "RETURN 1", said).effective == "RETURN 1"


def page() -> None:
    import streamlit as st

    from cobalance.app.web.browser.cypher_editor import Mistake, cypher_editor

    text = "RETURN 1 +" if st.checkbox("other") else "RETURN\r\n1"
    mistake = Mistake("RETURN 1 +", 10, "Invalid input")
    with st.form("form"):
        cypher_editor(text, key="editor", label="Query", parameters=["x"], mistake=mistake)
        st.form_submit_button("Run")


def test_the_words_are_sent_once_and_a_mistake_with_its_text_only() -> None:
    def parts(app: AppTest) -> list[object]:
        def leaves(block: object) -> list[object]:
            children = getattr(block, "children", None)
            if children is None:
                return [block.proto] if block.type == "bidi_component" else []
            return [leaf for child in children.values() for leaf in leaves(child)]

        return leaves(app.main)

    app = AppTest.from_function(page).run()
    library, editor = parts(app)
    assert json.loads(library.json)["labels"].keys() >= {"Clique", "Class", "Concept", "Image"}
    assert len(editor.js_content) < 2_000
    sent = json.loads(editor.json)
    assert (sent["text"], sent["mistake"], sent["request"]) == ("RETURN\n1", None, 0)
    app.checkbox[0].check().run()
    again, editor = parts(app)
    assert again == library
    sent = json.loads(editor.json)
    assert sent["mistake"] == {"offset": 10, "message": "Invalid input"}
    assert (sent["text"], sent["request"]) == ("RETURN 1 +", 1)


def test_labels_types_and_properties_are_those_of_the_schema() -> None:
    words = editor_words()
    assert words["labels"].keys() >= {node.label for node in (*schema.NODES, *schema.JOB_NODES)}
    assert set(words["types"]) == {edge.type for edge in schema.EDGES}
    for node in schema.NODES:
        declared = {node.key.name, *node.property_names, "dataset"} - {"digest"}
        assert set(words["labels"][node.label]["properties"]) == declared


def test_the_server_has_all_functions_and_the_guard_passes_them(store: GraphStore) -> None:
    rows = store.read("SHOW FUNCTIONS YIELD name, isDeprecated RETURN name, isDeprecated")
    known = {row["name"]: row["isDeprecated"] for row in rows}
    assert {name for name in FUNCTIONS if known.get(name, True)} == set()
    for name in FUNCTIONS:
        check_read_only(f"RETURN {name}(1) AS x")


def test_keywords_are_of_queries_that_read() -> None:
    assert {"MATCH", "OPTIONAL MATCH", "ORDER BY", "RETURN", "SHOW CONSTRAINTS"} <= set(KEYWORDS)
    assert not {"CREATE", "SET", "DELETE", "MERGE"} & set(KEYWORDS)
