"""Page Diagnose: imbalances as a table, charts and images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.concept_graph.component import concept_graph
from app.concept_graph.overview import Axis, concepts_of, node_id, of_overview
from app.report.contents import ReportOptions
from app.report.writing import report
from app.services.audits.results import imbalance_verdicts
from app.services.findings import (
    describe_disagreements,
    describe_leaning,
    describe_order,
    headline,
    no_clique,
    not_compared,
    small_classes,
)
from app.services.glossary import meaning
from app.services.reports import (
    are_unequal,
    cell_text,
    describe_mining,
    describe_summary,
    summary_table,
)
from app.services.steps import next_action, steps_of
from app.views.components import (
    accuracy_colors,
    axis_choice,
    gallery,
    imbalance_filters,
    mine_button,
    model_accuracy,
)
from app.views.components.imbalance_table import MAX_BARS, imbalance_columns, imbalance_view
from app.views.components.name_choices import names_of
from app.views.components.stepper import draw_steps
from app.views.diagnose import charts, heat_map
from app.views.state import session, url
from app.views.state.session import CurrentDataset
from app.views.state.url import choice_in_url, in_url, named_in_url, number_in_url
from app.views.widgets.controls import download
from app.views.widgets.messages import empty_state
from app.views.widgets.tables import draw_table
from app.views.widgets.theme import escape, shorten
from app.views.widgets.wording import in_app
from graph.database import schema
from graph.dataset.cliques import clique_totals
from graph.diagnosis.imbalance import COUNT
from graph.errors import worded
from graph.evaluations.reading import Evaluation
from graph.queries.contrasts import read_contrasts
from graph.queries.imbalances import Ranking, read_folded_imbalances, read_imbalances
from graph.queries.overview import Overview, read_overview
from graph.queries.own_effects import OWN, passing, read_own_effects, read_standing
from graph.queries.progress import DatasetProgress, dataset_progress
from graph.queries.summary import read_summary
from ingest.concepts.plurals import counted

GRAPH = "diagnose_graph"
_NODES = "_chosen_nodes"
REPEATS = "repeats"  # the parameter of whether rows with the same images are shown
_FOCUSED = "concepts"  # the column that the browser selects when somebody tabs into the table
GRAPH_VIEW, HEAT_MAP, MATRIX, COMBINATIONS = "Graph", "Heat map", "Matrix", "Combinations"
BARS = ("Images", "% of class")
EDGES = (100, 200, 400, 800)
COLORS = ("Class", "Accuracy")
HEIGHT_PX = 560


@dataclass(frozen=True)
class Cell:
    """A clicked cell: a clique, its images in each class, and one of the classes or all."""

    clique: tuple[str, ...]
    counts: Mapping[str, int]
    class_name: str | None


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
    _take_nodes_from_graph()
    ranking, of_groups = imbalance_filters.ranking(current, names_of(current, schema.CONCEPT))
    left, right = st.columns([8, 7])
    with left:
        model = model_accuracy.choose(current)
        frame = _rows(current, ranking)
        cell = _table(current, frame, ranking, model)
    with right:
        _pictures(current, ranking, model)
    with next_step:
        _next_step(current, progress)
    _selection_bar(cell)
    if cell is not None:
        gallery.show(current, cell.clique, cell.counts, cell.class_name)
        _same_images(frame, cell.clique)
    if of_groups is not None:
        imbalance_filters.choose_facet(current, of_groups)
    with first:
        _summary(current)  # last, as it reads all cliques: the rest of the page need not wait


def _headline(current: CurrentDataset) -> DeltaGenerator:
    """Draw the main finding in words; give the place of the next step."""
    totals = current.read(clique_totals)
    strongest = current.read(read_imbalances, Ranking(limit=1))
    row = None if strongest.empty else {str(k): v for k, v in strongest.iloc[0].items()}
    said = headline(totals.leaning, totals.cliques, row, current.class_sizes, _emphasised)
    with st.container(horizontal=True, vertical_alignment="center", key="_headline"):
        st.subheader(said, anchor=False, help=meaning("evidence"))
        return st.container(width="content")


def _next_step(current: CurrentDataset, progress: DatasetProgress) -> None:
    """Draw the button of the next step, unless cliques are selected, for which there is another."""
    action, path = next_action(progress, leaning=current.read(clique_totals).leaning)
    if not url.selected_cliques() and st.button(action, type="primary", key="_next_step"):
        url.go_to(path)


def _emphasised(name: str) -> str:
    return f"*{escape(shorten(name.strip() or '(no name)', 60).strip())}*"


def _rows(current: CurrentDataset, ranking: Ranking) -> pd.DataFrame:
    """Read the rows, those with the same images as one; draw the choice to see all."""
    folded = _folded(current, ranking)
    if ranking.by == OWN:
        return folded
    repeats, opened = int(folded["repeats"].map(len).sum()), False
    if repeats or st.session_state.get(REPEATS):
        opened = st.checkbox(
            f"Show repeats: {counted(repeats, 'rows')} with the same images as others",
            **in_url(REPEATS),
            help="A combination within a larger one, with the same counts in every class, has the "
            "same images. Such rows are shown as the largest, and how many it stands for.",
        )
    frame = current.read(read_imbalances, ranking) if opened else folded
    if frame.empty:
        return frame
    own = current.read(read_own_effects, tuple(frame["concepts"]))
    return pd.concat([frame, own], axis=1)


def _folded(current: CurrentDataset, ranking: Ranking) -> pd.DataFrame:
    """Read the rows of an order; those with the same images are one."""
    if ranking.by == OWN:
        return passing(current.read(read_standing), ranking)
    return current.read(read_folded_imbalances, ranking)


def _same_images(frame: pd.DataFrame, clique: url.Clique) -> None:
    """Name the cliques that a row of the folded table stands for."""
    rows = zip(frame["concepts"], frame.get("repeats", ()), strict=False)
    alike = next((same for names, same in rows if names == clique), ())
    if alike:
        names = "; ".join(escape(shorten(" + ".join(one), 60)) for one in alike)
        st.caption(f"The same images show {names}, and no others do.")


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
                st.metric(escape(name), f"{images:,}")
        else:
            st.metric("Classes", f"{len(current.class_sizes):,}")
        st.metric("Common concepts", f"{totals.concepts:,}", help=meaning("common"))
        st.metric("Cliques", f"{totals.cliques:,}", help=meaning("clique"))
        st.metric(
            "Leaning to a class",
            f"{totals.leaning:,}",
            help=f"{describe_leaning(totals.leaning, totals.unproven)}.",
        )
        made = partial(report, current.store, current.name, ReportOptions())
        download("Download report", made, f"{current.name}-report.html", key="_report")
    sizes, mining = current.class_sizes, current.mining
    told = [
        describe_mining(mining),
        not_compared(sizes, mining.split),
        small_classes(sizes, mining),
        f"{describe_leaning(totals.leaning, totals.unproven)}.",
    ]
    st.caption(escape(" ".join(filter(None, told))))


def _take_nodes_from_graph() -> None:
    """Filter the table by the concepts selected in the graph."""
    if _NODES in st.session_state:
        st.session_state[imbalance_filters.CONCEPTS] = st.session_state.pop(_NODES)


def _table(
    current: CurrentDataset, frame: pd.DataFrame, ranking: Ranking, model: Evaluation | None
) -> Cell | None:
    """Draw the table and keep its selection; return the cell that was clicked."""
    if frame.empty:
        if current.read(clique_totals).cliques:
            empty_state("No clique fits", "Loosen a filter above.")
        else:
            why = no_clique(current.name, current.mining, current.class_sizes)
            empty_state("No clique", escape(worded(why, in_app)))
        return None
    classes = list(current.class_sizes)
    cliques = frame["concepts"].tolist()
    judged = None if model is None else model_accuracy.accuracy(current, model, cliques)
    audited = imbalance_verdicts(current.store, current.name, frame)
    shown = imbalance_view(frame, current.class_sizes, judged, audited, ranking.by)
    selected, shown_images = url.selected_cliques(), url.shown_images()
    if (selected, shown_images) != st.session_state.get("_from_table"):
        # Cleared, or come from the URL: what the browser has ticked is out of date.
        st.session_state["_table_version"] = st.session_state.get("_table_version", 0) + 1
    cell_before = _cell_of(shown_images, cliques, classes)
    elsewhere = _shown_elsewhere(current, shown_images, frame) if cell_before is None else None
    order = describe_order(ranking.by, ranking.descending)
    st.caption(f"{order} {describe_disagreements(frame)}")
    most = int(frame[[COUNT + name for name in classes]].to_numpy().max())
    state = draw_table(
        shown,
        HEIGHT_PX,
        imbalance_columns(classes, most),
        key=f"_table {st.session_state['_table_version']} {hash(tuple(cliques))}",
        on_select="rerun",
        selection_mode=["multi-row", "single-cell"],
        selection_default={
            "selection": {
                "rows": [i for i, clique in enumerate(cliques) if clique in selected],
                "cells": [] if cell_before is None else [cell_before],
            }
        },
        alt="Imbalances",
    )
    rows = [cliques[i] for i in state.selection.rows]
    selected = [clique for clique in selected if clique not in set(cliques)] + rows
    url.select_cliques(selected)
    st.caption("Tick rows to plan for them. Click a number to see the images behind it.")
    cell = elsewhere
    cells = [one for one in state.selection.get("cells") or () if one[1] != _FOCUSED]
    if cells:
        row, column = cells[0]
        counts = {name: int(frame[COUNT + name].iloc[row]) for name in classes}
        of = column.removeprefix(COUNT) if column.startswith(COUNT) else None
        cell = Cell(cliques[row], counts, of)
    url.show_images(*((cell.clique, cell.class_name) if cell else (None,)))
    st.session_state["_from_table"] = (selected, url.shown_images())
    return cell


def _shown_elsewhere(
    current: CurrentDataset, shown: tuple[url.Clique, str | None] | None, frame: pd.DataFrame
) -> Cell | None:
    """The images that a picture or a link shows and the table has no cell for."""
    if shown is None or shown[1] not in (None, *current.class_sizes):
        return None
    clique, class_name = shown
    alike = frame.get("repeats", pd.Series([()] * len(frame)))
    rows = enumerate(zip(frame["concepts"], alike, strict=True))
    row = next((i for i, (names, same) in rows if clique in (names, *same)), None)
    if row is not None:
        counts = {name: int(frame[COUNT + name].iloc[row]) for name in current.class_sizes}
        return Cell(clique, counts, class_name)
    found = current.read(read_contrasts)
    if len(clique) > 1 or clique[0] not in found.concepts:
        return None
    of_concept = found.counts[found.concepts.index(clique[0])].tolist()
    return Cell(clique, dict(zip(found.class_sizes, of_concept, strict=True)), class_name)


def _cell_of(
    shown: tuple[url.Clique, str | None] | None, cliques: Sequence[url.Clique], classes: list[str]
) -> tuple[int, str] | None:
    """The table's cell whose images are shown; None if the table has no such cell."""
    if shown is None or shown[0] not in cliques:
        return None
    clique, name = shown
    if name is None:
        return cliques.index(clique), "gap"
    if name in classes and len(classes) <= MAX_BARS:
        return cliques.index(clique), COUNT + name
    return None


