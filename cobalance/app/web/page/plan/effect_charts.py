"""Effects of a plan on cliques: a chart, a table, and a comparison of planners."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from cobalance.app.web.components import change_columns, classes_by_column, details
from cobalance.app.web.widgets import (
    FIT_WIDTH,
    before_and_after,
    clique_labels,
    count_column,
    draw_columns,
    draw_table,
    escape,
    names_axis,
    shorten,
    text_column,
)
from cobalance.base import IntArray
from cobalance.counting import Cliques
from cobalance.generation import AFTER, BEFORE, Plan, effect_table, find_leaning
from cobalance.statistics import compare_cliques, find_rows, rate_differences
from cobalance.workflows import (
    CURVE,
    NEUTRAL,
    Planned,
    bits_text,
    change_text,
    class_colors,
    describe_widened,
    describe_worse,
    plan_warnings,
)

IN_PICTURE, IN_TABLE = 20, 1000
MOST_COLORS = 8
WIDENED = "Cliques, chosen or not, that lean to a class after, with a larger difference of rates."


def marks_of(table: pd.DataFrame, classes: tuple[str, ...]) -> pd.DataFrame:
    """Data of the chart: a row for each clique, before and after.

    `table` is from `cobalance.generation.planning.effects.effect_table`.

    Returns
    -------
    pandas.DataFrame
        ``clique`` (its members, shortened, each text unique), ``before`` and ``after``: with two
        classes the images of the second less those of the first, so that the sign is the side;
        with more the gap. ``side_before`` and ``side_after``: with two classes the one with more
        images, with more the one with too few; "balanced" where the gap is 0.
    """
    marks = pd.DataFrame({"clique": clique_labels(table["concepts"])})

    for time, counts in (("before", BEFORE), ("after", AFTER)):
        side = table[f"too_few_{time}"]
        if len(classes) == 2:
            first, second = classes
            marks[time] = table[counts + second].to_numpy() - table[counts + first].to_numpy()
            # Of two classes the other one has more where one has too few.
            side = side.map({first: second, second: first})
        else:
            marks[time] = table[f"gap_{time}"].to_numpy()

        marks[f"side_{time}"] = side.astype(object).where(side.notna(), BALANCED).to_numpy()
    return marks


BALANCED = "balanced"


def picture(
    before: Cliques, after: Cliques, rows: IntArray, measured: Mapping[str, int | float]
) -> None:
    """Draw how the gaps of the cliques with the largest ones change."""
    classes = before.classes
    marks = marks_of(effect_table(before, after, rows[:IN_PICTURE]), classes)
    st.altair_chart(
        _gap_chart(marks, classes).properties(height=alt.Step(20)),
        width="stretch",
        key="_plan_picture",
        alt="Gap of each clique before and after",
    )

    balanced_at = "in the middle" if len(classes) == 2 else "at 0"
    caption = f"Ring: before. Disc: after; {balanced_at} a clique is balanced."
    if len(rows) > IN_PICTURE:
        caption += f" The {IN_PICTURE} largest gaps of {len(rows):,} cliques that change."
    solved = f"{measured['solved']:,} of {measured['imbalanced']:,}"
    caption += f" Of the chosen cliques with a gap the plan closes {solved}."
    st.caption(caption)


def _gap_chart(marks: pd.DataFrame, classes: tuple[str, ...]) -> alt.LayerChart | alt.FacetChart:
    """Gaps from a ring to a disc, with two classes to the side of the one with more images."""
    if len(classes) == 2:
        left, right = (shorten(name, 20) for name in classes)
        title, number = f"← more {left} · images · more {right} →", "+,.0f"
        side_title, legend_title = "more", None
    else:
        title, number = "gap, in images", ",.0f"
        side_title, legend_title = "too few", "too few images of"

    base = alt.Chart(marks).encode(
        y=alt.Y(
            "clique:N",
            sort=marks["clique"].tolist(),
            title=None,
            axis=names_axis(230, grid=True, ticks=False, domain=False),
        ),
        tooltip=[
            alt.Tooltip("clique:N", title="clique"),
            alt.Tooltip("before:Q", format=number),
            alt.Tooltip("after:Q", format=number),
            alt.Tooltip("side_before:N", title=f"{side_title} before"),
            alt.Tooltip("side_after:N", title=f"{side_title} after"),
        ],
    )

    axis = alt.Axis(format=",.0f", tickCount=5, tickMinStep=1)

    def points(time: str, size: int, *, filled: bool) -> alt.Chart:
        marked = base.mark_point(size=size, filled=filled, opacity=1, strokeWidth=2)
        return marked.encode(
            x=alt.X(f"{time}:Q", title=title, axis=axis),
            color=_side_color(f"side_{time}", marks, classes, legend_title),
        )

    zero = alt.Chart().mark_rule(strokeWidth=1.5, color=NEUTRAL, aria=False)
    change = base.mark_rule(strokeWidth=1.5, color=NEUTRAL, opacity=0.7)
    return alt.layer(
        zero.encode(x=alt.datum(0)),
        change.encode(x="before:Q", x2="after:Q"),
        points("before", 50, filled=False),
        points("after", 70, filled=True),
    )


def _side_color(
    field: str, marks: pd.DataFrame, classes: tuple[str, ...], legend_title: str | None
) -> alt.Color:
    """The colour of a class, with a legend; all are neutral where there are too many classes."""
    sides = marks[["side_before", "side_after"]].to_numpy()
    drawn = [name for name in classes if (sides == name).any()]
    domain = [*drawn, BALANCED]

    # More colours cannot be told apart: the tooltip and the table below name the classes.
    if len(classes) != 2 and len(drawn) > MOST_COLORS:
        scale = alt.Scale(domain=domain, range=[NEUTRAL] * len(domain))
        return alt.Color(f"{field}:N", scale=scale, sort=domain, legend=None)

    colors = class_colors(classes)
    scale = alt.Scale(domain=domain, range=[*(colors[name] for name in drawn), NEUTRAL])
    legend = alt.Legend(
        orient="top",
        title=legend_title,
        columns=4,
        labelLimit=110,
        symbolType="circle",
        symbolFillColor=None,
    )
    return alt.Color(f"{field}:N", scale=scale, sort=domain, legend=legend)


def picture_rates(before: Cliques, after: Cliques, measured: Mapping[str, int | float]) -> None:
    """Draw how the largest rate differences of leaning cliques change."""
    rates_before = rate_differences(before.counts, before.class_sizes)[0]
    rates_after = rate_differences(after.counts, after.class_sizes)[0]
    # Cliques that do not lean count as 0, and so come last.
    strength = np.where(find_leaning(before), rates_before, 0)
    rows = np.argsort(-strength, kind="stable")[:IN_PICTURE]
    marks = pd.DataFrame(
        {
            "clique": clique_labels(before.take(rows).names()),
            "before": rates_before[rows],
            "after": rates_after[rows],
        }
    )

    base = alt.Chart(marks).encode(
        y=alt.Y("clique:N", sort=None, title=None, axis=names_axis(230, grid=True, ticks=False)),
        tooltip=[
            "clique:N",
            alt.Tooltip("before:Q", format=".1%"),
            alt.Tooltip("after:Q", format=".1%"),
        ],
    )
    chart = before_and_after(base, "rate difference", alt.Axis(format=".0%", tickCount=5))
    st.altair_chart(
        chart.properties(height=20 * len(marks), autosize=FIT_WIDTH),
        width="stretch",
        key="_plan_picture",
        alt="Rate difference of each clique before and after",
    )
    total = change_text(measured["difference_before"], measured["difference"], ".2f")
    st.caption(
        "Ring: before. Disc: after; at 0 all classes have the same rate. The sum of the rate "
        f"differences of the cliques that lean before: {total}."
    )


def table(planned: Planned, *, by_counts: bool) -> None:
    """Draw the cliques, chosen or not, that lean or have a gap, before and after the plan."""
    comparison = compare_cliques(
        planned.cliques,
        planned.after,
        by="counts" if by_counts else "rates",
        extends=True,
        limit=IN_TABLE,
    )
    cliques = comparison.cliques["concepts"].tolist()
    classes = classes_by_column(comparison)
    columns = change_columns(comparison, classes)
    chosen = np.isin(find_rows(planned.cliques, cliques), planned.chosen)
    chosen_column = st.column_config.CheckboxColumn(
        "Chosen", width=65, help="Whether the plan is for it."
    )

    columns = {"concepts": columns.pop("concepts"), "chosen": (chosen, chosen_column), **columns}
    draw_columns(
        columns,
        320,
        placeholder="-",
        alt="Effects",
        **details.opened_by("_plan_effects", cliques, classes.get),
    )
    if n_more := sum(comparison.left_out.values()):
        st.caption(f"The {IN_TABLE:,} largest changes are shown, of {n_more + len(cliques):,}.")


def planners(compared: pd.DataFrame, current: str) -> None:
    """Draw the cost and the effect of each planner.

    `compared` is from `cobalance.workflows.plan.compare.compare_all`; the plan is from `current`.
    """
    plans = compared.reset_index()
    plans.insert(0, "current", plans["planner"] == current)
    # Without any imbalanced clique nothing is solved, and the share is 0.
    plans["share"] = plans["solved"] / plans["imbalanced"].clip(lower=1)

    columns = {
        "current": st.column_config.CheckboxColumn("Shown", width=65),
        "planner": text_column("Planner", width=190),
        "images": count_column("Images"),
        "leaning": count_column("Lean after", help="Chosen cliques that lean to a class after."),
        "difference": st.column_config.NumberColumn(
            "Rate differences", format="%.2f", help="The sum of theirs."
        ),
        "widened": count_column("Widened", help=WIDENED),
        "remaining": count_column("Remaining", help="Chosen cliques with a gap after."),
        "gap_after": count_column("Gap left"),
        "widest_gap": count_column("Widest gap left"),
        "share": st.column_config.ProgressColumn(
            "Share solved", min_value=0, max_value=1, format="percent"
        ),
        "solved": count_column("Solved"),
        "imbalanced": count_column("Imbalanced"),
        "gap_before": count_column("Gap before"),
        "queries": count_column("Queries"),
        "dataset": count_column("Images after"),
        "seconds": st.column_config.NumberColumn("Seconds", format="%.2f"),
    }
    draw_table(
        plans, 320, columns, column_order=list(columns), key="_plan_planners", alt="Planners"
    )


def budgets(curve: pd.DataFrame, made: int) -> None:
    """Draw leaning cliques and their rate differences by budget, with the plan as a rule.

    `curve` is from `cobalance.workflows.plan.compare.budget_curve`.
    """
    titles = {"leaning": "cliques that lean", "difference": "sum of their rate differences"}
    for place, (measure, title) in zip(st.columns(2), titles.items(), strict=True):
        chart = _by_images(curve, alt.Y(f"{measure}:Q", title=title), ["planner", *CURVE], made)
        place.altair_chart(
            chart.properties(height=280),
            width="stretch",
            key=f"_plan_curve_{measure}",
            alt=f"Images to make against the {title}, within several budgets",
        )


def _by_images(
    curve: pd.DataFrame, y: alt.Y, tooltip: list[Any], made: int
) -> alt.LayerChart | alt.FacetChart:
    """A line by images to make, with the plan as a rule."""
    x = alt.X("images:Q", title="images to make", axis=alt.Axis(format=",.0f"))
    line = alt.Chart(curve).mark_line(point=True).encode(x=x, y=y, tooltip=tooltip)
    rule = alt.Chart().mark_rule(color=NEUTRAL, aria=False).encode(x=alt.datum(made))
    return alt.layer(rule, line)


def draw_cost(measured: Mapping[str, int | float], length: str) -> None:
    """Draw the cost of the plan and its effect.

    `measured` is from `cobalance.generation.planning.effects.measure_all`; `length` says how long
    one worker takes.
    """
    st.metric("Images to make", f"{measured['images']:,}")
    st.metric(
        "Cliques that lean",
        change_text(measured["leaning_before"], measured["leaning"]),
        help="Of the chosen cliques, before and after: q of at most 0.05.",
    )
    st.metric(
        "Largest difference",
        change_text(measured["largest_before"], measured["largest"], ".1%"),
        help="Of the rates of the chosen cliques that lean to a class before or after.",
    )

    # Measured on images, and so not of a dataset of counts alone.
    if "bits" in measured:
        st.metric(
            "Concepts alone tell",
            bits_text(measured),
            help="What a model that sees concepts alone tells of the class of real images that "
            "it has not seen, all classes weighing the same; 0 is no shortcut.",
        )
    st.metric("Time with one worker", length, help="An estimate, see below.")


def warn(before: Cliques, after: Cliques, plan: Plan, measured: Mapping[str, int | float]) -> None:
    """Warn of measures that the plan makes worse, of rates that it draws apart, and of its size."""
    if worse := describe_worse(measured):
        st.warning(escape(worse), icon=":material/warning:")
    if measured["widened"]:
        st.warning(escape(describe_widened(before, after)), icon=":material/warning:")

    for warning in plan_warnings(before, after, plan):
        st.caption(f":orange[:material/warning:] {warning}")
