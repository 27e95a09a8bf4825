"""Page Diagnose: imbalances as a table, charts and images."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import (
    choose_axis,
    details,
    imbalance_filters,
    mine_button,
    model_accuracy,
    prefer_sides,
)
from cobalance.app.web.page.diagnose import (
    charts,
    cooccurrences,
    finding,
    graph_view,
    heat_map,
    properties,
    rules,
    table,
)
from cobalance.app.web.state import (
    CurrentDataset,
    id_in_url,
    in_url,
    named_in_url,
    names_of,
    session,
    url,
)
from cobalance.app.web.widgets import (
    Page,
    button_type,
    download,
    errors_in_fragment,
    escape,
    in_app,
    row_values,
    shorten,
)
from cobalance.base import ALL_IMAGES, NO_LIMIT, agree, inflect, render
from cobalance.graph import (
    Ranking,
    clique_totals,
    read_imbalances,
    read_overview,
    read_summary,
)
from cobalance.graph.database import schema
from cobalance.statistics import first_of_summary
from cobalance.workflows import (
    ReportOptions,
    are_unequal,
    cell_text,
    describe_summary,
    next_action,
    summary_table,
    warn_left_out,
)
from cobalance.workflows.diagnose import findings
from cobalance.workflows.report.page import report

GRAPH_VIEW, HEAT_MAP = "Graph", "Heat map"
MATRIX, COMBINATIONS, TOGETHER = "Matrix", "Combinations", "Together"
FILES, RULES = "Files", "Rules"
BARS = ("Images", "% of class")
PICTURE_PX = table.HEIGHT_PX - 60  # page.css keeps the graph's place
PAIRS = 3


def page(others: Mapping[str, Callable[[], None]]) -> None:
    """Draw the page, of which the `others` are views, too."""
    current = session.current()
    if current.is_mined:
        _draw_finding(current)

    # What was selected in the graph filters as if it had been chosen in the filter, which is drawn
    # before the graph.
    if graph_view.NODES in st.session_state:
        st.session_state[imbalance_filters.CONCEPTS] = st.session_state.pop(graph_view.NODES)
    with st.container(horizontal=True, vertical_alignment="center", key="_controls"):
        filters = st.container(
            horizontal=True, vertical_alignment="center", gap="small", width="content"
        )
        st.space("stretch")
        controls = st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
        )
    with controls:
        view = _choose_view(current, list(others))

    if view in others:
        others[view]()
        details.draw(current)
    elif not current.is_mined:
        mine_button.offer(current)
    elif findings.not_compared(current.class_sizes):
        _draw_without_classes(current, view, filters, controls)
    else:
        _draw_imbalances(current, view, filters, controls)
    _selection_bar()


PAGE = Page("Diagnose", "diagnose", ":material/balance:", page, takes_uploads=True)


@st.fragment(key=table.FINDING)
def _draw_finding(current: CurrentDataset) -> None:
    """Draw the main finding: a sentence with its pictures, and the next step."""
    with errors_in_fragment():
        main = finding.read(current)
        with st.container(horizontal=True, vertical_alignment="center", key="_headline"):
            st.header(main.text, anchor=False, help=finding.describe_numbers(current))
            if main.clique:
                st.button("Details", key="_row_details", on_click=_open, args=(main.clique,))
            make_report = partial(report, current.store, current.name, ReportOptions())
            download("Download report", make_report, f"{current.name}-report.html", key="_report")
            if not findings.not_compared(current.class_sizes):
                # A fragment is as wide as there is room.
                with st.container(width="content"):
                    _next_step(current)
        finding.draw_strips(current, main, "_finding")
        prefer_sides(tuple(main.counts))


def _open(clique: url.Clique) -> None:
    """Open the drawer of a combination, by a button's callback."""
    url.show_images(clique)
    # The drawer is a part of the page, which a button in a fragment leaves as it is.
    st.rerun()


def _draw_imbalances(
    current: CurrentDataset, view: str, filters: DeltaGenerator, controls: DeltaGenerator
) -> None:
    """Draw the table of imbalances with its filters, and a picture beside it."""
    with filters:
        names = names_of(current, schema.CONCEPT)
        ranking, more, of_groups = imbalance_filters.ranking(current, names)
    left, right = st.columns([11, 9])
    with more:
        _choose_comparison(current)
        model = model_accuracy.choose(current)
    with left:
        frame = table.read_rows(current, ranking, more)
        table.draw(current, frame, ranking, model)
    with right:
        _draw_picture(current, view, graph_view.Rows(frame, ranking, model), controls)

    summary = st.container()
    details.draw(current, table.repeats_of(frame))
    if of_groups is not None:
        imbalance_filters.choose_facet(current, of_groups)
    # Last, as it reads all cliques: the rest of the page need not wait.
    with summary:
        _summary(current)
        _draw_pairs(current, ranking)
        warnings = findings.mining_warnings(current.class_sizes, current.mining)
        left_out = render(current.read(warn_left_out), in_app)
        st.caption(escape(" ".join([*warnings, left_out])))


