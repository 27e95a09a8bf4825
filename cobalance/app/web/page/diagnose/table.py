"""Diagnose's table: rows with the same images folded, its selection, and the number clicked."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import imbalance_columns, imbalance_view, model_accuracy
from cobalance.app.web.state import CurrentDataset, in_url, refreshing, url
from cobalance.app.web.widgets import draw_table, empty_state, escape, in_app
from cobalance.base import inflect, render
from cobalance.graph import (
    Evaluation,
    Ranking,
    clique_totals,
    filter_imbalances,
    read_folded_imbalances,
    read_imbalances,
    read_own_effects,
    read_standing,
)
from cobalance.statistics import COUNT, OWN, RATE
from cobalance.workflows import (
    describe_disagreements,
    describe_order,
    imbalance_verdicts,
    no_clique,
)

HEIGHT_PX = 560
# The query parameter: whether rows with the same images are shown.
REPEATS = "repeats"
# The query parameter: the row that the page's sentence, pictures and graph are about.
ROW = "row"
# The selection that the table has written into the URL itself.
_FROM_TABLE = "_from_table"
Selection = tuple[list[url.Clique], tuple[url.Clique, str | None] | None, url.Clique | None]
# Keys of the fragments that ticks change, and of those that another row changes.
NEXT_STEP, SELECTION, FINDING, GRAPH = "next step", "selection", "finding", "graph"
# A cell of this column is selected in the row that the page is about.
_CELL = "rate difference"


def read_rows(current: CurrentDataset, ranking: Ranking, place: DeltaGenerator) -> pd.DataFrame:
    """Read the rows, folded where images repeat; draw the choice to unfold them at a place."""
    frame = read_folded(current, ranking)
    if ranking.by == OWN:
        return frame

    n_repeats = int(frame["repeats"].map(len).sum())
    # Once ticked it stays, also where another filter leaves no repeats.
    if n_repeats or st.session_state.get(REPEATS):
        unfold = place.checkbox(
            f"Show repeats: {inflect(n_repeats, 'rows')} with the same images as others",
            **in_url(REPEATS),
            help="A combination within a larger one, with the same counts in every class, has the "
            "same images. Such rows are shown as the largest, and how many it stands for.",
        )
        if unfold:
            frame = current.read(read_imbalances, ranking)
    if frame.empty:
        return frame
    own_effects = current.read(read_own_effects, tuple(frame["concepts"]))
    return pd.concat([frame, own_effects], axis=1)


def read_folded(current: CurrentDataset, ranking: Ranking) -> pd.DataFrame:
    """Read the rows of an order; those with the same images are one."""
    if ranking.by == OWN:
        return filter_imbalances(current.read(read_standing), ranking)
    return current.read(read_folded_imbalances, ranking)


def draw(
    current: CurrentDataset, frame: pd.DataFrame, ranking: Ranking, model: Evaluation | None
) -> None:
    """Draw the table, whose ticked rows and the number that was clicked are in the URL."""
    if frame.empty:
        _draw_empty(current)
        return

    classes = list(current.class_sizes)
    cliques = frame["concepts"].tolist()
    accuracy = None
    if model is not None:
        accuracy = model_accuracy.accuracy(current, model, cliques)
    verdicts = imbalance_verdicts(current.store, current.name, frame)
    view = imbalance_view(frame, current.class_sizes, accuracy, verdicts, ranking.by)

    key = f"_table {hash(tuple(cliques))}"
    _select_as_in_url(key, cliques, classes)
    largest_rate = frame[[RATE + name for name in classes]].fillna(0).to_numpy().max()
    draw_table(
        view,
        HEIGHT_PX,
        imbalance_columns(classes, 100 * largest_rate, int(frame["size"].max())),
        key=key,
        on_select=partial(_take, key, cliques, classes),
        selection_mode=["multi-row", "single-cell"],
        alt="Imbalances",
    )
    order = describe_order(ranking.by, ranking.descending)
    st.caption(
        "Click a row for its pictures and graph, and a class's number for all its images; tick "
        f"rows to plan for them. {order} {describe_disagreements(frame)}"
    )


def _draw_empty(current: CurrentDataset) -> None:
    """Say why the table has no row: by the filter, or as no clique was counted."""
    if current.read(clique_totals).cliques:
        empty_state("No clique fits", "Loosen a filter above.")
    else:
        reason = no_clique(current.name, current.mining, current.class_sizes)
        empty_state("No clique", escape(render(reason, in_app)))


def _select_as_in_url(key: str, cliques: Sequence[url.Clique], classes: list[str]) -> None:
    """Set the table's selection to the URL's, unless the table wrote that itself."""
    state = _selection()
    if key in st.session_state and st.session_state.get(_FROM_TABLE) == state:
        return

    selected, open_images, row = state
    cell = _cell_of(open_images, cliques, classes)
    if cell is None and row in cliques:
        cell = cliques.index(row), _CELL
    st.session_state[key] = {
        "selection": {
            "rows": [i for i, clique in enumerate(cliques) if clique in selected],
            "columns": [],
            "cells": list(filter(None, [cell])),
        }
    }
    st.session_state[_FROM_TABLE] = state


def _take(key: str, cliques: Sequence[url.Clique], classes: list[str]) -> None:
    """Write ticked rows and the clicked cell into the URL; redraw the parts that depend on them."""
    selection = st.session_state[key].selection
    ticked_before, images_before, row_before = _selection()
    # Cliques that the filter hides stay selected.
    hidden = [clique for clique in url.selected_cliques() if clique not in set(cliques)]
    url.select_cliques([*hidden, *(cliques[i] for i in selection.rows)])

    for row, column in selection.cells:
        url.name_clique(ROW, cliques[row])
        for name in classes:
            if column in (COUNT + name, RATE + name):
                url.show_images(cliques[row], name)
    ticked, images, row_after = st.session_state[_FROM_TABLE] = _selection()

    # The drawer with the images is a part of the page.
    if images != images_before:
        return
    changed = [GRAPH]
    if row_after != row_before:
        changed.insert(0, FINDING)
    if ticked != ticked_before:
        changed += [NEXT_STEP, SELECTION]
    refreshing.redraw(*changed)


def _selection() -> Selection:
    """State of the table in the URL: ticked rows, the number clicked, and the row."""
    return url.selected_cliques(), url.shown_images(), url.named_clique(ROW)


def _cell_of(
    shown: tuple[url.Clique, str | None] | None, cliques: Sequence[url.Clique], classes: list[str]
) -> tuple[int, str] | None:
    """The table's cell whose images are shown; None if the table has no such cell."""
    if shown is None or shown[0] not in cliques:
        return None

    clique, name = shown
    row = cliques.index(clique)
    if name is None:
        return row, _CELL
    if name not in classes:
        return None

    return row, RATE + name


def repeats_of(frame: pd.DataFrame) -> tuple[url.Clique, ...]:
    """The cliques for which the row whose images are shown stands, too."""
    shown = url.shown_images()
    if shown is None or "repeats" not in frame:
        return ()
    repeats: dict[url.Clique, tuple[url.Clique, ...]] = dict(
        zip(frame["concepts"], frame["repeats"], strict=True)
    )
    return repeats.get(shown[0], ())
