"""Page Diagnose: imbalances as a table, charts and images."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components import (
    MAX_BARS,
    choose_axis,
    details,
    gallery,
    graph_colors,
    imbalance_filters,
    mine_button,
    model_accuracy,
)
from cobalance.app.web.page.diagnose import charts, cooccurrences, heat_map, properties, table
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
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
    escape,
    index_or_first,
    meaning,
    row_values,
    shorten,
    unless_empty,
)
from cobalance.base import ALL_IMAGES, agree, inflect
from cobalance.graph.database import schema
from cobalance.graph.dataset import clique_totals
from cobalance.graph.evaluations import Evaluation
from cobalance.graph.queries import (
    DatasetProgress,
    Overview,
    Ranking,
    dataset_progress,
    read_cooccurrences,
    read_imbalances,
    read_overview,
    read_summary,
)
from cobalance.statistics import COUNT, MAX_Q_VALUE
from cobalance.workflows.cells import cell_text
from cobalance.workflows.concept_graph import Axis, GraphPicture, concepts_of, node_id, of_overview
from cobalance.workflows.diagnose import findings
from cobalance.workflows.diagnose.facets import read_communities
from cobalance.workflows.diagnose.steps import Step, next_action, steps_of
from cobalance.workflows.diagnose.tables import (
    are_unequal,
    describe_compared,
    describe_mining,
    describe_summary,
    effect_texts,
    summary_table,
)
from cobalance.workflows.report.contents import ReportOptions
from cobalance.workflows.report.page import report

GRAPH = "diagnose_graph"
_NODES = "_chosen_nodes"
GRAPH_VIEW, IMAGES, HEAT_MAP = "Graph", "Images", "Heat map"
MATRIX, COMBINATIONS, TOGETHER, FILES = "Matrix", "Combinations", "Together", "Files"
BARS = ("Images", "% of class")
EDGES = (100, 200, 400, 800)
PICTURE_PX = table.HEIGHT_PX - 60
# The view Images has a strip of images for each class of the table's first rows.
STRIPS, STRIP_IMAGES, STRIP_PX, STRIP_CLASSES = 3, 8, 64, 4
BY_CLASS, BY_GROUP, BY_ACCURACY = "Class", "Group", "Accuracy"


def page() -> None:
    """Draw the page."""
    current = session.current()
    progress = dataset_progress(current.store, current.name)
    draw_steps(steps_of(current.state, progress))
    if not current.is_mined:
        mine_button.offer(current)
        return

    next_step = _headline(current)
    summary = st.container()
    _metrics(current)

    # What was selected in the graph filters as if it had been chosen in the filter, which is drawn
    # before the graph.
    if _NODES in st.session_state:
        st.session_state[imbalance_filters.CONCEPTS] = st.session_state.pop(_NODES)
    ranking, of_groups = imbalance_filters.ranking(current, names_of(current, schema.CONCEPT))

    left, right = st.columns([8, 7])
    with left:
        model = model_accuracy.choose(current)
        frame = table.read_rows(current, ranking)
        table.draw(current, frame, ranking, model)
    with right:
        _pictures(current, frame, ranking, model)
    with next_step:
        if not findings.not_compared(current.class_sizes):
            _next_step(current, progress)
    _selection_bar()
    details.draw(current, table.repeats_of(frame))
    if of_groups is not None:
        imbalance_filters.choose_facet(current, of_groups)

    # Last, as it reads all cliques: the rest of the page need not wait.
    with summary:
        _summary(current)


PAGE = Page("Diagnose", "diagnose", ":material/balance:", page)


def _choose_comparison(current: CurrentDataset) -> None:
    """Draw the choice between the dataset's classes and a concept, with or without which."""
    names = names_of(current, schema.CONCEPT)
    if current.state.images_at is not None or not names:
        return

    class_names = [name for name, _ in current.state.own_classes]
    listed = shorten(", ".join(class_names), 40)
    classes = "no classes" if class_names == [ALL_IMAGES] else listed
    options = [session.OWN_CLASSES, *names]
    st.selectbox(
        "Compare by",
        options,
        index=index_or_first(options, current.compared_by_all),
        format_func=lambda name: f"Compare by {name.strip() or classes}",
        label_visibility="collapsed",
        width=240,
        **choice_in_url(session.COMPARE_BY, options),
    )