def _draw_without_classes(
    current: CurrentDataset, view: str, filters: DeltaGenerator, controls: DeltaGenerator
) -> None:
    """Draw a picture over the whole width: nothing leans where no classes are compared."""
    with filters.popover("Filter", icon=":material/filter_list:", key="_filters"):
        concepts = imbalance_filters.choose_concepts(
            names_of(current, schema.CONCEPT), placeholder="any; or click in the graph"
        )
        _choose_comparison(current)
    ranking = Ranking(concepts=tuple(concepts))
    frame = current.read(read_imbalances, ranking)
    _draw_picture(current, view, graph_view.Rows(frame, ranking), controls)
    st.caption(escape(" ".join(findings.mining_warnings(current.class_sizes, current.mining))))
    details.draw(current)


def _choose_comparison(current: CurrentDataset) -> None:
    """Draw the choice between the dataset's classes and a concept, with or without which."""
    names = names_of(current, schema.CONCEPT)
    if current.state.images_at is not None or not names:
        return

    class_names = [name for name, _ in current.state.own_classes]
    listed = shorten(", ".join(class_names), 40)
    classes = "no classes" if class_names == [ALL_IMAGES] else listed
    # The first is chosen where nobody has chosen one.
    usual = current.compared_by_all or session.OWN_CLASSES
    others = [name for name in (session.OWN_CLASSES, *names) if name != usual]
    options = [usual, *others]
    st.selectbox(
        "Compare by",
        options,
        format_func=lambda name: f"Compare by {name.strip() or classes}",
        label_visibility="collapsed",
        **id_in_url(session.COMPARE_BY, options),
    )


@st.fragment(key=table.NEXT_STEP)
def _next_step(current: CurrentDataset) -> None:
    """Draw the button of the next step; where cliques are selected, there is another for them.

    Its place stays, so that the table does not move as the first row is ticked.
    """
    action, path = next_action(current.progress, leaning=current.read(clique_totals).leaning)
    hidden = bool(url.selected_cliques())
    with st.container(key="_next_step_hidden" if hidden else None, width="content"):
        if st.button(action, type=button_type(not hidden), key="_next_step"):
            url.go_to(path)


def _summary(current: CurrentDataset) -> None:
    """Draw the combinations that stand on their own."""
    # How many there are is said; the largest of them are shown.
    frame = current.read(read_summary, limit=NO_LIMIT)
    if frame.empty:
        return

    largest = frame.iloc[0]
    name, class_name = shorten(" + ".join(largest["concepts"]), 60), largest["own_over"]
    points = f"{100 * largest['own_effect']:.1f} percentage points"
    label = f"**{escape(name)}** leans to {escape(class_name)} by {points}"
    if more := len(frame) - 1:
        label += f"; {more:,} more {agree(more, 'stands on its own', 'stand on their own')}"

    with st.expander(label):
        frame = first_of_summary(frame)
        texts = summary_table(frame, current.class_sizes)
        texts["concepts"] = list(map(" + ".join, frame["concepts"]))
        texts = texts.map(lambda value: escape(cell_text(value))).rename(columns=escape)
        st.table(texts.set_index("group"))
        st.caption(escape(describe_summary(len(frame), current.read(clique_totals).cliques)))


def _choose_view(current: CurrentDataset, others: list[str]) -> str:
    """Draw the choice of a picture, without the ones that say nothing about the dataset."""
    views = [GRAPH_VIEW, HEAT_MAP, MATRIX, COMBINATIONS, TOGETHER, FILES, RULES]
    # Of two classes one row of the heat map says all of the other.
    if len(current.class_sizes) < 3:
        views.remove(HEAT_MAP)
    # The graph and the matrix are of the dataset's own classes.
    if current.state.compared:
        views = [COMBINATIONS, TOGETHER]
    # First where nothing can lean to a class.
    if findings.not_compared(current.class_sizes):
        views.sort(key=TOGETHER.__ne__)
    if not current.is_mined:
        views = [GRAPH_VIEW]
    views += others

    return st.segmented_control(
        "Picture",
        views,
        default=views[0],
        on_change=_begin_view,
        args=(current,),
        **in_url("view", views),
        required=True,
        label_visibility="collapsed",
    )


