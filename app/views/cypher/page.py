"""Page Cypher: saved queries as forms, and read-only queries of your own."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app.concept_graph.component import concept_graph
from app.services.frames import to_csv, to_parquet
from app.views.components import mine_button
from app.views.components.downloads import download
from app.views.components.messages import empty_state, show_error
from app.views.components.name_choices import names_of
from app.views.components.theme import shorten
from app.views.cypher import answers, query_form
from app.views.cypher.query_form import MOST_ROWS
from app.views.state import background, session, url
from app.views.state.background import ConsoleQuery, Run
from app.views.state.session import CurrentDataset
from graph.console.run import ConsoleResult
from graph.database import schema
from graph.database.query import REQUIRED
from graph.errors import CobalanceError, OptionError, StoreUnavailableError
from graph.queries.catalogue import CATALOGUE

SAVED, OWN = "Saved query", "Your own"
TABLE, GRAPH = "Table", "Graph"
EXAMPLE = """\
MATCH (q:Clique {dataset: $dataset, size: 2})-[n:COUNTED_IN]->(y:Class)
RETURN q.concepts AS concepts, y.name AS class, n.images AS images
ORDER BY q.gap DESC, concepts, class
LIMIT 20"""

REFRESH_S = 0.5
MOST_CLIQUES = 100  # that a result may hand to a plan

_ASK, _TEXT, _JSON = "cypher_ask", "cypher_text", "cypher_parameters"
_ROWS, _VIEW, _SHOWN = "cypher_rows", "cypher_view", "cypher_show"
_SEEN, _LIST = "_cypher_seen", "_cypher_list"


def page() -> None:
    """Draw the page."""
    current = session.current() if st.session_state.get(session.DATASET) else None
    mode = st.segmented_control(
        "Ask",
        [SAVED, OWN],
        default=SAVED,
        required=True,
        key=_ASK,
        bind="query-params",
        label_visibility="collapsed",
    )
    query, submitted = _saved(current) if mode == SAVED else _own(current)
    first = _SEEN not in st.session_state
    st.session_state[_SEEN] = True
    if query is None:
        return
    run = st.session_state.get(background.RUN)
    if submitted or ((run is None or run.query != query) and (first or _is_quick(query))):
        run = background.start(session.store(), query)
        st.session_state[background.RUN] = run
    if run is None or run.query != query:
        st.caption("Press Run for the answer.")
    elif run.outcome.done():
        _show(current, run)
    else:
        _wait(run)


def _is_quick(query: ConsoleQuery) -> bool:
    """Whether a query runs as soon as it is chosen."""
    return query.is_saved and not CATALOGUE[query.text].scans_images


# --- Saved queries --------------------------------------------------------------------------------


def _saved(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the choice and form of a saved query; return it, and whether to run it now."""
    if current is None:
        empty_state(
            "No dataset yet",
            "The saved queries are about a dataset. Load one on the **Datasets** page, or ask the "
            f"graph a query of your own: choose **{OWN}** above.",
        )
        return None, False
    names = sorted(CATALOGUE, key=lambda name: (CATALOGUE[name].scans_images, name))
    name = st.selectbox(
        "Saved query",
        names,
        index=None,
        key=query_form.NAME,
        bind="query-params",
        placeholder=f"Search {len(names)} saved queries",
        label_visibility="collapsed",
    )
    if name is None:
        _list_saved(names)
        return None, False
    query = CATALOGUE[name]
    st.markdown(query.purpose)
    if query.reads_cliques and not current.is_mined:
        mine_button.offer(current)
        return None, False
    with st.form("_cypher_form"):
        given, seconds = query_form.fields(current, query)
        submitted = st.form_submit_button("Run", type="primary", key="_cypher_submit")
    with st.expander("The query in Cypher", key=_SHOWN, bind="query-params", on_change="rerun"):
        st.code(query.text, language="cypher", wrap_lines=True)
        st.button(
            "Edit a copy",
            icon=":material/edit:",
            key="_cypher_copy",
            on_click=_edit_copy,
            args=(query.text, given),
        )
    missing = [
        parameter.purpose
        for key, parameter in query.parameters.items()
        if parameter.default is REQUIRED and not given[key]
    ]
    if missing:
        st.info(f"Choose {' and '.join(missing)}, then press Run.", icon=":material/info:")
        return None, False
    rows = int(given.get("limit") or MOST_ROWS)
    return ConsoleQuery(
        name, is_saved=True, given=given, most_rows=rows, timeout_s=seconds
    ), submitted