def _pictures(current: CurrentDataset, ranking: Ranking, model: Evaluation | None) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        views = [GRAPH_VIEW, HEAT_MAP, MATRIX, COMBINATIONS]
        if len(current.class_sizes) < 3:
            views.remove(HEAT_MAP)  # one row says all of the other
        view = st.segmented_control(
            "Picture", views, default=views[0], **in_url("view"), required=True
        )
        edges, color = EDGES[1], COLORS[0]
        if view == GRAPH_VIEW:
            edges = st.selectbox("Links", EDGES, index=1, **number_in_url("edges"), width=80)
            if model is not None:
                color = st.selectbox("Colour", COLORS, **choice_in_url("color"), width=120)
        bars = BARS[0]
        if view == COMBINATIONS:
            # Counts of classes of unequal sizes say little beside each other.
            usual = BARS[are_unequal(current.class_sizes)]
            asked = st.selectbox("Bars", BARS, **named_in_url("bars", usual, BARS), width=130)
            bars = asked or usual
        between = view in (GRAPH_VIEW, MATRIX)
        axis = axis_choice.choose_axis(current) if between else None
    if view == HEAT_MAP:
        heat_map.draw(current)
        return
    if axis is None:
        first = replace(ranking, min_size=ranking.min_size or 2, limit=charts.MOST_COMBINATIONS)
        top = _folded(current, first)
        charts.combinations(top, current.class_sizes, shares=bars == BARS[1])
        return
    selected = url.selected_cliques()
    wanted = {name for clique in selected for name in clique}
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
    judged = None
    if model is not None and color == COLORS[1]:
        judged = model_accuracy.accuracy(current, model, accuracy_colors.cliques_of(drawn))
    if judged is not None:
        drawn = accuracy_colors.colored_by_accuracy(drawn, judged)
    filtered = st.session_state[imbalance_filters.CONCEPTS]
    found = concept_graph(
        drawn,
        key=GRAPH,
        highlighted=[[node_id(name) for name in clique] for clique in selected],
        selected=[node_id(name) for name in filtered],
        height_px=HEIGHT_PX - 60,
        label="Concepts between the classes that they lean to",
    )
    chosen = concepts_of(found.nodes)
    if set(chosen) != set(filtered):
        st.session_state[_NODES] = chosen
        st.rerun()  # the filter stands above, and has been drawn already
    if judged is not None:
        accuracy_colors.legend(judged)
    _legend(axis, overview)


def _legend(axis: Axis, overview: Overview) -> None:
    hidden = overview.hidden_concepts
    left, right = (escape(side) for side in (axis.left_name, axis.right_name))
    st.caption(
        f"Left: more often in images of **{left}**; right: of **{right}**, by the difference of "
        "the two rates divided by their sum. Larger: more images. "
        + (f"{hidden:,} rarer concepts are not drawn. " if hidden else "")
        + "Click a concept to filter the table."
    )


def _selection_bar(cell: Cell | None) -> None:
    """Draw the selection and a link to the gallery at the bottom of the window."""
    selected: Sequence[tuple[str, ...]] = url.selected_cliques()
    if not selected and cell is None:
        return
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        if cell is not None:
            names = shorten(" + ".join(cell.clique), 60)
            st.markdown(
                f":material/arrow_downward: [Images with {escape(names)}](#{gallery.ANCHOR})",
                width="content",
            )
        if not selected:
            return
        st.space("stretch")
        number, noun = counted(len(selected), "cliques").split()
        st.markdown(f"**{number}** {noun} selected", width="content")
        st.button("Clear", on_click=url.clear, key="_clear")
        if st.button("Plan the missing images", type="primary", key="_to_plan"):
            url.go_to("plan")
