"""Parts of charts that several pages draw."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from cobalance.workflows import NEUTRAL

# Streamlit's default, "fit", makes the axes part of the height. Vega warns where that is a step.
FIT_WIDTH = alt.AutoSizeParams(type="fit-x", contains="padding")
"""Autosize of a chart as wide as its place and as high as its rows."""


def names_axis(most_px: int, **options: Any) -> alt.Axis:
    """A chart's axis with every name, with further options of `alt.Axis`."""
    return alt.Axis(labelLimit=most_px, labelFlush=False, labelOverlap=False, **options)


def name_color(
    field: str,
    names: Sequence[str],
    colors: Mapping[str, str],
    *,
    legend: bool = True,
    **options: Any,
) -> alt.Color:
    """The colours of some names, neutral for those without one, with a legend above the chart.

    `options` are further ones of `alt.Legend`.
    """
    scale = alt.Scale(domain=names, range=[colors.get(name, NEUTRAL) for name in names])
    look: dict[str, Any] = {"orient": "top", "title": None, "labelLimit": 160, **options}
    return alt.Color(
        f"{field}:N", sort=names, scale=scale, legend=alt.Legend(**look) if legend else None
    )


def before_and_after(
    base: alt.Chart, title: str, axis: alt.Axis
) -> alt.LayerChart | alt.FacetChart:
    """A ring at ``before`` and a disc at ``after``, with a line between them."""
    x = alt.X("before:Q", title=title, axis=axis)
    return alt.layer(
        base.mark_rule(strokeWidth=2, color=NEUTRAL).encode(x=x, x2="after:Q"),
        base.mark_point(size=45, filled=False, opacity=1, strokeWidth=2).encode(x=x),
        base.mark_point(size=55, filled=True, opacity=1).encode(x="after:Q"),
    )
