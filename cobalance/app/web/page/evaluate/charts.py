"""Scores as texts and as bars: shares in per cent, means and deviations over seeds."""

from collections.abc import Iterable

import altair as alt
import pandas as pd
import streamlit as st

from cobalance.app.web.widgets import (
    distinct_labels,
    name_color,
    names_axis,
    unless_empty,
)
from cobalance.evaluation import mean_and_sd, mean_text
from cobalance.workflows import NEUTRAL, class_colors

MOST_GROUPS = 24
_BAR_PX, _FRAME_PX = 13, 90


def draw_bars(scores: pd.DataFrame, metric: str) -> None:
    """Draw a metric of each ``run`` and ``group``, of which scores have a row for each seed."""
    bars = mean_and_sd(scores, ("run", "group"))
    groups = list(dict.fromkeys(bars["group"]))[:MOST_GROUPS]
    names = dict(zip(groups, distinct_labels(groups, 44), strict=True))
    runs = list(dict.fromkeys(bars["run"]))

    def to_draw(frame: pd.DataFrame) -> pd.DataFrame:
        rows = frame[frame["group"].isin(groups)].copy()
        numbers = rows.columns.intersection(["mean", "low", "high", "value"])
        rows[numbers] *= _factor(metric)
        return rows.assign(group=rows["group"].map(names))

    title = _axis_title(metric)
    y = alt.Y("group:N", sort=list(names.values()), title=None, axis=names_axis(300))
    offset = alt.YOffset("run:N", sort=runs)
    color = name_color(
        "run", runs, class_colors(runs), legend=len(runs) > 1, labelLimit=340, columns=3
    )
    tooltips = [
        alt.Tooltip("run:N"),
        alt.Tooltip("group:N"),
        alt.Tooltip("mean:Q", format=".2f"),
        alt.Tooltip("low:Q", format=".2f"),
        alt.Tooltip("high:Q", format=".2f"),
        alt.Tooltip("seeds:Q", format="d"),
        alt.Tooltip("n:Q", format=",d", title="images"),
    ]

    base = alt.Chart(to_draw(bars)).encode(y=y, yOffset=offset)
    dots = to_draw(scores[["run", "group", "seed", "value"]].dropna())
    points = alt.Chart(dots).encode(y=y, yOffset=offset)
    chart = alt.layer(
        base.mark_bar(opacity=0.55).encode(
            x=alt.X("mean:Q", title=title, axis=alt.Axis(tickCount=6)),
            color=color,
            tooltip=tooltips,
        ),
        base.mark_rule(strokeWidth=1.5, color=NEUTRAL).encode(
            x="low:Q", x2="high:Q", tooltip=tooltips
        ),
        # On a bar of its own colour, in either theme: a ring tells a dot apart.
        points.mark_circle(size=36, opacity=1, stroke="white", strokeWidth=1.2).encode(
            x="value:Q",
            color=color,
            tooltip=[alt.Tooltip("run:N"), alt.Tooltip("seed:Q"), alt.Tooltip("value:Q")],
        ),
    ).properties(height=_FRAME_PX + len(groups) * (10 + _BAR_PX * len(runs)))
    st.altair_chart(chart, width="stretch", key="_evaluate_bars")

    left_out = bars["group"].nunique() - len(groups)
    more = unless_empty(" {:,} more groups are in the table.", left_out)
    st.caption(f"Bar: mean over seeds. Line: 95% interval of a seed, as mean. Dots: seeds.{more}")


ALL = "all images"
"""What a score of no group is called."""
PERCENT = frozenset(
    {
        "accuracy",
        "group_accuracy",
        "balanced_accuracy",
        "out_of_distribution",
        "worst_group",
    }
)
"""Metrics that are shown times 100; shortcut gaps are, too, in points."""


def fitting_width(names: Iterable[str]) -> int:
    """Width of a table's column in which names are not cut, unless they are very long."""
    return min(max(6 * len(name) for name in names) + 30, 360)


def is_share(metric: str) -> bool:
    """Whether a metric is a share of images, or a difference of shares.

    Examples
    --------
    >>> is_share("worst_group"), is_share("background_gap"), is_share("ratio")
    (True, True, False)
    """
    return metric in PERCENT or metric.endswith(("_gap", "_precision"))


def _factor(metric: str) -> int:
    return 100 if is_share(metric) else 1


def _axis_title(metric: str) -> str:
    return with_unit(metric.replace("_", " "), metric)


def with_unit(title: str, metric: str) -> str:
    """The title of a metric's numbers, with its unit if they are percentages."""
    return f"{title}, %" if is_share(metric) else title


def cells_of(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Text of means and deviations over seeds: a row for each ``group``, a column a ``run``."""
    bars = mean_and_sd(scores, ("run", "group"))
    texts = [
        mean_text(mean, sd, percent=is_share(metric)) or "-"
        for mean, sd in zip(bars["mean"], bars["sd"], strict=True)
    ]
    table = bars.assign(text=texts).pivot_table("text", "group", "run", aggfunc="first")

    # A pivot sorts by name: back to the order of the scores.
    return table.reindex(index=bars["group"].unique(), columns=bars["run"].unique()).fillna("")