def _list_saved(names: list[str]) -> None:
    st.dataframe(
        pd.DataFrame(
            {"query": names, "answers": [shorten(CATALOGUE[name].purpose, 145) for name in names]}
        ),
        key=_LIST,
        hide_index=True,
        height=560,
        on_select=_choose,
        selection_mode="single-row",
        column_config={
            "query": st.column_config.TextColumn("Query", width=230),
            "answers": st.column_config.TextColumn("What it answers", width=850),
        },
        alt="Saved queries",
    )
    st.caption("Tick a row, or search above.")


def _choose() -> None:
    """Take the ticked row of the list as the saved query."""
    rows = st.session_state[_LIST].selection.rows
    names = sorted(CATALOGUE, key=lambda name: (CATALOGUE[name].scans_images, name))
    if rows:
        st.session_state[query_form.NAME] = names[rows[0]]


def _edit_copy(text: str, given: Mapping[str, Any]) -> None:
    """Fill the fields of a free query with a saved one and its parameters."""
    rest = {name: value for name, value in given.items() if name != session.DATASET}
    st.session_state[_ASK] = OWN
    st.session_state[_TEXT] = text
    st.session_state[_JSON] = json.dumps(rest, ensure_ascii=False) if rest else ""


# --- Free queries ---------------------------------------------------------------------------------


