"""Page Diagnose: imbalances as a table, charts and images."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components import gallery, mine_button
from cobalance.app.web.components.graph import colors
from cobalance.app.web.components.graph.choices import choose_axis
from cobalance.app.web.components.imbalances import (
    details,
    filters as imbalance_filters,
    model_accuracy,
)
from cobalance.app.web.components.imbalances.table import MAX_BARS
from cobalance.app.web.diagnose import charts, cooccurrences, heat_map, properties, table
from cobalance.app.web.state import session, url
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.state.session import CurrentDataset, names_of
from cobalance.app.web.state.url import choice_in_url, in_url, named_in_url, number_in_url
from cobalance.app.web.widgets.controls import download
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.app.web.widgets.wording import meaning
from cobalance.base.plurals import inflect
from cobalance.base.records import ALL_IMAGES
from cobalance.graph.database import schema
from cobalance.graph.dataset.cliques import clique_totals
from cobalance.graph.dataset.compared import compare_by
from cobalance.graph.evaluations.reading import Evaluation
from cobalance.graph.queries.cooccurrences import read_cooccurrences
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.graph.queries.overview import Overview, read_overview
from cobalance.graph.queries.own_effects import read_summary
from cobalance.graph.queries.progress import DatasetProgress, dataset_progress
from cobalance.statistics.imbalance import COUNT
from cobalance.statistics.q_values import MAX_Q_VALUE
from cobalance.workflows.cells import cell_text
from cobalance.workflows.concept_graph.overview import Axis, concepts_of, node_id, of_overview
from cobalance.workflows.diagnose import findings
from cobalance.workflows.diagnose.facets import Facet, read_communities
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
STRIPS, STRIP_IMAGES, STRIP_PX, STRIP_CLASSES = 3, 8, 64, 4  # rows of the view Images
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
    first = st.container()
    _metrics(current)
    if _NODES in st.session_state:  # selected in the graph
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
    with first:
        _summary(current)  # last, as it reads all cliques: the rest of the page need not wait


def _choose_comparison(current: CurrentDataset) -> None:
    """Draw the choice between the dataset's classes and a concept, with or without which."""
    own = [name for name, _ in current.state.own_classes]
    classes = "no classes" if own == [ALL_IMAGES] else shorten(", ".join(own), 40)
    names = names_of(current, schema.CONCEPT)
    if not may_edit() or current.state.images_at is not None or not names:
        return
    now = current.state.compared[:1]
    chosen = st.selectbox(
        "Compare by",
        ["", *names],
        index=1 + names.index(now[0]) if now and now[0] in names else 0,
        format_func=lambda name: f"Compare by {name or classes}",
        label_visibility="collapsed",
        width=240,
        key=f"_compare {current.state.mined_as} {now}",
    )
    if chosen != "".join(now):
        compare_by(current.store, current.name, [chosen] if chosen else [])
        st.rerun()


def _headline(current: CurrentDataset) -> DeltaGenerator:
    """Draw the main finding in words; give the place of the next step."""
    totals = current.read(clique_totals)
    strongest = current.read(read_imbalances, Ranking(limit=1))
    row = None if strongest.empty else {str(k): v for k, v in strongest.iloc[0].items()}
    said = findings.headline(totals.leaning, totals.cliques, row, current.class_sizes, _emphasise)
    if findings.not_compared(current.class_sizes):
        found = current.read(read_cooccurrences, Ranking(max_q_value=MAX_Q_VALUE, limit=1))
        for top in found.to_dict("records"):
            said = f"{top['images']:,} images show {_emphasise(' + '.join(top['concepts']))}"
            said += f"; by chance {top['expected']:,.0f} would."
    with st.container(horizontal=True, vertical_alignment="center", key="_headline"):
        st.subheader(said, anchor=False, help=meaning("evidence"))
        _choose_comparison(current)
        return st.container(width="content")


def _next_step(current: CurrentDataset, progress: DatasetProgress) -> None:
    """Draw the button of the next step; where cliques are selected, there is another for them.

    Its place stays, so that the table does not move as the first row is ticked.
    """
    action, path = next_action(progress, leaning=current.read(clique_totals).leaning)
    hidden = bool(url.selected_cliques())
    with st.container(key="_next_step_hidden" if hidden else None, width="content"):
        if st.button(action, type="secondary" if hidden else "primary", key="_next_step"):
            url.go_to(path)