def _headline(current: CurrentDataset) -> DeltaGenerator:
    """Draw the main finding in words; give the place of the next step."""
    with st.container(horizontal=True, vertical_alignment="center", key="_headline"):
        st.subheader(_headline_text(current), anchor=False, help=meaning("evidence"))
        _choose_comparison(current)
        return st.container(width="content")


def _headline_text(current: CurrentDataset) -> str:
    """The main finding: the strongest imbalance, or without two classes the surest combination."""
    # Without two classes nothing leans, and what occurs together is all there is to say.
    if findings.not_compared(current.class_sizes):
        ranking = Ranking(max_q_value=MAX_Q_VALUE, limit=1)
        surest = current.read(read_cooccurrences, ranking)
        if not surest.empty:
            row = surest.iloc[0]
            names = _emphasise(" + ".join(row["concepts"]))
            text = f"{row['images']:,} images show {names}"
            return f"{text}; by chance {row['expected']:,.0f} would."

    totals = current.read(clique_totals)
    imbalances = current.read(read_imbalances, Ranking(limit=1))
    strongest = None
    if not imbalances.empty:
        strongest = row_values(imbalances)
    return findings.headline(
        totals.leaning, totals.cliques, strongest, current.class_sizes, _emphasise
    )


def _next_step(current: CurrentDataset, progress: DatasetProgress) -> None:
    """Draw the button of the next step; where cliques are selected, there is another for them.

    Its place stays, so that the table does not move as the first row is ticked.
    """
    action, path = next_action(progress, leaning=current.read(clique_totals).leaning)
    hidden = bool(url.selected_cliques())
    with st.container(key="_next_step_hidden" if hidden else None, width="content"):
        if st.button(action, type=button_type(not hidden), key="_next_step"):
            url.go_to(path)


def _emphasise(name: str) -> str:
    return f"*{escape(shorten(name.strip() or '(no name)', 60).strip())}*"


def _summary(current: CurrentDataset) -> None:
    """Draw the combinations that stand on their own."""
    frame = current.read(read_summary)
    if frame.empty:
        return

    largest = frame.iloc[0]
    name, class_name = shorten(" + ".join(largest["concepts"]), 60), largest["own_over"]
    points = f"{100 * largest['own_effect']:.1f} percentage points"
    label = f"**{escape(name)}** leans to {escape(class_name)} by {points}"
    if more := len(frame) - 1:
        label += f"; {more:,} more {agree(more, 'stands on its own', 'stand on their own')}"

    with st.expander(label):
        texts = summary_table(frame, current.class_sizes)
        texts["concepts"] = list(map(" + ".join, frame["concepts"]))
        texts = texts.map(lambda value: escape(cell_text(value))).rename(columns=escape)
        st.table(texts.set_index("group"))
        st.caption(escape(describe_summary(len(frame), current.read(clique_totals).cliques)))


def _metrics(current: CurrentDataset) -> None:
    """Draw the numbers of images, concepts and cliques, and how the dataset was mined."""
    totals, sizes = current.read(clique_totals), current.class_sizes
    leaning = f"{findings.describe_leaning(totals.leaning, totals.unproven)}."

    with st.container(horizontal=True, key="_metrics"):
        st.metric("Images", f"{sum(sizes.values()):,}")
        if len(sizes) > MAX_BARS:
            st.metric("Classes", f"{len(sizes):,}")
        else:
            for name, images in sizes.items():
                # Without classes all images are of one, which the first metric has counted.
                if name != ALL_IMAGES:
                    st.metric(escape(name), f"{images:,}")
        st.metric("Common concepts", f"{totals.concepts:,}", help=meaning("common"))
        st.metric("Cliques", f"{totals.cliques:,}", help=meaning("clique"))
        st.metric("Leaning to a class", f"{totals.leaning:,}", help=leaning)
        make_report = partial(report, current.store, current.name, ReportOptions())
        download("Download report", make_report, f"{current.name}-report.html", key="_report")

    notes = [
        describe_compared(current.state.compared, sizes) or describe_mining(current.mining),
        *findings.mining_warnings(sizes, current.mining),
        leaning,
    ]
    st.caption(escape(" ".join(notes)))


