"""Forms that have a language model propose attributes, or find concepts in captions."""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from cobalance.annotation import ChatModel, ProposeOptions, chat_cost, preset_names, read_preset
from cobalance.app.web.components import draw_options
from cobalance.app.web.state import (
    CurrentDataset,
    choice_in_url,
    in_url,
    may_edit,
    number_in_url,
    session,
    tasks,
    user_name,
)
from cobalance.app.web.widgets import (
    empty_state,
    errors_kept,
    escape,
    in_app,
    shorten,
    show_kept_error,
    show_task,
    unless_empty,
    viewer_note,
)
from cobalance.base import DataError, Progress, inflect
from cobalance.generation import FormField
from cobalance.workflows import (
    ENDPOINT,
    ENDPOINT_HOW,
    LOCAL,
    available_models,
    count_captions,
    extract_concepts,
    open_embedder,
    open_model,
    propose_attributes,
)

Work = Callable[[ChatModel, Progress], str]
"""Asks a model; returns a sentence for the user."""


def _choose_model() -> str | None:
    """Draw the choice of the language model; None, with a caption, if none is available."""
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
    if which != LOCAL:
        return f"{shorten(model or 'the model', 60)} at an address"

    # With an address the model of the settings is the one there, not the one that runs here.
    if model is None or settings.cobalance_chat_url is not None:
        return "Qwen3-VL-2B here"
    return f"{shorten(model, 60)} here"


def _draw_order_button(label: str, key: str, which: str | None, work: Work, *, ready: bool) -> None:
    """Draw the button that has a model asked in the background, and the state of that task.

    `key` is the task's, `which` is from `_choose_model`, and `ready` is whether the form is filled
    in.
    """
    show_kept_error()
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
    with errors_kept():
        settings = session.settings()

        def open_and_ask(progress: Progress) -> str:
            progress("open the language model", 0, None)
            return work(open_model(settings, which), progress)

        tasks.start(key, label, open_and_ask)


def _show_command(command: str) -> None:
    """Draw the command that does the same in a terminal."""
    with st.expander("The same in a terminal"):
        st.code(command, language="shell", wrap_lines=True)
        st.caption(
            "It runs a model on that machine. The command's help says how to ask one at an "
            "OpenAI-compatible address instead."
        )


_EXAMPLE = "a photo of a bird"
_PRESETS = {"default": "Default", "gelda": "GELDA's own"}
_FIELDS = (
    FormField("categories", "Categories", "N: such as colour, or habitat."),
    FormField("attributes", "Attributes of each", "M: such as red, or wetland."),
    FormField("rounds", "Rounds", "How often each question is asked; what most rounds say stays."),
    FormField("temperature", "Temperature"),
    FormField("seed", "Seed", "Another one asks all questions anew."),
    FormField("noun", "Noun", "What images show.", "the caption's own"),
    FormField("llm_prompts", "The model writes captions", "One more call for each attribute."),
    FormField(
        "sensitive",
        "Also gender, ethnicity, age and the like",
        "They are then called perceived: images show how people look and not who they are.",
    ),
)
_FLAGS = {"llm_prompts": "--llm-prompts", "sensitive": "--sensitive"}


def show_propose(current: CurrentDataset) -> None:
    """Draw the form, its cost, and its progress."""
    with st.container(border=True):
        form, model = st.columns(2)
        with form:
            caption = st.text_input(
                "Caption that names the domain",
                **in_url("annotate_caption"),
                placeholder=_EXAMPLE,
                max_chars=300,
            ).strip()
            preset: str = st.segmented_control(
                "Questions",
                preset_names(),
                default="default",
                format_func=lambda name: _PRESETS.get(name, name),
                **choice_in_url("annotate_preset"),
                help="GELDA's are the paper's, and keep every name; the default ones need half of "
                "the rounds.",
            )
        with model:
            which = _choose_model()

        with st.expander("Numbers and options"), st.container(horizontal=True):
            usual = read_preset(preset).model_dump()
            changes = draw_options(_FIELDS, ProposeOptions, usual, f"propose_{preset}_")

    options = read_preset(preset, changes)
    cost = chat_cost(options, caption or _EXAMPLE)
    st.markdown(
        f"**{cost.calls:,} questions** at most, about {cost.tokens_in:,} tokens in and "
        f"{cost.tokens_out:,} out. Replies are kept: the same order again goes on where it stopped."
    )

    # Read here: the work runs in a thread, which has no session.
    name = user_name()
    folder = session.settings().folders().open_output()

    def work(chat: ChatModel, progress: Progress) -> str:
        report = propose_attributes(
            current.store,
            folder,
            chat,
            current.name,
            caption,
            options,
            compare=open_embedder(),
            created_by=name,
            progress=progress,
        )
        left_out = unless_empty(" Left out: {}.", ", ".join(report.left_out))
        return (
            f"{inflect(report.attributes, 'attributes')} wait under “Review”, {report.flagged} of "
            f"them flagged.{left_out} {report.usage.describe()}"
        )

    _draw_order_button(
        "Propose attributes", f"propose {current.name}", which, work, ready=bool(caption)
    )
    _show_command(_command(current.name, caption or _EXAMPLE, preset, changes))


def _command(dataset: str, caption: str, preset: str, changes: Mapping[str, Any]) -> str:
    """Commands that show the cost of the same order, and that place it."""
    words = [caption, "-d", dataset]
    if preset != "default":
        words += ["--preset", preset]

    cost_words = [*words]
    for name, value in changes.items():
        option = [f"--{name}", str(value)]
        if name in _FLAGS:
            option = [_FLAGS[name]]
        words += option
        # The other options change no number of questions, and the cost has no such option.
        if name in ("categories", "attributes", "rounds", "llm_prompts"):
            cost_words += option
    return (
        f"cobalance annotate cost {shlex.join(cost_words)}\n"
        f"cobalance annotate propose {shlex.join(words)} --local"
    )


def show_extract(current: CurrentDataset) -> None:
    """Draw the form, its cost, and its progress."""
    captions = session.settings().folders().captions
    with st.container(border=True):
        form, model = st.columns(2)
        with form:
            limit: int | None = st.number_input(
                "Only the first images, by id",
                1,
                None,
                None,
                **number_in_url("extract_limit"),
                placeholder="all with a caption",
            )
        with model:
            which = _choose_model()

    try:
        images, questions = current.read(count_captions, captions, limit)
    except DataError as error:
        # There are no captions, which is no failure of the page.
        empty_state("No captions to read", escape(error.render(in_app)))
        return
    st.markdown(
        f"**{questions:,} questions**, one for each different caption of "
        f"{inflect(images, 'images')}. A concept counts where its words stand in the caption, and "
        "once the run is accepted. Replies are kept: the same order again goes on where it stopped."
    )

    # Read here: the work runs in a thread, which has no session.
    name = user_name()
    folder = session.settings().folders().open_output()

    def work(chat: ChatModel, progress: Progress) -> str:
        report = extract_concepts(
            current.store,
            folder,
            chat,
            current.name,
            captions,
            limit=limit,
            created_by=name,
            progress=progress,
        )
        images_read = inflect(report.images, "images")
        return (
            f"{inflect(report.concepts, 'concepts')} in captions of {images_read};"
            f" {report.inferred:,} that no caption names are left out. Accept the run under “Runs”."
            f" {report.usage.describe()}"
        )

    _draw_order_button("Find concepts", f"extract {current.name}", which, work, ready=True)

    words = [current.name]
    if limit is not None:
        words += ["--max-images", str(limit)]
    _show_command(f"cobalance annotate extract {shlex.join(words)} --local")
