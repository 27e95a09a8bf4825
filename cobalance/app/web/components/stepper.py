"""The steps of a dataset, from loading to evaluating, each of which leads to its page."""

import streamlit as st

from cobalance.app.web.state import url
from cobalance.workflows.diagnose.steps import Step

_ICONS = {
    "done": ":material/check_circle:",
    "next": ":material/radio_button_checked:",
    "later": ":material/radio_button_unchecked:",
}
_MEANINGS = {"done": "Done.", "next": "The next step.", "later": "Not done yet."}


def draw_steps(steps: list[Step]) -> None:
    """Draw the steps in a row, with what is done and what comes next."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="_steps"):
        for number, step in enumerate(steps):
            if number:
                st.markdown(":material/chevron_right:", width="content")
            if st.button(
                f"**{step.name}**" if step.state == "next" else step.name,
                key=f"_step_{step.name}",
                icon=_ICONS[step.state],
                type="tertiary",
                help=_MEANINGS[step.state],
            ):
                url.go_to(step.page)
