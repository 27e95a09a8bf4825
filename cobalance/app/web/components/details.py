"""A combination in detail, in a drawer at the right: evidence, both classes' images, the plan."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.components import gallery
from cobalance.app.web.components.shown_images import OPENED
from cobalance.app.web.state import CurrentDataset, url
from cobalance.app.web.widgets import (
    button_type,
    choose_view,
    escape,
    meaning,
    minus_signs,
    row_values,
    shorten,
)
from cobalance.base import OptionError, UnknownNameError
from cobalance.graph import Ranking, count_in_images, read_imbalances, read_own_effects
from cobalance.statistics import COUNT
from cobalance.workflows import describe_lean, log_odds_texts, own_texts, q_text

WIDTH_PX = 820
NOT_MINED = (
    "These concepts are no clique: too few images show them together, or a class lacks one of them."
)
_OWN = "The part of the rate difference that smaller combinations within this one do not explain."
_CLOSED = "_details_closed"
# The parameter of the URL: before or after.
_VERSION = "images_version"
BEFORE, AFTER = "Before", "After"


def read_row(current: CurrentDataset, clique: url.Clique) -> pd.DataFrame:
    """Read a clique's row of the imbalance table; no row if it was not mined, or is empty."""
    if not current.is_mined or not clique:
        return pd.DataFrame()
    size = len(clique)
    ranking = Ranking(concepts=clique, min_size=size, max_size=size, limit=1)
    return current.read(read_imbalances, ranking)


def draw(
    current: CurrentDataset,
    repeats: Sequence[url.Clique] = (),
    after: CurrentDataset | None = None,
) -> None:
    """Draw the drawer of the combination that the URL names, if it names one.

    `repeats` are others that the same images show; `after` is a later version of the dataset, whose
    images can be seen instead.
    """
    selection = url.shown_images()
    if selection is None:
        gallery.keep_look()
        return

    clique, _ = selection
    row = read_row(current, clique)
    counts = _counts(current, clique, row)
    if counts:
        title = escape(shorten(" + ".join(clique), 60))
        drawer = st.dialog(title, width=WIDTH_PX, position="right", on_dismiss=_close)
        drawer(_draw)(current, row, counts, repeats, after)


def _counts(current: CurrentDataset, clique: url.Clique, row: pd.DataFrame) -> dict[str, int]:
    """Images of each class that show a combination; empty where they cannot be counted."""
    if not row.empty:
        return {name: int(row[COUNT + name].iloc[0]) for name in current.class_sizes}

    # The dataset may have no such concept, or keep a sample of its images.
    split = current.mining.split if current.is_mined else None
    with suppress(UnknownNameError, OptionError):
        counts = current.read(count_in_images, clique, split)
        return dict(zip(counts["class"], counts["images"].tolist(), strict=True))
    return {}


def times_closed() -> int:
    """Number of times the drawer was closed; in a chart's key, it resets the clicks."""
    return st.session_state.get(_CLOSED, 0)


def opened_by(
    key: str, cliques: Sequence[url.Clique], class_of: Callable[[str], str | None]
) -> dict[str, Any]:
    """Arguments of a table with a row for each combination, which a click on a number shows.

    `class_of` gives the class that a column is about; None for all.
    """
    key = f"{key} {times_closed()}"

    def open_() -> None:
        # A person who tabs into the table selects its first cell, which is no click on a number.
        cells = [cell for cell in st.session_state[key].selection.cells if cell[1] != "concepts"]
        if cells:
            row, column = cells[0]
            url.show_images(cliques[row], class_of(column))

    return {"key": key, "on_select": open_, "selection_mode": "single-cell"}


def _close() -> None:
    st.session_state[_CLOSED] = times_closed() + 1
    url.show_images(None)
    url.write(OPENED, [])


def _draw(
    current: CurrentDataset,
    row: pd.DataFrame,
    counts: Mapping[str, int],
    repeats: Sequence[url.Clique],
    after: CurrentDataset | None,
) -> None:
    """Draw the drawer's content: evidence, the way to the plan, and the images."""
    selection = url.shown_images()
    if selection is None:
        # The drawer was closed while something in it was clicked.
        st.rerun()
    clique, class_name = selection
    is_mined = not row.empty

    # The plan is about the dataset before, whichever version's images are drawn.
    if after is not None and _shows_after():
        current, row = after, read_row(after, clique)
        counts = _counts(after, clique, row)
    if not row.empty:
        _evidence(current, row)
    plan_button(clique, mined=is_mined, primary=True)

    if repeats:
        names = "; ".join(escape(shorten(" + ".join(repeat), 60)) for repeat in repeats)
        st.caption(f"The same images show {names}, and no others do.")
    chosen = class_name if class_name in counts else None
    gallery.draw(current, clique, counts, chosen, _compared_classes(row))


def _compared_classes(row: pd.DataFrame) -> tuple[str, ...]:
    """The classes with the highest and the lowest rate; none where the clique was not mined."""
    if row.empty or not row["effect"].iloc[0]:
        return ()
    return str(row["highest_rate"].iloc[0]), str(row["lowest_rate"].iloc[0])


def _shows_after() -> bool:
    """Draw the choice between the dataset before and after."""
    return choose_view("Version", (BEFORE, AFTER), _VERSION) == AFTER


def _evidence(current: CurrentDataset, row: pd.DataFrame) -> None:
    """Draw how strongly a mined clique leans, and how sure that is."""
    own_effects = current.read(read_own_effects, tuple(row["concepts"]))
    values = row_values(row)
    if values["effect"]:
        st.markdown(describe_lean(values, current.class_sizes, escape))
        high, low = values["highest_rate"], values["lowest_rate"]
        st.caption(escape(f"Compared: {high}, with the highest rate, and {low}, with the lowest"))

    with st.container(horizontal=True):
        st.metric("Rate difference", f"{values['effect']:+.1%}", help=meaning("effect"))
        st.metric(
            "Log odds ratio [95%]",
            minus_signs(log_odds_texts(row)[0]),
            help=meaning("log odds ratio"),
        )
        st.metric("q-value", q_text(values["q_value"]), help=meaning("q-value"))
        st.metric("Own effect", own_texts(own_effects)["own effect"][0], help=_OWN)


def plan_button(
    clique: url.Clique, *, mined: bool, primary: bool = False, key: str = "_details_to_plan"
) -> None:
    """Draw the button that adds a clique to the plan, or takes it out."""
    label, icon = "Add to plan", ":material/add:"
    if clique in url.selected_cliques():
        label, icon = "Take out of the plan", ":material/remove:"

    # The type never changes, as the button would lose the focus. The page behind the drawer is
    # drawn with the clique once the drawer is closed.
    st.button(
        label,
        key=key,
        icon=icon,
        type=button_type(primary),
        on_click=url.toggle_clique,
        args=(clique,),
        disabled=not mined,
        help=None if mined else NOT_MINED,
    )
