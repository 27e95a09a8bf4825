"""Add the clique of the concepts that are selected in the graph to a plan."""

from collections.abc import Sequence

import streamlit as st

from app.views.state import url
from app.views.state.session import CurrentDataset
from app.views.widgets.theme import escape, shorten
from graph.queries.imbalances import Ranking, read_imbalances


def offer(current: CurrentDataset, concepts: Sequence[str]) -> None:
    """Draw the button for the selected concepts; nothing where none is selected."""
    clique = tuple(sorted(set(concepts)))
    if not clique:
        return
    size = len(clique)
    exactly = Ranking(concepts=clique, min_size=size, max_size=size, limit=1)
    mined = not current.read(read_imbalances, exactly).empty
    planned = clique in url.selected_cliques()
    name = escape(shorten(" + ".join(clique), 60))
    st.button(
        f"Take {name} out of the plan" if planned else f"Add {name} to the plan",
        key="_graph_to_plan",
        icon=":material/remove:" if planned else ":material/add:",
        on_click=_toggle,
        args=(clique,),
        disabled=not mined,
        help=None
        if mined
        else "These concepts are no clique: too few images show them together, "
        "or a class lacks one of them.",
    )


def _toggle(clique: url.Clique) -> None:
    before = url.selected_cliques()
    if clique in before:
        url.select_cliques([one for one in before if one != clique])
    else:
        url.select_cliques([*before, clique])
