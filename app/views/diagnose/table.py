"""Diagnose's table: rows with the same images folded, its selection, and the cell clicked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from app.services.audits.results import imbalance_verdicts
from app.services.findings import describe_disagreements, describe_order, no_clique
from app.views.components import model_accuracy
from app.views.components.imbalance_table import MAX_BARS, imbalance_columns, imbalance_view
from app.views.state import url
from app.views.state.session import CurrentDataset
from app.views.state.url import in_url
from app.views.widgets.messages import empty_state
from app.views.widgets.tables import draw_table
from app.views.widgets.theme import escape, shorten
from app.views.widgets.wording import in_app
from graph.dataset.cliques import clique_totals
from graph.diagnosis.evidence import OWN
from graph.diagnosis.imbalance import COUNT
from graph.errors import worded
from graph.evaluations.reading import Evaluation
from graph.queries.contrasts import read_contrasts
from graph.queries.imbalances import Ranking, read_folded_imbalances, read_imbalances
from graph.queries.own_effects import passing, read_own_effects, read_standing
from ingest.concepts.plurals import counted

HEIGHT_PX = 560
REPEATS = "repeats"  # the parameter of whether rows with the same images are shown
_FOCUSED = "concepts"  # the column that the browser selects when somebody tabs into the table


@dataclass(frozen=True)
class Cell:
    """A clicked cell: a clique, its images in each class, and one of the classes or all."""

    clique: tuple[str, ...]
    counts: Mapping[str, int]
    class_name: str | None


def read_rows(current: CurrentDataset, ranking: Ranking) -> pd.DataFrame:
    """Read the rows, those with the same images as one; draw the choice to see all."""
    folded = read_folded(current, ranking)
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


def read_folded(current: CurrentDataset, ranking: Ranking) -> pd.DataFrame:
    """Read the rows of an order; those with the same images are one."""
    if ranking.by == OWN:
        return passing(current.read(read_standing), ranking)
    return current.read(read_folded_imbalances, ranking)


def draw(
    current: CurrentDataset, frame: pd.DataFrame, ranking: Ranking, model: Evaluation | None
) -> Cell | None:
    """Draw the table and keep its selection; return the cell that was clicked."""
    if frame.empty:
        if current.read(clique_totals).cliques:
            empty_state("No clique fits", "Loosen a filter above.")
        else:
            why = no_clique(current.name, current.mining, current.class_sizes)
            empty_state("No clique", escape(worded(why, in_app)))
        return _shown_elsewhere(current, url.shown_images(), frame)
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


def name_repeats(frame: pd.DataFrame, clique: url.Clique) -> None:
    """Name the cliques that a row of the folded table stands for."""
    rows = zip(frame["concepts"], frame.get("repeats", ()), strict=False)
    alike = next((same for names, same in rows if names == clique), ())
    if alike:
        names = "; ".join(escape(shorten(" + ".join(one), 60)) for one in alike)
        st.caption(f"The same images show {names}, and no others do.")
