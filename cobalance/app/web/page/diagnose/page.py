"""Page Diagnose: imbalances as a table, charts and images."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components import (
    choose_axis,
    details,
    graph_colors,
    imbalance_filters,
    mine_button,
    model_accuracy,
    prefer_sides,
)
from cobalance.app.web.page.diagnose import (
    charts,
    cooccurrences,
    finding,
    heat_map,
    properties,
    rules,
    table,
)
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
    id_in_url,
    in_url,
    named_in_url,
    names_of,
    number_in_url,
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
    unless_empty,
)
from cobalance.base import ALL_IMAGES, NO_LIMIT, agree, inflect, render
from cobalance.graph import (
    Evaluation,
    Overview,
    Ranking,
    clique_totals,
    read_imbalances,
    read_overview,
    read_summary,
)
from cobalance.graph.database import schema
from cobalance.statistics import first_of_summary
from cobalance.workflows import (
    Axis,
    GraphPicture,
    ReportOptions,
    are_unequal,
    cell_text,
    concepts_of,
    describe_summary,
    next_action,
    node_id,
    of_overview,
    read_communities,
    summary_table,
    warn_left_out,
)
from cobalance.workflows.diagnose import findings
from cobalance.workflows.report.page import report

GRAPH = "diagnose_graph"
_NODES = "_chosen_nodes"
GRAPH_VIEW, HEAT_MAP = "Graph", "Heat map"
MATRIX, COMBINATIONS, TOGETHER = "Matrix", "Combinations", "Together"
FILES, RULES = "Files", "Rules"
BARS = ("Images", "% of class")
EDGES = (100, 200, 400, 800)
PICTURE_PX = table.HEIGHT_PX - 60
PAIRS = 3
BY_CLASS, BY_GROUP, BY_ACCURACY = "Class", "Group", "Accuracy"


def page(others: Mapping[str, Callable[[], None]]) -> None:
    """Draw the page, of which the `others` are views, too."""
    current = session.current()
    if current.is_mined:
        _draw_finding(current)

    # What was selected in the graph filters as if it had been chosen in the filter, which is drawn
    # before the graph.
    if _NODES in st.session_state:
        st.session_state[imbalance_filters.CONCEPTS] = st.session_state.pop(_NODES)
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
        _draw_picture(current, view, Rows(frame, ranking, model), controls)

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
    _draw_picture(current, view, Rows(frame, ranking), controls)
    st.caption(escape(" ".join(findings.mining_warnings(current.class_sizes, current.mining))))
    details.draw(current)


@dataclass(frozen=True)
class Rows:
    """The rows beside a picture, with their ranking and colours."""

    frame: pd.DataFrame
    ranking: Ranking
    model: Evaluation | None = None


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
        **in_url("view", views),
        required=True,
        label_visibility="collapsed",
    )


def _draw_picture(current: CurrentDataset, view: str, rows: Rows, controls: DeltaGenerator) -> None:
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
        _draw_graph(current, rows, controls)
        _offer_clique(current, st.session_state[imbalance_filters.CONCEPTS])


def _draw_combinations(current: CurrentDataset, ranking: Ranking, controls: DeltaGenerator) -> None:
    """Draw the plot of combinations, with the choice of its bars."""
    # Counts of classes of unequal sizes say little beside each other.
    usual = BARS[1] if are_unequal(current.class_sizes) else BARS[0]
    with _options(controls, "Bars"):
        bars = st.selectbox("Bars", BARS, **named_in_url("bars", usual, BARS))
    # A combination is of two concepts or more, unless the filter says otherwise.
    larger = replace(ranking, min_size=ranking.min_size or 2, limit=charts.MOST_COMBINATIONS)
    rows = table.read_folded(current, larger)
    charts.combinations(rows, current.class_sizes, shares=(bars or usual) == BARS[1])


def _options(controls: DeltaGenerator, what: str) -> DeltaGenerator:
    """A place behind a button for the choices of a picture."""
    return controls.popover("", icon=":material/tune:", help=what, key="_picture_options")


def _draw_matrix(current: CurrentDataset, rows: Rows, controls: DeltaGenerator) -> None:
    """Draw the matrix of pairs, with the choice of its two sides."""
    with _options(controls, "Classes of the matrix"):
        axis = choose_axis(current)

    n_concepts = charts.MOST_IN_MATRIX
    overview = current.read(
        read_overview,
        max_concepts=n_concepts,
        max_edges=n_concepts * (n_concepts - 1) // 2,
        include=_concepts_to_draw(rows.ranking),
    )
    charts.matrix(overview, axis)


@st.fragment(key=table.GRAPH)
def _draw_graph(current: CurrentDataset, rows: Rows, controls: DeltaGenerator) -> None:
    """Draw the concept graph with its choices and legend; concepts selected there filter."""
    with errors_in_fragment():
        with _options(controls, "Classes, links and colours of the graph"):
            axis = choose_axis(current)
            edges, color = _choose_links_and_color(rows.model)
        overview = _read_graph(current, rows.ranking, edges)
        plain = of_overview(overview, axis)
        picture, draw_color_legend = _color_graph(current, plain, color, rows.model)

        filtered = st.session_state[imbalance_filters.CONCEPTS]
        state = concept_graph(
            picture,
            key=GRAPH,
            highlighted=list(map(_node_ids, url.selected_cliques())),
            cliques=list(map(_node_ids, rows.frame.get("concepts", ()))),
            groups=[_node_ids(rows.ranking.any_of)],
            selected=_node_ids(filtered),
            height_px=PICTURE_PX,
            label="Concepts between the classes that they lean to",
        )
        chosen = concepts_of(state.nodes)
        if set(chosen) != set(filtered):
            # The filter stands above, and has been drawn already.
            st.session_state[_NODES] = chosen
            st.rerun()

        if draw_color_legend is not None:
            draw_color_legend()
        _legend(axis, overview)


def _read_graph(current: CurrentDataset, ranking: Ranking, edges: int) -> Overview:
    """Read the graph, with all concepts that are selected or filtered by."""
    overview = current.read(read_overview, max_edges=edges)
    concepts = _concepts_to_draw(ranking)
    # Mostly they are among the frequent ones, and a tick then waits for no query.
    if {*concepts} <= {*overview.concepts["concept"]}:
        return overview
    return current.read(read_overview, max_edges=edges, include=concepts)


def _node_ids(concepts: Sequence[str]) -> list[str]:
    return list(map(node_id, concepts))


def _concepts_to_draw(ranking: Ranking) -> tuple[str, ...]:
    """Concepts that are drawn however rare: those selected, and those filtered by."""
    concepts = {*ranking.any_of, *st.session_state[imbalance_filters.CONCEPTS]}
    return tuple(sorted(concepts.union(*url.selected_cliques())))


def _choose_links_and_color(model: Evaluation | None) -> tuple[int, str]:
    """Draw the choice of the graph's links and colours."""
    kinds = [BY_CLASS, BY_GROUP]
    if model is not None:
        kinds.append(BY_ACCURACY)
    edges = st.selectbox("Links", EDGES, index=1, **number_in_url("edges"))
    color = st.selectbox("Colour", kinds, **choice_in_url("color"))
    return edges, color


