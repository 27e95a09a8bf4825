"""Scores before and after training on jobs' results."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from cobalance.app.web.evaluate.charts import ALL, draw_changes, is_share
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import choice_in_url
from cobalance.app.web.widgets.tables import draw_table
from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries.binding import bind_named

QUERY = "what-helped"


def show(current: CurrentDataset, test: str, stamps: Sequence[tuple[object, ...]]) -> None:
    """Draw models before and after each job, of one metric and test dataset; nothing without."""
    found: pd.DataFrame = current.read(changes_of, tuple(stamps))
    found = found[found["test"] == test]
    if found.empty:
        return
    st.subheader("Before and after", anchor=False)
    whole = found["group"] == ""
    metrics = list(dict.fromkeys(found[whole]["metric"])) or list(dict.fromkeys(found["metric"]))
    usual = "worst_group" if "worst_group" in metrics else metrics[0]
    metric = st.selectbox(
        "Metric of the change",
        metrics,
        index=metrics.index(usual),
        format_func=lambda name: name.replace("_", " "),
        **choice_in_url("evaluate_change", metrics),
        width=260,
    )
    rows = found[found["metric"] == metric]
    rows = rows.assign(
        what=[
            ", ".join(filter(None, parts))
            for parts in zip(
                rows["training_set"],
                rows["images"].replace("augmented", ""),
                rows["method"],
                rows["settings"],
                rows["group"],
                strict=True,
            )
        ]
    )
    left, right = st.columns([5, 6])
    with left:
        draw_changes(rows, metric)
    with right:
        _table(rows, metric)


def changes_of(
    store: GraphStore, dataset: str, _stamps: Sequence[tuple[object, ...]]
) -> pd.DataFrame:
    """Answer of the saved query ``what-helped``, cached until an evaluation is scored."""
    query, bound = bind_named(store, QUERY, {"dataset": dataset})
    return store.read_frame(query.text, **bound)


def _table(rows: pd.DataFrame, metric: str) -> None:
    factor, digits = (100, 1) if is_share(metric) else (1, 3)
    shown = rows[["training_set", "job", "planner", "method", "settings", "seeds"]].copy()
    shown["group"] = rows["group"].replace("", ALL)
    shown["difference"] = [
        _signed(value, limits, factor, digits)
        for value, limits in zip(rows["difference"], rows["interval"], strict=True)
    ]
    shown["outdated"] = rows["outdated"].astype(bool)
    text = st.column_config.TextColumn
    draw_table(
        shown if shown["outdated"].any() else shown.drop(columns="outdated"),
        360,
        {
            "training_set": text("Trained on", width=150),
            "job": text("Job", width=90),
            "planner": text("Planner", width=80),
            "method": text("Method", width=90),
            "settings": text("Settings", width=110),
            "seeds": st.column_config.NumberColumn("Seeds", width=50),
            "group": text("Group", width=120),
            "difference": text("Difference [95%]", width=150, alignment="right"),
        },
        key="_evaluate_changes_table",
        alt="What each job changed",
    )
    st.caption(f"The same as the saved query `{QUERY}` on the page Cypher.")


def _signed(value: float, limits: Sequence[float | None], factor: float, digits: int) -> str:
    """A difference with its interval as text; a dash where it is not known.

    Examples
    --------
    >>> _signed(0.1234, [0.03, 0.2026], 100, 1), _signed(12.34, [None, None], 1, 1)
    ('+12.3 [+3.0, +20.3]', '+12.3')
    """
    if pd.isna(value):
        return "-"
    known = [factor * one for one in limits if one is not None]
    within = f" [{', '.join(f'{one:+.{digits}f}' for one in known)}]" if known else ""
    return f"{factor * value:+.{digits}f}{within}"
