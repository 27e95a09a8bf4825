"""Diagnose: which concept combinations lean to a class, as a table, as pictures, as images."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.concept_graph import concept_graph
from app.views import charts, filters, gallery, mining, parts, picture, session, url
from app.views.names import names_of
from app.views.session import Current
from graph import schema
from graph.imbalance import COUNT
from graph.mined import Ranking, clique_totals
from graph.overview import Overview, read_overview

GRAPH = "diagnose_graph"
_NODES = "_chosen_nodes"
VIEWS = ("Graph", "Matrix", "Combinations")
EDGES = (100, 200, 400, 800)
HEIGHT_PX = 560


def page() -> None:
    """Draw the page."""
    this = session.current()
    if not this.is_mined:
        mining.offer(this)
        return
    _metrics(this)
    _take_nodes_from_graph()
    ranking = filters.ranking(this, names_of(this, schema.CONCEPT))
    frame = this.imbalances(ranking)
    left, right = st.columns([6, 7])
    with left:
        cell = _table(this, frame)
    with right:
        _pictures(this)
    _selection_bar()
    if cell is not None:
        gallery.show(this, *cell)


def _metrics(this: Current) -> None:
    totals = this.read(clique_totals)
    with st.container(horizontal=True, key="_metrics"):
        st.metric("Images", f"{sum(this.class_sizes.values()):,}")
        if len(this.class_sizes) <= parts.MAX_BARS:
            for name, images in this.class_sizes.items():
                st.metric(parts.escape(name), f"{images:,}")
        else:
            st.metric("Classes", f"{len(this.class_sizes):,}")
        st.metric("Common concepts", f"{totals.concepts:,}")
        st.metric("Cliques", f"{totals.cliques:,}")
        st.metric("Leaning to a class", f"{totals.imbalanced:,}")


def _take_nodes_from_graph() -> None:
    """Make the concepts that were selected in the graph the table's filter."""
    if _NODES in st.session_state:
        st.session_state[filters.CONCEPTS] = st.session_state.pop(_NODES)


def _table(this: Current, frame: pd.DataFrame) -> tuple[tuple[str, ...], str | None] | None:
    """Draw the table and keep the selected cliques; give the cell whose images are asked for."""
    if frame.empty:
        parts.empty_state("No clique fits", "Loosen a filter above.")
        return None
    classes = list(this.class_sizes)
    shown = parts.imbalance_view(frame, classes)
    cliques = frame["concepts"].tolist()
    selected = url.selected_cliques()
    if selected != st.session_state.get("_from_table"):
        # Cleared, or come from the URL: what the browser has ticked is out of date.
        st.session_state["_table_version"] = st.session_state.get("_table_version", 0) + 1
    state = st.dataframe(
        shown,
        key=f"_table {st.session_state['_table_version']} {hash(tuple(cliques))}",
        height=HEIGHT_PX,
        hide_index=True,
        on_select="rerun",
        selection_mode=["multi-row", "single-cell"],
        selection_default={
            "selection": {"rows": [i for i, clique in enumerate(cliques) if clique in selected]}
        },
        column_config=parts.imbalance_columns(
            classes, int(frame[[COUNT + name for name in classes]].to_numpy().max())
        ),
        alt="Imbalances",
    )
    rows = [cliques[i] for i in state.selection.rows]
    selected = [clique for clique in selected if clique not in set(cliques)] + rows
    url.select_cliques(selected)
    st.session_state["_from_table"] = selected
    cells = state.selection.get("cells") or []
    if not cells:
        return None
    row, column = cells[0]
    return cliques[row], column.removeprefix(COUNT) if column.startswith(COUNT) else None


def _pictures(this: Current) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = st.segmented_control(
            "Picture", VIEWS, default=VIEWS[0], key="view", bind="query-params", required=True
        )
        edges = EDGES[1]
        if view == VIEWS[0]:
            edges = st.selectbox(
                "Strongest links", EDGES, index=1, key="edges", bind="query-params", width=130
            )
        axis = picture.choose_axis(this.class_sizes)
    selected = url.selected_cliques()
    wanted = {name for clique in selected for name in clique}
    include = tuple(sorted(wanted.union(st.session_state[filters.CONCEPTS])))
    if view == VIEWS[2]:
        charts.combinations(this.imbalances(Ranking(min_size=2, limit=20)), this.class_sizes)
        return
    overview: Overview = this.read(read_overview, max_edges=edges, include=include)
    if view == VIEWS[1]:
        charts.matrix(overview, axis)
        return
    drawn = picture.of_overview(overview, axis)
    filtered = st.session_state[filters.CONCEPTS]
    found = concept_graph(
        drawn,
        key=GRAPH,
        highlighted=[[picture.concept_id(name) for name in clique] for clique in selected],
        selected=[picture.concept_id(name) for name in filtered],
        height_px=HEIGHT_PX - 60,
        label="Concepts between the classes that they lean to",
    )
    chosen = picture.concepts_of(found.nodes)
    if set(chosen) != set(filtered):
        st.session_state[_NODES] = chosen
        st.rerun()  # the filter stands above, and has been drawn already
    _legend(axis, overview)


def _legend(axis: "picture.Axis", overview: Overview) -> None:
    hidden = overview.hidden_concepts
    left, right = (parts.escape(side) for side in (axis.left_name, axis.right_name))
    st.caption(
        f"Left: more often in images of **{left}**; right: of **{right}**. Larger: more images. "
        + (f"{hidden:,} rarer concepts are not drawn. " if hidden else "")
        + "Click a concept to filter the table."
    )


def _selection_bar() -> None:
    selected: Sequence[tuple[str, ...]] = url.selected_cliques()
    if not selected:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{len(selected):,}** {'clique' if len(selected) == 1 else 'cliques'} selected"
        )
        st.space("stretch")
        st.button("Clear", on_click=url.clear, key="_clear")
        if st.button("Plan the missing images", type="primary", key="_to_plan"):
            url.go_to("plan")
