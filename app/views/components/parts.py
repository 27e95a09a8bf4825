"""What pages share: how an error, an empty place and an imbalance table look."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
import streamlit as st

from app.views.components.theme import class_colors, interval_text, q_text, shorten
from app.views.state import session
from graph.diagnosis.imbalance import COUNT
from graph.errors import CobalanceError, StoreUnavailableError


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show our own errors as their message, which says what to do; the rest is a defect."""
    try:
        yield
    except StoreUnavailableError as error:
        session.forget_store()
        show_error(error)
        if session.store_is_local():
            st.caption("It is a local server: the next try starts it, which takes some seconds.")
        if st.button("Try again", key="_try_again", type="primary"):
            st.rerun()
    except CobalanceError as error:
        show_error(error)


@contextmanager
def errors_in_fragment() -> Iterator[None]:
    """The same inside a fragment that runs by itself, which `errors_shown` does not surround.

    Where the database is gone the whole page runs again, and so ends the fragment's runs: else
    they would try, and start a local database that somebody has stopped, every few seconds.
    """
    try:
        yield
    except StoreUnavailableError:
        st.rerun()
    except CobalanceError as error:
        show_error(error)


def show_error(error: CobalanceError) -> None:
    """Show an error's message as plain text: names in it may hold any characters."""
    with st.container(border=True):
        st.markdown(":red[:material/error:] **This did not work**")
        st.text(str(error))


def empty_state(
    title: str, advice: str, *, icon: str = ":material/info:", action: tuple[str, str] | None = None
) -> bool:
    """Say that there is nothing here yet, and what to do next (Markdown).

    Parameters
    ----------
    action : (str, str), optional
        Label and key of a button that does it.

    Returns
    -------
    bool
        Whether the button was pressed.
    """
    pressed = False
    with st.container(border=True, horizontal_alignment="center"):
        st.space("small")
        st.markdown(f"#### {icon} {title}", text_alignment="center")
        st.markdown(advice, text_alignment="center")
        if action is not None:
            label, key = action
            pressed = st.button(label, key=key)
        st.space("small")
    return pressed


def escape(name: str) -> str:
    r"""Make a name safe to stand in Markdown, whatever characters it has.

    Examples
    --------
    >>> print(escape("*a* <b> :red[c] $x$"))
    \*a\* \<b\> \:red\[c\] \$x\$
    """
    return "".join(f"\\{c}" if c in _MARKDOWN else " " if c in "\r\n\t" else c for c in name)


def bold(name: str, most: int = 60) -> str:
    r"""Make a name bold in Markdown, shortened, whatever characters it has.

    Examples
    --------
    >>> print(bold("cow "), bold("*"), bold(" "))
    **cow** **\*** **\(no name\)**
    """
    return f"**{escape(shorten(name.strip() or '(no name)', most).strip())}**"


_MARKDOWN = frozenset("\\`*_{}[]()<>#+-.!|~$:&^=\"'@/")


def imbalance_columns(classes: Sequence[str], most: int) -> dict[str, Any]:
    """Column configuration of an imbalance table: chips, counts as bars, numbers to the right."""
    config = st.column_config
    columns: dict[str, Any] = {
        "concepts": config.ListColumn("Concepts", width="medium"),
        "gap": config.NumberColumn(
            "Gap", format="localized", width=60, help="Images that the rarest class lacks."
        ),
        "too few": config.TextColumn(
            "Too few",
            width=80 if len(classes) <= MAX_BARS else 115,
            help="The under-represented class.",
        ),
        "size": config.NumberColumn("Size", width=50),
        "counts": config.BarChartColumn("Counts", y_min=0, width="small"),
        "log odds ratio": config.TextColumn("Log odds ratio [95%]", width=140),
        "q-value": config.TextColumn("q-value", width=70, help="Benjamini-Hochberg."),
    }
    for name, color in class_colors(classes).items():
        columns[COUNT + name] = config.ProgressColumn(
            name, min_value=0, max_value=max(most, 1), format="localized", width=80, color=color
        )
    return columns


MAX_BARS = 4  # classes with a column of their own


def imbalance_view(frame: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    """The columns of `read_imbalances` as a page shows them, most telling first."""
    shown = pd.DataFrame({"concepts": [list(names) for names in frame["concepts"]]})
    shown["gap"] = frame["gap"].to_numpy()
    if len(classes) <= MAX_BARS:
        for name in classes:
            shown[COUNT + name] = frame[COUNT + name].to_numpy()
    else:
        shown["counts"] = frame[[COUNT + name for name in classes]].to_numpy().tolist()
    shown["too few"] = frame["under_represented"].astype(object).fillna("-").to_numpy()
    shown["size"] = frame["size"].to_numpy()
    shown["log odds ratio"] = [
        interval_text(*values)
        for values in zip(
            frame["log_odds_ratio"],
            frame["log_odds_ratio_low"],
            frame["log_odds_ratio_high"],
            strict=True,
        )
    ]
    shown["q-value"] = [q_text(q) for q in frame["q_value"]]
    return shown