def _pictures(
    current: CurrentDataset, frame: pd.DataFrame, ranking: Ranking, model: Evaluation | None
) -> None:
    """Draw the choice of a picture, and the picture."""
    controls = st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall")
    with controls:
        view = _choose_view(current)

    if view == HEAT_MAP:
        heat_map.draw(current)
    elif view == FILES:
        properties.draw(current, PICTURE_PX)
    elif view == TOGETHER:
        concepts = tuple(st.session_state[imbalance_filters.CONCEPTS])
        cooccurrences.draw(current, concepts, PICTURE_PX)
    elif view == IMAGES:
        _draw_strips(current, frame)
    elif view == COMBINATIONS:
        _draw_combinations(current, ranking, controls)
    elif view == MATRIX:
        _draw_matrix(current, ranking, controls)
    else:
        _draw_graph(current, frame, ranking, model, controls)


def _choose_view(current: CurrentDataset) -> str:
    """Draw the choice of a picture, without the ones that say nothing about the dataset."""
    views = [GRAPH_VIEW, IMAGES, HEAT_MAP, MATRIX, COMBINATIONS, TOGETHER, FILES]
    # Of two classes one row of the heat map says all of the other.
    if len(current.class_sizes) < 3:
        views.remove(HEAT_MAP)
    if current.state.compared:
        views = [COMBINATIONS, IMAGES, TOGETHER]
        st.caption("The graph and the matrix are of the dataset's own classes.")
    # First where nothing can lean to a class.
    if findings.not_compared(current.class_sizes):
        views.sort(key=TOGETHER.__ne__)

    return st.segmented_control("Picture", views, default=views[0], **in_url("view"), required=True)


def _draw_combinations(current: CurrentDataset, ranking: Ranking, controls: DeltaGenerator) -> None:
    """Draw the plot of combinations, with the choice of its bars."""
    # Counts of classes of unequal sizes say little beside each other.
    usual = BARS[1] if are_unequal(current.class_sizes) else BARS[0]
    bars = controls.selectbox("Bars", BARS, **named_in_url("bars", usual, BARS), width=130)
    # A combination is of two concepts or more, unless the filter says otherwise.
    larger = replace(ranking, min_size=ranking.min_size or 2, limit=charts.MOST_COMBINATIONS)
    rows = table.read_folded(current, larger)
    charts.combinations(rows, current.class_sizes, shares=(bars or usual) == BARS[1])


def _draw_matrix(current: CurrentDataset, ranking: Ranking, controls: DeltaGenerator) -> None:
    """Draw the matrix of pairs, with the choice of its two sides."""
    with controls:
        axis = choose_axis(current)

    n_concepts = charts.MOST_IN_MATRIX
    overview = current.read(
        read_overview,
        max_concepts=n_concepts,
        max_edges=n_concepts * (n_concepts - 1) // 2,
        include=_concepts_to_draw(ranking),
    )
    charts.matrix(overview, axis)