def _own(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the fields of a free query; return it, and whether to run it now."""
    binding = query_form.binding_of(_TEXT, _JSON)
    left, right = st.columns([3, 2])
    with st.container():
        with left.form("_cypher_own_form"):
            text = st.text_area(
                "Cypher that only reads",
                EXAMPLE,
                height=180,
                key=_TEXT,
                bind=binding,
                persist_state="session",
            )
            given = st.text_input(
                "Parameters as JSON",
                key=_JSON,
                bind=binding,
                persist_state="session",
                placeholder='{"concept": "cow"}',
                help="`$dataset` is the dataset that is chosen above, unless it is given here.",
            )
            with st.container(horizontal=True, vertical_alignment="bottom"):
                seconds = query_form.seconds_field()
                rows = st.number_input(
                    "Rows at most", 1, MOST_ROWS, 1000, key=_ROWS, bind="query-params"
                )
            submitted = st.form_submit_button(
                "Run", type="primary", key="_cypher_submit", help="Ctrl+Enter in a field"
            )
        with right:
            _schema()
    query_form.note_if_not_in_link(binding)
    try:
        parameters = read_parameters(given or "")
    except OptionError as error:
        show_error(error)
        return None, False
    if current is not None:
        parameters = {session.DATASET: current.name, **parameters}
    if not (text or "").strip():
        return None, False
    query = ConsoleQuery(
        text or "", is_saved=False, given=parameters, most_rows=rows, timeout_s=seconds
    )
    return query, submitted


def read_parameters(text: str) -> dict[str, Any]:
    """Parse the parameters of a free query.

    Raises
    ------
    OptionError
        They are not a JSON object.

    Examples
    --------
    >>> read_parameters('{"concepts": ["cow", "alley"]}'), read_parameters(" ")
    ({'concepts': ['cow', 'alley']}, {})
    """
    if not text.strip():
        return {}
    remedy = 'Write them as {"concept": "cow", "limit": 10}.'
    try:
        given = json.loads(text)
    except ValueError as error:
        raise OptionError(f"The parameters are not JSON: {error}. {remedy}") from error
    if not isinstance(given, dict):
        raise OptionError(f"The parameters are JSON, but not an object of names. {remedy}")
    return given


def _schema() -> None:
    """Draw the schema: the kinds of node and relationship."""
    st.code(schema_in_cypher(), language="cypher", wrap_lines=True, height=390)
    st.caption("Every node has its `dataset`, too.")


def schema_in_cypher() -> str:
    r"""The kinds of node and relationship with their properties, as patterns.

    Examples
    --------
    >>> print("\n".join(schema_in_cypher().splitlines()[:2]))
    (:Class {name})
    (:Concept {name})
    """
    nodes = [
        f"(:{node.label}{_properties(node.key.name, *node.property_names)})"
        for node in schema.NODES
    ]
    edges = [
        f"(:{edge.start.label})-[:{edge.type}{_properties(*edge.property_names)}]->(:{edge.end.label})"
        for edge in schema.EDGES
    ]
    return "\n".join([*nodes, *edges])


def _properties(*names: str) -> str:
    listed = ", ".join(name for name in names if name != "digest")
    return f" {{{listed}}}" if listed else ""


@st.fragment(run_every=REFRESH_S)
def _wait(run: Run) -> None:
    """Draw the progress of a running query until it ends."""
    if run.outcome.done():
        st.rerun()
    passed, limit = time.monotonic() - run.started, run.query.timeout_s
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            min(passed / limit, 1.0), f"The query is running: {passed:.0f} of at most {limit:g} s"
        )
        st.button("Stop waiting", key="_cypher_stop", on_click=background.forget)


# --- The result -----------------------------------------------------------------------------------


def _show(current: CurrentDataset | None, run: Run) -> None:
    """Draw the result of a run, or its error."""
    error = run.outcome.exception()
    if isinstance(error, StoreUnavailableError):
        background.forget()
        raise error
    if isinstance(error, CobalanceError):
        show_error(error)
        return
    result = run.outcome.result()
    frame = answers.as_frame(result)
    classes = names_of(current, schema.CLASS) if current is not None else []
    concept = run.query.given.get("concept")
    found = answers.elements_in(result, classes, concept if isinstance(concept, str) else None)
    with st.container(horizontal=True, vertical_alignment="center"):
        rows = "1 row" if len(frame) == 1 else f"{len(frame):,} rows"
        st.markdown(f"**{rows}** in {result.elapsed_s:.2f} s")
        view = TABLE
        if found:
            view = st.segmented_control(
                "Show as",
                [TABLE, GRAPH],
                default=TABLE,
                required=True,
                key=_VIEW,
                bind="query-params",
                label_visibility="collapsed",
            )
        st.space("stretch")
        _downloads(frame, run.query)
        if current is not None and run.query.given.get(session.DATASET) == current.name:
            _to_plan(result)
    if result.truncated:
        st.caption(
            f":material/info: There are more rows than these {len(frame):,}. Ask for more, or "
            "narrow the query."
        )
    if frame.empty:
        empty_state("No rows", "Nothing in the graph is as the query asks.")
    elif view == GRAPH:
        _graph(found, classes)
    else:
        _table(frame)


def _table(frame: pd.DataFrame) -> None:
    shown, configuration = answers.as_table(frame)
    st.dataframe(
        shown,
        hide_index=True,
        height="content" if len(frame) <= 15 else 560,
        column_config=configuration,
        key="_cypher_table",
        alt="Rows that the query returned",
    )


def _graph(found: answers.Elements, classes: list[str]) -> None:
    concept_graph(
        answers.picture_of(found, classes),
        key="_cypher_graph",
        height_px=560,
        label="Nodes and links that the query returned",
    )
    left_out = len(found.nodes) - answers.MOST_NODES
    if left_out > 0:
        st.caption(
            f"The first {answers.MOST_NODES} of {len(found.nodes):,} nodes; the table has all."
        )


def _downloads(frame: pd.DataFrame, query: ConsoleQuery) -> None:
    name = query.text if query.is_saved else "query"
    download("CSV", lambda: to_csv(frame), f"{name}.csv", key="_cypher_csv")
    download("Parquet", lambda: to_parquet(frame), f"{name}.parquet", key="_cypher_parquet")


def _to_plan(result: ConsoleResult) -> None:
    """Draw the button that plans for the cliques of a result."""
    cliques = answers.cliques_in(result)
    if not cliques:
        return
    some = cliques[:MOST_CLIQUES]
    label = (
        "Use this clique in a plan"
        if len(cliques) == 1
        else f"Use these {len(cliques)} cliques in a plan"
        if some == cliques
        else f"Use the first {len(some)} cliques in a plan"
    )
    if st.button(label, type="primary", key="_cypher_plan"):
        url.select_cliques(some)
        url.go_to("plan")
