"""Effects of a plan on cliques: a chart, a table, and a comparison of planners."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from cobalance.app.web.components.imbalances import details
from cobalance.app.web.widgets.charts import before_and_after, names_axis
from cobalance.app.web.widgets.tables import count_column, draw_columns, draw_table
from cobalance.app.web.widgets.theme import clique_labels, escape, shorten
from cobalance.base.arrays import IntArray
from cobalance.counting.cliques import Cliques
from cobalance.generation.planning.effects import AFTER, BEFORE, effect_table
from cobalance.generation.planning.lean import find_leaning
from cobalance.generation.planning.plan import Plan
from cobalance.statistics.association import rate_differences
from cobalance.workflows.cells import ARROW, change_text
from cobalance.workflows.concept_graph.colors import NEUTRAL, class_colors
from cobalance.workflows.plan.compare import CURVE
from cobalance.workflows.plan.summaries import describe_widened, describe_worse, plan_warnings

IN_PICTURE, IN_TABLE = 20, 1000
MOST_CLASSES = 4  # with columns of their own
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
    two = len(classes) == 2
    for time, counts in (("before", BEFORE), ("after", AFTER)):
        if two:
            first, second = (table[counts + name].to_numpy() for name in classes)
            marks[time] = second - first
            side = table[f"too_few_{time}"].map({classes[0]: classes[1], classes[1]: classes[0]})
        else:
            marks[time] = table[f"gap_{time}"].to_numpy()
            side = table[f"too_few_{time}"]
        marks[f"side_{time}"] = side.astype(object).where(side.notna(), BALANCED).to_numpy()
    return marks


BALANCED = "balanced"


def picture(before: Cliques, after: Cliques, rows: IntArray) -> None:
    """Draw how the gaps of the cliques with the largest ones change."""
    classes = before.classes
    marks = marks_of(effect_table(before, after, rows[:IN_PICTURE]), classes)
    colors = class_colors(classes)
    shown = [
        name for name in classes if (marks[["side_before", "side_after"]] == name).any(axis=None)
    ]
    domain = [*shown, BALANCED]
    two = len(classes) == 2
    title = (
        f"← more {shorten(classes[0], 20)} · images · more {shorten(classes[1], 20)} →"
        if two
        else "gap, in images"
    )
    if two or len(shown) <= MOST_COLORS:
        scale = alt.Scale(domain=domain, range=[*(colors[name] for name in shown), NEUTRAL])
        legend = alt.Legend(
            orient="top",
            title=None if two else "too few images of",
            columns=4,
            labelLimit=110,
            symbolType="circle",
            symbolFillColor=None,
        )
    else:  # too many to tell apart: the tooltip and the table below name them
        scale, legend = alt.Scale(domain=domain, range=[NEUTRAL] * len(domain)), None
    axis = alt.Axis(format=",.0f", tickCount=5, tickMinStep=1)
    base = alt.Chart(marks).encode(
        y=alt.Y(
            "clique:N",
            sort=marks["clique"].tolist(),
            title=None,
            axis=names_axis(230, grid=True, ticks=False, domain=False),
        ),
        tooltip=[
            alt.Tooltip("clique:N", title="clique"),
            alt.Tooltip("before:Q", format="+,.0f" if two else ",.0f"),
            alt.Tooltip("after:Q", format="+,.0f" if two else ",.0f"),
            alt.Tooltip("side_before:N", title="more before" if two else "too few before"),
            alt.Tooltip("side_after:N", title="more after" if two else "too few after"),
        ],
    )

    def points(time: str, *, filled: bool) -> alt.Chart:
        drawn: alt.Chart = base.mark_point(
            size=70 if filled else 50, filled=filled, opacity=1, strokeWidth=2
        ).encode(
            x=alt.X(f"{time}:Q", title=title, axis=axis),
            color=alt.Color(f"side_{time}:N", scale=scale, sort=domain, legend=legend),
        )
        return drawn

    rule = base.mark_rule(strokeWidth=1.5, color=NEUTRAL, opacity=0.7).encode(
        x="before:Q", x2="after:Q"
    )
    middle = (
        alt.Chart().mark_rule(strokeWidth=1.5, color=NEUTRAL, aria=False).encode(x=alt.datum(0))
    )
    chart = alt.layer(middle, rule, points("before", filled=False), points("after", filled=True))
    st.altair_chart(
        chart.properties(height=alt.Step(20)),
        width="stretch",
        key="_plan_picture",
        alt="Gap of each clique before and after",
    )
    balanced_at = "in the middle" if two else "at 0"
    caption = f"Ring: before. Disc: after; {balanced_at} a clique is balanced."
    if len(rows) > IN_PICTURE:
        caption += f" The {IN_PICTURE} largest gaps of {len(rows):,} cliques that change."
    st.caption(caption)


def picture_rates(before: Cliques, after: Cliques) -> None:
    """Draw how the largest rate differences of leaning cliques change."""
    was, becomes = (rate_differences(one.counts, one.class_sizes)[0] for one in (before, after))
    rows = np.argsort(-was * find_leaning(before), kind="stable")[:IN_PICTURE]
    marks = pd.DataFrame(
        {
            "clique": clique_labels(before.take(rows).names()),
            "before": was[rows],
            "after": becomes[rows],
        }
    )
    base = alt.Chart(marks).encode(
        y=alt.Y("clique:N", sort=None, title=None, axis=names_axis(230, grid=True, ticks=False)),
        tooltip=["clique:N", *(alt.Tooltip(f"{x}:Q", format=".1%") for x in ("before", "after"))],
    )
    chart = before_and_after(base, "rate difference", alt.Axis(format=".0%", tickCount=5))
    st.altair_chart(
        chart.properties(height=alt.Step(20)),
        width="stretch",
        key="_plan_picture",
        alt="Rate difference of each clique before and after",
    )
    st.caption("Ring: before. Disc: after; at 0 all classes have the same rate.")


def table(before: Cliques, after: Cliques, rows: IntArray, chosen: IntArray) -> None:
    """Draw every clique that the plan touches, chosen or not, before and after."""
    found = effect_table(before, after, rows[:IN_TABLE])
    config = st.column_config
    concepts = list(map(list, found["concepts"]))
    chosen_column = config.CheckboxColumn("Chosen", width=65, help="Whether the plan is for it.")
    columns: dict[str, tuple[Any, ColumnConfig]] = {
        "concepts": (concepts, config.ListColumn("Concepts", width="medium")),
        "chosen": (found.index.isin(chosen), chosen_column),
    }
    for time in ("before", "after"):
        columns[f"gap_{time}"] = (found[f"gap_{time}"].to_numpy(), count_column(f"Gap {time}", 85))
    for time in ("before", "after"):
        few = found[f"too_few_{time}"].astype(object).fillna("-").to_numpy()
        columns[f"too_few_{time}"] = (few, config.TextColumn(f"Too few {time}", width=105))
    of_class: dict[str, str] = {}
    if len(before.classes) <= MOST_CLASSES:
        for code, name in enumerate(before.classes):
            for time, prefix in (("before", BEFORE), ("after", AFTER)):
                column, title = f"{time} {code}", f"{shorten(name, 16)} {time}"
                columns[column] = (found[prefix + name].to_numpy(), count_column(title, 110))
                of_class[column] = name
    opened = details.opened_by("_plan_effects", found["concepts"].tolist(), of_class.get)
    draw_columns(columns, 320, alt="Effects", **opened)
    rest = rows[IN_TABLE:]
    if len(rest):
        left = effect_table(before, after, rest)
        st.caption(
            f"The {IN_TABLE:,} largest gaps are shown. The other {len(rest):,} cliques have "
            f"{int(left['gap_before'].sum()):,} images of gap before, and "
            f"{int(left['gap_after'].sum()):,} after."
        )


def planners(compared: pd.DataFrame, current: str) -> None:
    """Draw the cost and the effect of each planner.

    `compared` is from `cobalance.workflows.plan.compare.compare_all`; the plan is from `current`.
    """
    config = st.column_config
    shown = compared.reset_index()
    shown.insert(0, "current", shown["planner"] == current)
    shown["share"] = shown["solved"] / shown["imbalanced"].clip(lower=1)
    draw_table(
        shown,
        320,
        {
            "current": config.CheckboxColumn("Shown", width=65),
            "planner": config.TextColumn("Planner", width=190),
            "images": count_column("Images"),
            "queries": count_column("Queries"),
            "imbalanced": count_column("Imbalanced"),
            "solved": count_column("Solved"),
            "dataset": count_column("Images after"),
            "leaning": count_column(
                "Lean after", help="Chosen cliques that lean to a class after."
            ),
            "difference": config.NumberColumn(
                "Rate differences", format="%.2f", help="The sum of theirs."
            ),
            "remaining": count_column("Remaining", help="Chosen cliques with a gap after."),
            "widest_gap": count_column("Widest gap left"),
            "seconds": config.NumberColumn("Seconds", format="%.2f"),
            "share": config.ProgressColumn(
                "Share solved", min_value=0, max_value=1, format="percent"
            ),
            "gap_before": count_column("Gap before"),
            "gap_after": count_column("Gap left"),
            "widened": count_column("Widened", help=WIDENED),
        },
        column_order=[
            *("current", "planner", "images", "leaning", "difference", "widened", "remaining"),
            *("gap_after", "widest_gap", "share", "solved", "imbalanced", "gap_before", "queries"),
            *("dataset", "seconds"),
        ],
        key="_plan_planners",
        alt="Planners",
    )


def draw_curve(curve: pd.DataFrame, made: int) -> None:
    """Draw the remaining rate differences by number of images, with the plan as a rule.

    `curve` is from `cobalance.generation.planning.effects.plan_curve`.
    """
    title = "rate differences left"
    tooltip = [
        alt.Tooltip("images:Q", format=",.0f"),
        alt.Tooltip("difference:Q", format=",.2f", title=title),
    ]
    y = alt.Y("difference:Q", title=title, scale=alt.Scale(zero=True))
    st.altair_chart(
        _by_images(curve, y, tooltip, made).properties(height=190),
        width="stretch",
        key="_plan_curve",
        alt="Images to make against the rate differences that are left",
    )
    st.caption(
        "The sum of the rate differences of the cliques that lean to a class now, after the first "
        "so many images. The rule is the plan."
    )


def budgets(curve: pd.DataFrame, made: int) -> None:
    """Draw leaning cliques and their rate differences by budget, with the plan as a rule.

    `curve` is from `cobalance.workflows.plan.compare.budget_curve`.
    """
    for place, measured, title in zip(
        st.columns(2),
        ("leaning", "difference"),
        ("cliques that lean", "sum of their rate differences"),
        strict=True,
    ):
        chart = _by_images(curve, alt.Y(f"{measured}:Q", title=title), ["planner", *CURVE], made)
        place.altair_chart(
            chart.properties(height=280),
            width="stretch",
            key=f"_plan_curve_{measured}",
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
    """Draw the plan's images, leaning cliques and time.

    `measured` is from `cobalance.generation.planning.effects.measure_all`; `length` says how long
    one worker takes.
    """
    st.metric("Images to make", f"{measured['images']:,}")
    st.metric(
        "Cliques that lean",
        change_text(measured["leaning_before"], measured["leaning"]),
        help="Of the chosen cliques, before and after: q of at most 0.05.",
    )
    st.metric("Time with one worker", length, help="An estimate, see below.")


def draw_effects(measured: Mapping[str, int | float], touched: int) -> None:
    """Draw the plan's effect on cliques, and on a classifier that sees concepts alone."""
    with st.container(horizontal=True, key="_plan_metrics"):
        st.metric("Queries", f"{measured['queries']:,}")
        st.metric(
            "Rate differences",
            f"{measured['difference_before']:.2f} {ARROW} {measured['difference']:.2f}",
            help="The sum of those of the chosen cliques that lean to a class, before and after.",
        )
        st.metric(
            "Largest difference",
            f"{measured['largest_before']:.1%} {ARROW} {measured['largest']:.1%}",
            help="Of these, the largest.",
        )
        if "told" in measured:
            st.metric(
                "Concepts alone tell",
                f"{measured['told_before']:.1%} {ARROW} {measured['told']:.1%}",
                help="How often a model that sees concepts alone tells the class of real images "
                "that it has not seen, all classes weighing the same: "
                f"{measured['bits_before']:.2f} {ARROW} {measured['bits']:.2f} bits.",
            )
        st.metric("Count gaps solved", f"{measured['solved']:,} of {measured['imbalanced']:,}")
        st.metric(
            "Cliques that change", f"{touched:,}", help="Chosen or not: parts of larger ones, too."
        )
        st.metric("Widened", f"{measured['widened']:,}", help=WIDENED)


def warn(before: Cliques, after: Cliques, plan: Plan, measured: Mapping[str, int | float]) -> None:
    """Warn of measures that the plan makes worse, of rates that it draws apart, and of its size."""
    if worse := describe_worse(measured):
        st.warning(escape(worse), icon=":material/warning:")
    if measured["widened"]:
        st.warning(escape(describe_widened(before, after)), icon=":material/warning:")
    for warning in plan_warnings(before, after, plan):
        st.caption(f":orange[:material/warning:] {warning}")