def _color_graph(
    current: CurrentDataset, picture: GraphPicture, color: str, model: Evaluation | None
) -> tuple[GraphPicture, Callable[[], None] | None]:
    """Colour the graph as chosen; return it with a function that draws the legend, if any."""
    if color == BY_GROUP:
        facets = current.read(read_communities)
        legend = partial(graph_colors.draw_community_legend, facets)
        return graph_colors.color_by_community(picture, facets), legend

    if model is not None and color == BY_ACCURACY:
        accuracy = model_accuracy.accuracy(current, model, graph_colors.cliques_of(picture))
        # None if it cannot be read, which the page then says.
        if accuracy is not None:
            legend = partial(graph_colors.draw_accuracy_legend, accuracy)
            return graph_colors.color_by_accuracy(picture, accuracy), legend
    return picture, None


def _legend(axis: Axis, overview: Overview) -> None:
    """Draw the meaning of places and sizes in the graph."""
    hidden = overview.hidden_concepts
    rarer = unless_empty("{:,} rarer concepts are not drawn. ", hidden)

    st.caption(
        f"Left: more often in images of **{escape(axis.left_name)}**; right: of "
        f"**{escape(axis.right_name)}**, by the difference of the two rates divided by their sum. "
        f"Larger: more images. {rarer}Click a concept to filter the table, more with Shift; hover "
        "over one for its strongest combinations."
    )


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
