"""Orders to a language model from the page: who is asked, and how it gets on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from cobalance.app.web.state import session, tasks
from cobalance.app.web.state.access import may_edit
from cobalance.app.web.state.url import choice_in_url
from cobalance.app.web.widgets.messages import errors_kept, show_kept_error, viewer_note
from cobalance.app.web.widgets.task_progress import show_task
from cobalance.app.web.widgets.theme import shorten
from cobalance.graph.progress import Progress
from cobalance.workflows.label.propose import (
    ENDPOINT,
    ENDPOINT_HOW,
    LOCAL,
    available_models,
    open_model,
)

if TYPE_CHECKING:
    from cobalance.annotation.language.chat import ChatModel

Work = Callable[["ChatModel", Progress], str]
"""Asks a model; returns a sentence for the user."""
_PROBLEM = "_asking_problem"


def choose_model() -> str | None:
    """Draw the choice of the language model; None where there is none, which is said."""
    offered = available_models(session.settings())
    if not offered:
        st.caption(
            ":orange[:material/warning:] This app has no language model to ask. "
            f"{ENDPOINT_HOW} With the extra `models` installed it runs one itself."
        )
        return None
    if ENDPOINT not in offered:
        st.caption(ENDPOINT_HOW)
    chosen: str = st.segmented_control(
        "Language model",
        offered,
        default=offered[0],
        required=True,
        format_func=_name,
        **choice_in_url("annotate_model"),
    )
    if chosen == ENDPOINT:
        st.caption("Chosen by whoever runs this app. It gets texts, never images.")
    else:
        st.caption("Runs in this app, which takes long without a GPU; nothing leaves the machine.")
    return chosen


def _name(which: str) -> str:
    settings = session.settings()
    model = settings.cobalance_chat_model
    if which == LOCAL:
        own = model is not None and settings.cobalance_chat_url is None
        return f"{shorten(model or '', 60)} here" if own else "Qwen3-VL-2B here"
    return f"{shorten(model or 'the model', 60)} at an address"


def order_button(label: str, key: str, which: str | None, work: Work, *, ready: bool) -> None:
    """Draw the button that has a model asked in the background, and the state of that task.

    Parameters
    ----------
    key : str
        Of the task.
    which : str or None
        From `choose_model`.
    ready : bool
        Whether the form is filled in.
    """
    show_kept_error(_PROBLEM)
    running = show_task(key)
    st.button(
        label,
        type="primary",
        key=f"_order {key}",
        disabled=running or which is None or not ready or not may_edit(),
        on_click=_start,
        args=(label, key, which, work),
    )
    viewer_note("have a language model asked")


def _start(label: str, key: str, which: str, work: Work) -> None:
    with errors_kept(_PROBLEM):
        settings = session.settings()

        def open_and_ask(progress: Progress) -> str:
            progress("open the language model", 0, None)
            return work(open_model(settings, which), progress)

        tasks.start(key, label, open_and_ask)


def usage_of(asked: int, kept: int, tokens_in: int, tokens_out: int) -> str:
    """What an order took, as a sentence."""
    return (
        f"{asked:,} replies asked for, {kept:,} kept from before; "
        f"{tokens_in:,} tokens in, {tokens_out:,} out."
    )


def show_command(command: str) -> None:
    """Draw the command that does the same in a terminal."""
    with st.expander("The same in a terminal"):
        st.code(command, language="shell", wrap_lines=True)
        st.caption(
            "It runs a model on that machine. The command's help says how to ask one at an "
            "OpenAI-compatible address instead."
        )