def _begin_view(current: CurrentDataset) -> None:
    """Measure the image files as soon as a person, and no link, asks for their view."""
    if st.session_state["view"] == FILES:
        properties.measure_once(current)


def _draw_picture(
    current: CurrentDataset, view: str, rows: graph_view.Rows, controls: DeltaGenerator
) -> None:
    """Draw a picture, and its own choices beside the one of the picture."""
    if view == HEAT_MAP:
        heat_map.draw(current)
    elif view == FILES:
        properties.draw(current, PICTURE_PX)
    elif view == RULES:
        rules.draw(current, PICTURE_PX)
    elif view == TOGETHER:
        cooccurrences.draw(current, rows.ranking.concepts, PICTURE_PX)
    elif view == COMBINATIONS:
        _draw_combinations(current, rows.ranking, controls)
    elif view == MATRIX:
        _draw_matrix(current, rows, controls)
    else:
        graph_view.draw(current, rows, controls, PICTURE_PX)
        _offer_clique(current, st.session_state[imbalance_filters.CONCEPTS])


def _draw_combinations(current: CurrentDataset, ranking: Ranking, controls: DeltaGenerator) -> None:
    """Draw the plot of combinations, with the choice of its bars."""
    # Counts of classes of unequal sizes say little beside each other.
    usual = BARS[1] if are_unequal(current.class_sizes) else BARS[0]
    with graph_view.options(controls, "Bars"):
        bars = st.selectbox("Bars", BARS, **named_in_url("bars", usual, BARS))
    # A combination is of two concepts or more, unless the filter says otherwise.
    larger = replace(ranking, min_size=ranking.min_size or 2, limit=charts.MOST_COMBINATIONS)
    rows = table.read_folded(current, larger)
    charts.combinations(rows, current.class_sizes, shares=(bars or usual) == BARS[1])


def _draw_matrix(current: CurrentDataset, rows: graph_view.Rows, controls: DeltaGenerator) -> None:
    """Draw the matrix of pairs, with the choice of its two sides."""
    with graph_view.options(controls, "Classes of the matrix"):
        axis = choose_axis(current)

    n_concepts = charts.MOST_IN_MATRIX
    overview = current.read(
        read_overview,
        max_concepts=n_concepts,
        max_edges=n_concepts * (n_concepts - 1) // 2,
        include=graph_view.concepts_to_draw(rows.ranking),
    )
    charts.matrix(overview, axis)


@st.fragment(key=table.SELECTION)
def _selection_bar() -> None:
    """Draw the selection at the bottom of the window."""
    selected = url.selected_cliques()
    with st.bottom:
        if not selected:
            # A fragment has a place there if it writes into it each time; page.css hides it.
            st.empty()
            return

        with st.container(horizontal=True, vertical_alignment="center", key="_selection"):
            st.space("stretch")
            st.markdown(f"**{inflect(len(selected), 'cliques')}** selected", width="content")
            st.button("Clear", on_click=_clear, key="_clear")
            if st.button("Plan the missing images", type="primary", key="_to_plan"):
                url.go_to("plan")


def _clear() -> None:
    """Take all rows out of the selection, by a button's callback."""
    url.clear()
    st.rerun()


def _draw_pairs(current: CurrentDataset, ranking: Ranking) -> None:
    """Draw the first pairs in the table's order with images of the classes that they compare."""
    pairs = table.read_folded(current, replace(ranking, min_size=2, max_size=2, limit=PAIRS))
    if pairs.empty:
        return

    st.header("Strongest pairs", anchor=False)
    for place in range(len(pairs)):
        pair = finding.of_row(current, row_values(pairs, place))
        st.markdown(pair.text)
        finding.draw_strips(current, pair, f"_pair {place}")


def _offer_clique(current: CurrentDataset, concepts: Sequence[str]) -> None:
    """Draw the buttons for the selected concepts; nothing where none is selected."""
    clique = tuple(sorted(set(concepts)))
    if not clique:
        return

    is_mined = not details.read_row(current, clique).empty
    name = escape(shorten(" + ".join(clique), 60))
    with st.container(horizontal=True):
        st.button(
            f"Details of {name}",
            key="_graph_details",
            icon=":material/read_more:",
            on_click=url.show_images,
            args=(clique,),
        )
        details.plan_button(clique, mined=is_mined, key="_graph_to_plan")
