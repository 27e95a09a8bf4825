"""Form that has a language model propose attributes of the dataset's domain."""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from cobalance.annotation.proposing.cost import chat_cost
from cobalance.annotation.proposing.options import ProposeOptions, preset_names, read_preset
from cobalance.app.web.annotate.asking import choose_model, order_button, show_command, usage_of
from cobalance.app.web.components.option_fields import draw_options
from cobalance.app.web.state import session
from cobalance.app.web.state.access import user_name
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import choice_in_url, in_url
from cobalance.generation.recipes.recipe import FormField
from cobalance.graph.progress import Progress
from cobalance.graph.wording import inflect
from cobalance.workflows.label.propose import ProposeOrder, open_embedder, propose_attributes

if TYPE_CHECKING:
    from cobalance.annotation.language.chat import ChatModel

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


def show(current: CurrentDataset) -> None:
    """Draw the form, what the order takes, and how far it is."""
    with st.container(border=True):
        left, right = st.columns(2)
        with left:
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
                required=True,
                format_func=lambda one: _PRESETS.get(one, one),
                **choice_in_url("annotate_preset"),
                help="GELDA's are the paper's, and keep every name; the default ones need half of "
                "the rounds.",
            )
        with right:
            which = choose_model()
        with st.expander("Numbers and options"), st.container(horizontal=True):
            usual = read_preset(preset).model_dump()
            changes = draw_options(_FIELDS, ProposeOptions, usual, f"propose_{preset}_")
    options = read_preset(preset, changes)
    cost = chat_cost(options, caption or _EXAMPLE)
    st.markdown(
        f"**{cost.calls:,} questions** at most, about {cost.tokens_in:,} tokens in and "
        f"{cost.tokens_out:,} out. Replies are kept: the same order again goes on where it stopped."
    )
    order = ProposeOrder(current.name, caption, options)
    name = user_name()
    folder = session.settings().folders().open_output()

    def work(chat: "ChatModel", progress: Progress) -> str:
        embed, compared_by = open_embedder()
        done = propose_attributes(
            current.store,
            folder,
            chat,
            order,
            embed=embed,
            compared_by=compared_by,
            created_by=name,
            progress=progress,
        )
        usage = done.usage
        left_out = f" Left out: {', '.join(done.left_out)}." if done.left_out else ""
        return (
            f"{inflect(done.attributes, 'attributes')} wait under “Review”, {done.flagged} of them "
            f"flagged.{left_out} "
            + usage_of(usage.asked, usage.kept, usage.tokens_in, usage.tokens_out)
        )

    order_button("Propose attributes", f"propose {current.name}", which, work, ready=bool(caption))
    show_command(_command(current.name, caption or _EXAMPLE, preset, changes))


def _command(dataset: str, caption: str, preset: str, changes: Mapping[str, Any]) -> str:
    """The commands that show the same order's cost, and give it."""
    words = [caption, "-d", dataset]
    if preset != "default":
        words += ["--preset", preset]
    costs = [*words]
    for name, value in changes.items():
        given = [_FLAGS[name]] if name in _FLAGS else [f"--{name}", str(value)]
        words += given
        if name in ("categories", "attributes", "rounds", "llm_prompts"):
            costs += given
    return (
        f"cobalance annotate cost {shlex.join(costs)}\n"
        f"cobalance annotate propose {shlex.join(words)} --local"
    )
