"""Accuracy of a model by clique, and the choice of its evaluation."""

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import streamlit as st

from cobalance.app.web.state import session
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import in_url
from cobalance.app.web.widgets.messages import show_error
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import CobalanceError
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
    chosen = st.selectbox(
        "Accuracy of a model",
        sorted(known),
        index=None,
        **in_url(_MODEL, known),
        placeholder="none",
        width=320,
        help="On the test images that show each clique: where does it fail?",
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
    try:
        found: pd.DataFrame = current.read(
            accuracy_of, one.id, one.scored_at, tuple(tuple(clique) for clique in cliques)
        )
    except CobalanceError as error:
        show_error(error)
        return None
    return found


def accuracy_of(
    store: GraphStore,
    _dataset: str,
    evaluation: str,
    _scored_at: datetime | None,
    cliques: tuple[tuple[str, ...], ...],
) -> pd.DataFrame:
    """Accuracy by clique; cached until the evaluation is scored anew."""
    folder = session.settings().folders().open_output()
    return accuracy_by_clique(store, folder, evaluation, cliques)