def _emphasise(name: str) -> str:
    return f"*{escape(shorten(name.strip() or '(no name)', 60).strip())}*"


def _summary(current: CurrentDataset) -> None:
    """Draw the combinations that stand on their own."""
    frame = current.read(read_summary)
    if frame.empty:
        return
    largest = frame.iloc[0]
    name, lead = shorten(" + ".join(largest["concepts"]), 60), largest["own_over"]
    more = len(frame) - 1
    points = f"{100 * largest['own_effect']:.1f} percentage points"
    label = f"**{escape(name)}** leans to {escape(lead)} by {points}"
    if more:
        label += f"; {more:,} more {'stands on its' if more == 1 else 'stand on their'} own"
    with st.expander(label):
        shown = summary_table(frame, current.class_sizes)
        shown["concepts"] = [" + ".join(names) for names in frame["concepts"]]
        shown = shown.map(lambda value: escape(cell_text(value))).rename(columns=escape)
        st.table(shown.set_index("group"))
        st.caption(escape(describe_summary(len(frame), current.read(clique_totals).cliques)))


def _metrics(current: CurrentDataset) -> None:
    totals = current.read(clique_totals)
    with st.container(horizontal=True, key="_metrics"):
        st.metric("Images", f"{sum(current.class_sizes.values()):,}")
        if len(current.class_sizes) <= MAX_BARS:
            for name, images in current.class_sizes.items():
                if name != ALL_IMAGES:
                    st.metric(escape(name), f"{images:,}")
        else:
            st.metric("Classes", f"{len(current.class_sizes):,}")
        st.metric("Common concepts", f"{totals.concepts:,}", help=meaning("common"))
        st.metric("Cliques", f"{totals.cliques:,}", help=meaning("clique"))
        st.metric(
            "Leaning to a class",
            f"{totals.leaning:,}",
            help=f"{findings.describe_leaning(totals.leaning, totals.unproven)}.",
        )
        made = partial(report, current.store, current.name, ReportOptions())
        download("Download report", made, f"{current.name}-report.html", key="_report")
    sizes, mining = current.class_sizes, current.mining
    told = [
        describe_compared(current.state.compared, sizes) or describe_mining(mining),
        *findings.mining_warnings(sizes, mining),
        f"{findings.describe_leaning(totals.leaning, totals.unproven)}.",
    ]
    st.caption(escape(" ".join(told)))


