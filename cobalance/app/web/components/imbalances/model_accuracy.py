"""Accuracy of a model by clique, and the choice of its evaluation."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from cobalance.app.web.state import session
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.controls import choose_one
from cobalance.app.web.widgets.messages import show_error
from cobalance.base.errors import CobalanceError
from cobalance.graph.evaluations.reading import Evaluation, list_evaluations
from cobalance.workflows.evaluate.failures import accuracy_by_clique
from cobalance.workflows.evaluate.results import name_rows, newest

_MODEL = "model"


def choose(current: CurrentDataset) -> Evaluation | None:
    """Draw the choice of a model whose accuracy is shown; nothing without evaluations."""
    found = newest(list_evaluations(current.store, current.name))
    rows = name_rows(found)
    known = {
        rows[one.id] + ("" if one.seed is None else f", seed {one.seed}"): one
        for one in found
        if one.predictions_uri is not None
    }
    if not known:
        return None
    purpose = "On the test images that show each clique: where does it fail?"
    chosen = choose_one(
        "Accuracy of a model", sorted(known), _MODEL, "none", width=320, help=purpose
    )
    if chosen is None:
        return None
    if known[chosen].outdated:
        st.caption(":orange[:material/history:] Outdated: images have changed since.")
    return known[chosen]


def accuracy(
    current: CurrentDataset, one: Evaluation, cliques: Sequence[Sequence[str]]
) -> pd.DataFrame | None:
    """The model's accuracy on each clique; None, and the error is shown, without predictions."""
    folder = session.settings().folders().open_output()
    try:
        return current.keep(
            lambda: accuracy_by_clique(current.store, folder, one.id, cliques),
            *("accuracy", one.id, one.scored_at, tuple(map(tuple, cliques))),
        )
    except CobalanceError as error:
        show_error(error)
        return None
