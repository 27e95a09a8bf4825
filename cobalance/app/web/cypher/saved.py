"""Saved queries: found by words, asked with a form."""

import pandas as pd
import streamlit as st

from cobalance.app.web.components import mine_button
from cobalance.app.web.cypher import query_form
from cobalance.app.web.cypher.own import OWN, edit_copy
from cobalance.app.web.cypher.query_form import MOST_ROWS
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.messages import empty_state
from cobalance.app.web.widgets.tables import draw_table
from cobalance.app.web.widgets.theme import shorten
from cobalance.graph.database.query import REQUIRED
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.console_query import ConsoleQuery, search_saved

_SHOWN, _LIST, _SEARCH = "cypher_show", "_cypher_list", "cypher_search"
_QUICK_FIRST = sorted(CATALOGUE, key=lambda name: (CATALOGUE[name].scans_images, name))


def saved_query(current: CurrentDataset | None) -> tuple[ConsoleQuery | None, bool]:
    """Draw the choice and form of a saved query; return it, and whether to run it now."""
    if current is None:
        empty_state(
            "No dataset yet",
            "The saved queries are about a dataset. Load one on the **Datasets** page, or ask the "
            f"graph a query of your own: choose **{OWN}** above.",
        )
        return None, False
    name = st.selectbox(
        "Saved query",
        _QUICK_FIRST,
        index=None,
        **in_url(query_form.NAME),
        placeholder="Choose a saved query by its name, or search below",
        label_visibility="collapsed",
    )
    if name is None:
        _list_saved()
        return None, False
    query = CATALOGUE[name]
    st.markdown(query.purpose)
    if query.reads_cliques and not current.is_mined:
        mine_button.offer(current)
        return None, False
    with st.form("_cypher_form"):
        given, seconds = query_form.fields(current, query)
        submitted = st.form_submit_button("Run", type="primary", key="_cypher_submit")
    with st.expander("The query in Cypher", **in_url(_SHOWN), on_change="rerun"):
        st.code(query.text, language="cypher", wrap_lines=True)
        st.button(
            "Edit a copy",
            icon=":material/edit:",
            key="_cypher_copy",
            on_click=edit_copy,
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


def _list_saved() -> None:
    words = st.text_input(
        "Search names, descriptions and Cypher",
        **in_url(_SEARCH),
        icon=":material/search:",
        placeholder="gap class",
        max_chars=200,
    )
    names = search_saved(words or "")
    if not names:
        st.caption("No saved query has all of these words. Leave some out.")
        return
    draw_table(
        pd.DataFrame(
            [(name, shorten(CATALOGUE[name].purpose, 145)) for name in names],
            columns=["query", "answers"],
        ),
        520,
        {
            "query": st.column_config.TextColumn("Query", width=230),
            "answers": st.column_config.TextColumn("What it answers", width=850),
        },
        key=_LIST,
        on_select=_choose,
        selection_mode="single-row",
        alt="Saved queries",
    )
    st.caption(f"{len(names)} of {len(CATALOGUE)} saved queries. Tick a row.")


def _choose() -> None:
    """Take the ticked row of the list as the saved query."""
    rows = st.session_state[_LIST].selection.rows
    if rows:
        names = search_saved(st.session_state.get(_SEARCH) or "")
        st.session_state[query_form.NAME] = names[rows[0]]
