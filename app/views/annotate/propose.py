"""How to have attributes proposed: a command, as whoever runs it chooses what model is asked."""

import shlex

import streamlit as st

from app.views.state.session import CurrentDataset
from app.views.state.url import in_url


def show(current: CurrentDataset) -> None:
    """Draw the command that proposes attributes."""
    caption = st.text_input(
        "Caption that names the domain",
        **in_url("annotate_caption"),
        placeholder="a photo of a bird",
        max_chars=300,
        width=420,
    ).strip()
    st.markdown("A language model proposes attributes of the domain. Run in a terminal:")
    asked = shlex.join([caption or "a photo of a bird", "-d", current.name])
    st.code(
        f"cobalance annotate cost {asked}\ncobalance annotate propose {asked} --local",
        language="shell",
        wrap_lines=True,
    )
    st.caption(
        "`--local` runs a model on that machine. `--url` and `--model` ask one at an "
        "OpenAI-compatible address, which gets questions and never images. What it proposes then "
        "waits under “Review”."
    )