def _pictures(
    current: CurrentDataset, frame: pd.DataFrame, ranking: Ranking, model: Evaluation | None
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        views = [GRAPH_VIEW, IMAGES, HEAT_MAP, MATRIX, COMBINATIONS, TOGETHER, FILES]
        if len(current.class_sizes) < 3:
            views.remove(HEAT_MAP)  # one row says all of the other
        if current.state.compared:
            views = [COMBINATIONS, IMAGES, TOGETHER]
            st.caption("The graph and the matrix are of the dataset's own classes.")
        if findings.not_compared(current.class_sizes):
            views.sort(key=TOGETHER.__ne__)  # first: nothing leans to a class
        view = st.segmented_control(
            "Picture", views, default=views[0], **in_url("view"), required=True
        )
        edges, color = EDGES[1], BY_CLASS
        if view == GRAPH_VIEW:
            kinds = [BY_CLASS, BY_GROUP, *([] if model is None else [BY_ACCURACY])]
            with st.popover("", icon=":material/tune:", help="Links and colours of the graph"):
                edges = st.selectbox("Links", EDGES, index=1, **number_in_url("edges"))
                color = st.selectbox("Colour", kinds, **choice_in_url("color"))
        bars = BARS[0]
        if view == COMBINATIONS:
            # Counts of classes of unequal sizes say little beside each other.
            usual = BARS[are_unequal(current.class_sizes)]
            asked = st.selectbox("Bars", BARS, **named_in_url("bars", usual, BARS), width=130)
            bars = asked or usual
        between = view in (GRAPH_VIEW, MATRIX)
        axis = choose_axis(current) if between else None
    if view == HEAT_MAP:
        heat_map.draw(current)
        return
    if view == FILES:
        properties.draw(current, table.HEIGHT_PX - 60)
        return
    if view == TOGETHER:
        cooccurrences.draw(
            current, tuple(st.session_state[imbalance_filters.CONCEPTS]), table.HEIGHT_PX - 60
        )
        return
    if view == IMAGES:
        _draw_strips(current, frame)
        return
    if axis is None:
        first = replace(ranking, min_size=ranking.min_size or 2, limit=charts.MOST_COMBINATIONS)
        top = table.read_folded(current, first)
        charts.combinations(top, current.class_sizes, shares=bars == BARS[1])
        return
    selected = url.selected_cliques()
    wanted = {name for clique in selected for name in clique}.union(ranking.any_of)
    include = tuple(sorted(wanted.union(st.session_state[imbalance_filters.CONCEPTS])))
    if view == MATRIX:
        most = charts.MOST_IN_MATRIX
        pairs = current.read(
            read_overview, max_concepts=most, max_edges=most * (most - 1) // 2, include=include
        )
        charts.matrix(pairs, axis)
        return
    overview: Overview = current.read(read_overview, max_edges=edges, include=include)
    drawn = of_overview(overview, axis)
    judged, together = None, tuple[Facet, ...]()
    if color == BY_GROUP:
        together = current.read(read_communities)
        drawn = colors.color_by_community(drawn, together)
    if model is not None and color == BY_ACCURACY:
        judged = model_accuracy.accuracy(current, model, colors.cliques_of(drawn))
    if judged is not None:
        drawn = colors.color_by_accuracy(drawn, judged)
    filtered = st.session_state[imbalance_filters.CONCEPTS]
    found = concept_graph(
        drawn,
        key=GRAPH,
        highlighted=[[node_id(name) for name in clique] for clique in selected],
        cliques=[[node_id(name) for name in clique] for clique in frame.get("concepts", ())],
        groups=[[node_id(name) for name in ranking.any_of]],
        selected=[node_id(name) for name in filtered],
        height_px=table.HEIGHT_PX - 60,
        label="Concepts between the classes that they lean to",
    )
    chosen = concepts_of(found.nodes)
    if set(chosen) != set(filtered):
        st.session_state[_NODES] = chosen
        st.rerun()  # the filter stands above, and has been drawn already
    _offer_clique(current, filtered)
    if color == BY_GROUP:
        colors.draw_community_legend(together)
    if judged is not None:
        colors.draw_accuracy_legend(judged)
    _legend(axis, overview)


def _legend(axis: Axis, overview: Overview) -> None:
    hidden = overview.hidden_concepts
    left, right = (escape(side) for side in (axis.left_name, axis.right_name))
    st.caption(
        f"Left: more often in images of **{left}**; right: of **{right}**, by the difference of "
        "the two rates divided by their sum. Larger: more images. "
        + (f"{hidden:,} rarer concepts are not drawn. " if hidden else "")
        + "Click a concept to filter the table, more with Shift; hover over one for its strongest "
        "combinations."
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
    first = frame.head(STRIPS)
    for row, effect in zip(first.to_dict("records"), effect_texts(first), strict=True):
        clique = tuple(row["concepts"])
        title = shorten(" + ".join(clique), 60)
        st.markdown(f"**{escape(title)}** · {escape(effect)}")
        counts = {name: int(row[COUNT + name]) for name in current.class_sizes}
        names = sorted(counts, key=counts.__getitem__, reverse=True)[:STRIP_CLASSES]
        for name in names:
            share = counts[name] / current.class_sizes[name]
            st.caption(f"{escape(name)}: {counts[name]:,} images, {share:.1%} of the class")
            gallery.strip(current, clique, name, STRIP_IMAGES, STRIP_PX)
    if len(frame) > STRIPS:
        st.caption(f"The first {STRIPS} rows of the table; click a number in it for another's.")


def _offer_clique(current: CurrentDataset, concepts: Sequence[str]) -> None:
    """Draw the buttons for the selected concepts; nothing where none is selected."""
    clique = tuple(sorted(set(concepts)))
    if not clique:
        return
    mined = not details.read_row(current, clique).empty
    name = escape(shorten(" + ".join(clique), 60))
    with st.container(horizontal=True):
        st.button(
            f"Details of {name}",
            key="_graph_details",
            icon=":material/read_more:",
            on_click=url.show_images,
            args=(clique,),
        )
        details.plan_button(clique, mined=mined, key="_graph_to_plan")


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
            if st.button(
                f"**{step.name}**" if step.state == "next" else step.name,
                key=f"_step_{step.name}",
                icon=_ICONS[step.state],
                type="tertiary",
                help=_MEANINGS[step.state],
            ):
                url.go_to(step.page)
