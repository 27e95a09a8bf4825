"""The embedding map: images on two principal axes, in class colours; a box selects some."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from cobalance.app.web.page.find.images import draw_images
from cobalance.app.web.state import CurrentDataset, url
from cobalance.app.web.widgets import name_color
from cobalance.workflows import class_colors

MOST_POINTS = 5_000
# The parameter of the URL with the selected part: x0, x1, y0, y1.
BOX = "find_box"


def in_box(places: pd.DataFrame, box: Sequence[float]) -> pd.DataFrame:
    """The images within a box, its edges included.

    Examples
    --------
    >>> places = pd.DataFrame({"id": ["a", "b"], "x": [0.0, 2.0], "y": [1.0, 1.0]})
    >>> in_box(places, [0, 1, 0, 1])["id"].tolist()
    ['a']
    """
    x0, x1, y0, y1 = box
    inside = places["x"].between(x0, x1) & places["y"].between(y0, y1)
    return places[inside].reset_index(drop=True)


def box_of(selection: Mapping[str, Any]) -> list[float] | None:
    """The box that a person has drawn, rounded as in links; None without one."""
    box = selection.get("box") or {}
    if not {"x", "y"} <= box.keys():
        return None
    return [round(float(end), 4) for axis in ("x", "y") for end in sorted(box[axis])]


def _box_in_url() -> list[float] | None:
    ends = next(iter(url.texts(BOX)), "").split(",")
    try:
        box = list(map(float, ends))
    except ValueError:
        return None
    return box if len(box) == 4 else None


def show(current: CurrentDataset, places: pd.DataFrame) -> None:
    """Draw the map, and the images in the box."""
    drawn = places
    if len(places) > MOST_POINTS:
        drawn = places.sample(MOST_POINTS, random_state=0)

    # The brush keeps the value that it has at first, the link's box: with another one Streamlit
    # draws a new chart.
    box = _box_in_url()
    first = st.session_state.setdefault(f"_box {current.name}", box)
    value = alt.Undefined if first is None else {"x": first[:2], "y": first[2:]}
    brush = alt.selection_interval(name="box", value=value)  # type: ignore[arg-type]
    names = sorted(set(places["class"]))
    chart = (
        alt.Chart(drawn, title="Images by their embeddings")
        .mark_circle(size=28, opacity=0.7)
        .encode(
            x=alt.X("x:Q", title="first principal axis"),
            y=alt.Y("y:Q", title="second principal axis"),
            color=name_color("class", names, class_colors(list(current.class_sizes))),
            tooltip=["id:N", "class:N"],
        )
        .add_params(brush)
        .properties(height=460)
    )
    state = st.altair_chart(chart, on_select="rerun", key="_find_map", width="stretch")

    n_hidden = len(places) - len(drawn)
    hidden = ""
    if n_hidden:
        hidden = f"{n_hidden:,} more points are not drawn, and are selected all the same. "
    st.caption(
        f"Principal component analysis of {len(places):,} vectors of length 1: images that are "
        f"alike are near each other. {hidden}Drag a box to see and tag the images in it."
    )

    # A box that is gone was taken away if one was drawn before; at first the link's counts.
    chosen = box_of(state.get("selection") or {})
    drawn_before = f"_box_drawn {current.name}"
    if chosen is not None:
        box, st.session_state[drawn_before] = chosen, True
    elif st.session_state.get(drawn_before):
        box = None
    url.write(BOX, [] if box is None else [",".join(f"{end:g}" for end in box)])
    if box is not None:
        draw_images(current, in_box(places, box), "Images in the box")