def _draw_graph(
    current: CurrentDataset,
    frame: pd.DataFrame,
    ranking: Ranking,
    model: Evaluation | None,
    controls: DeltaGenerator,
) -> None:
    """Draw the concept graph with its choices and legend; concepts selected there filter."""
    with controls:
        edges, color = _choose_links_and_color(model)
        axis = choose_axis(current)
    overview: Overview = current.read(
        read_overview, max_edges=edges, include=_concepts_to_draw(ranking)
    )
    picture, draw_color_legend = _color_graph(current, of_overview(overview, axis), color, model)

    filtered = st.session_state[imbalance_filters.CONCEPTS]
    state = concept_graph(
        picture,
        key=GRAPH,
        highlighted=list(map(_node_ids, url.selected_cliques())),
        cliques=list(map(_node_ids, frame.get("concepts", ()))),
        groups=[_node_ids(ranking.any_of)],
        selected=_node_ids(filtered),
        height_px=PICTURE_PX,
        label="Concepts between the classes that they lean to",
    )
    chosen = concepts_of(state.nodes)
    if set(chosen) != set(filtered):
        # The filter stands above, and has been drawn already.
        st.session_state[_NODES] = chosen
        st.rerun()

    _offer_clique(current, filtered)
    if draw_color_legend is not None:
        draw_color_legend()
    _legend(axis, overview)


def _node_ids(concepts: Sequence[str]) -> list[str]:
    return list(map(node_id, concepts))


def _concepts_to_draw(ranking: Ranking) -> tuple[str, ...]:
    """Concepts that are drawn however rare: those selected, and those filtered by."""
    concepts = {*ranking.any_of, *st.session_state[imbalance_filters.CONCEPTS]}
    return tuple(sorted(concepts.union(*url.selected_cliques())))


def _choose_links_and_color(model: Evaluation | None) -> tuple[int, str]:
    """Draw the choice of the graph's links and colours, behind a button."""
    kinds = [BY_CLASS, BY_GROUP]
    if model is not None:
        kinds.append(BY_ACCURACY)
    with st.popover("", icon=":material/tune:", help="Links and colours of the graph"):
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


def _selection_bar() -> None:
    """Draw the selection at the bottom of the window."""
    selected = url.selected_cliques()
    if not selected:
        return

    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        st.space("stretch")
        st.markdown(f"**{inflect(len(selected), 'cliques')}** selected", width="content")
        st.button("Clear", on_click=url.clear, key="_clear")
        if st.button("Plan the missing images", type="primary", key="_to_plan"):
            url.go_to("plan")


def _draw_strips(current: CurrentDataset, frame: pd.DataFrame) -> None:
    """Draw the first rows of the table with the first images of each class."""
    rows = frame.head(STRIPS)
    for row, effect in zip(rows.to_dict("records"), effect_texts(rows), strict=True):
        clique = tuple(row["concepts"])
        title = shorten(" + ".join(clique), 60)
        st.markdown(f"**{escape(title)}** · {escape(effect)}")

        counts = {name: int(row[COUNT + name]) for name in current.class_sizes}
        # The classes that the row names, the one that lacks the images included.
        compared = (row["highest_rate"], row["lowest_rate"]) if row["effect"] else ()
        for name in gallery.order_classes(counts, compared)[:STRIP_CLASSES]:
            size = current.class_sizes[name]
            if not counts[name]:
                st.caption(f"{escape(name)}: none of {inflect(size, 'images')}")
                continue
            share = counts[name] / size
            st.caption(f"{escape(name)}: {counts[name]:,} images, {share:.1%} of the class")
            gallery.strip(current, clique, name, STRIP_IMAGES, STRIP_PX)

    if len(frame) > STRIPS:
        st.caption(f"The first {STRIPS} rows of the table; click a number in it for another's.")


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


_ICONS = {
    "done": ":material/check_circle:",
    "next": ":material/radio_button_checked:",
    "later": ":material/radio_button_unchecked:",
}
_MEANINGS = {"done": "Done.", "next": "The next step.", "later": "Not done yet."}


def draw_steps(steps: list[Step]) -> None:
    """Draw the steps in a row, each as done, next or later."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="_steps"):
        for number, step in enumerate(steps):
            if number:
                st.markdown(":material/chevron_right:", width="content")
            label = f"**{step.name}**" if step.state == "next" else step.name
            if st.button(
                label,
                key=f"_step_{step.name}",
                icon=_ICONS[step.state],
                type="tertiary",
                help=_MEANINGS[step.state],
            ):
                url.go_to(step.page)
