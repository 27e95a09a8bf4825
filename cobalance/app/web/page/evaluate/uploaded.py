"""Score an uploaded table of predictions, whoever's model made it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.page.evaluate.charts import ALL, draw_bars, fitting_width
from cobalance.app.web.page.evaluate.examples import MODEL
from cobalance.app.web.state import CurrentDataset, accept_uploads, may_edit, session, user_name
from cobalance.app.web.widgets import download, draw_table, edits, escape, show_kept_error
from cobalance.base import inflect, readable
from cobalance.evaluation import Inputs, Scored, Shortcuts
from cobalance.workflows import (
    keep_scores,
    read_tables,
    score_tables,
    temporary_files,
    to_csv,
    with_dataset,
)

_KEPT, _SAVED = "_scored_table", "_scored_saved"
_OF_DATASET, _OF_TABLE = "This dataset", "The table itself"


@dataclass(frozen=True, eq=False)
class _Table:
    """A scored table, with `shortcuts` unless the table has groups itself."""

    inputs: Inputs
    scored: Scored
    shortcuts: Shortcuts | None


def show(current: CurrentDataset) -> None:
    """Draw the place for the file, and its scores."""
    if not may_edit():
        st.info(
            "Only editors may send files. The command `cobalance evaluate score FILE` scores a "
            "table without the app.",
            icon=":material/lock:",
        )
        return

    accept_uploads()
    with st.container(border=True):
        files = st.file_uploader(
            "Table of predictions",
            ["csv", "tsv", "parquet", "json"],
            key="_predictions_file",
            help="CSV or Parquet: **image**, **class_name**, and **predicted** or "
            "**p\\_&lt;class&gt;**; of several runs **method** and **seed**, of a confusion table "
            "**n**. Or a detector's results, COCO's JSON, with the COCO file of the objects.",
            accept_multiple_files=True,
        )
        source = st.segmented_control(
            "Groups from",
            (_OF_DATASET, _OF_TABLE),
            default=_OF_DATASET,
            required=True,
            key="_predictions_groups",
            help="Shortcuts of the images: the concepts of this dataset that lean to a class, or "
            "columns of the table with common, uncommon and none.",
        )
    if not files:
        return

    table = _scored(current, files, of_dataset=source == _OF_DATASET)
    _draw(table.scored)
    # Without predictions of images there is nothing that the dataset's graph could hold.
    if source == _OF_DATASET and table.inputs.get("predictions") is not None:
        _save(current, table)


def _scored(current: CurrentDataset, files: list[Any], *, of_dataset: bool) -> _Table:
    """Score the files, once until others are sent or the dataset changes."""
    about = ([file.file_id for file in files], of_dataset, current.state)
    cached = st.session_state.get(_KEPT)
    if cached is not None and cached[0] == about:
        return cached[1]

    # A COCO file of objects is a JSON object, and a detector's results are a list.
    contents = {Path(file.name).name: file.getvalue() for file in files}
    with st.spinner("Scoring"), temporary_files(contents) as folder:
        paths = {}
        for name, content in contents.items():
            paths["objects" if content[:1] == b"{" else "predictions"] = folder / name
        inputs = read_tables(paths)
    shortcuts = None
    if of_dataset:
        inputs, shortcuts = with_dataset(current.store, current.name, None, inputs)

    table = _Table(inputs, score_tables(inputs), shortcuts)
    st.session_state[_KEPT] = about, table
    return table


def _draw(scored: Scored) -> None:
    """Draw bars of one metric, the table of all, and why other metrics are left out."""
    frame = scored.frame
    metrics = list(dict.fromkeys(frame["metric"]))
    metric = st.selectbox("Metric", metrics, format_func=readable, width=260)
    runs = frame["method"].replace("", "predictions")
    named = frame.assign(run=runs, group=frame["group"].replace("", ALL), outdated=False)

    bars, table = st.columns([6, 7])
    with bars:
        draw_bars(named[named["metric"] == metric], metric)
    with table:
        _table(frame)
    if scored.left_out:
        with st.expander(f"{inflect(len(scored.left_out), 'metrics')} left out"):
            for name, reason in scored.left_out.items():
                st.caption(f"**{escape(readable(name))}**: {escape(reason)}")


def _table(frame: pd.DataFrame) -> None:
    """Draw all scores, without columns that tell nothing apart."""
    constant = [name for name in ("method", "seed") if len(set(frame[name])) == 1]
    rows = frame.drop(columns=constant).assign(
        metric=frame["metric"].map(readable), group=frame["group"].replace("", ALL)
    )
    columns = {
        name: st.column_config.NumberColumn(title, format="%.4f", width=80)
        for name, title in (("value", "Value"), ("low", "From, 95%"), ("high", "To, 95%"))
    }
    columns["n"] = st.column_config.NumberColumn("Images", format="localized", width=65)
    columns |= {
        name: st.column_config.TextColumn(name.capitalize(), width=fitting_width(rows[name]))
        for name in ("metric", "group")
    }
    draw_table(rows, 420, columns, key="_scored_rows", alt="Scores")
    download("CSV", lambda: to_csv(frame), "scores.csv", key="_scored_csv")


def _save(current: CurrentDataset, table: _Table) -> None:
    """Draw the button that keeps the scores in the graph; once they are, the way to them."""
    show_kept_error()

    @edits
    def keep() -> None:
        folder = session.settings().folders().open_output()
        st.session_state[_SAVED] = (
            table,
            keep_scores(
                current.store,
                folder,
                current.name,
                table.inputs,
                table.scored.frame,
                table.shortcuts,
                created_by=user_name(),
            ),
        )

    kept_table, ids = st.session_state.get(_SAVED, (None, []))
    if kept_table is not table:
        st.button("Keep in the graph", key="_scored_keep", on_click=keep)
        return
    st.success("Kept in the graph, among the results.", icon=":material/check:")
    st.button(
        "See the result",
        key="_scored_see",
        icon=":material/analytics:",
        on_click=st.session_state.update,
        args=({"evaluate_view": "Results", MODEL: ids[0]},),
    )
