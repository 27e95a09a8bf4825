"""What can be done with the concepts that are selected in the graph: details, and a plan."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.components.imbalances import details
from cobalance.app.web.state import url
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.theme import escape, shorten


def offer(current: CurrentDataset, concepts: Sequence[str]) -> None:
    """Draw the buttons for the selected concepts; nothing where none is selected."""
    clique = tuple(sorted(set(concepts)))
    if not clique:
        return
    mined = not details.read_row(current, clique).empty
    planned = clique in url.selected_cliques()
    name = escape(shorten(" + ".join(clique), 60))
    with st.container(horizontal=True):
        st.button(
            f"Details of {name}",
            key="_graph_details",
            icon=":material/read_more:",
            on_click=url.show_images,
            args=(clique,),
        )
        st.button(
            "Take out of the plan" if planned else "Add to plan",
            key="_graph_to_plan",
            icon=":material/remove:" if planned else ":material/add:",
            on_click=url.toggle_clique,
            args=(clique,),
            disabled=not mined,
            help=None if mined else details.NOT_MINED,
        )
