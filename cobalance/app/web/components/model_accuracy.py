"""Accuracy of a model by clique, and the choice of its evaluation."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from cobalance.app.web.state import CurrentDataset, session
from cobalance.app.web.widgets import choose_one, show_error
from cobalance.base import CobalanceError
from cobalance.graph import Evaluation, list_evaluations
from cobalance.workflows import accuracy_by_clique, name_rows, newest

_MODEL = "model"


def choose(current: CurrentDataset) -> Evaluation | None:
    """Draw the choice of a model whose accuracy is shown; nothing without evaluations."""
    evaluations = newest(list_evaluations(current.store, current.name))
    rows = name_rows(evaluations)
    # Without stored predictions a model's accuracy by clique is not to be had.
    by_name = {
        with_seed(rows[evaluation.id], evaluation): evaluation
        for evaluation in evaluations
        if evaluation.predictions_uri is not None
    }
    if not by_name:
        return None

    purpose = "On the test images that show each clique: where does it fail?"
    chosen = choose_one(
        "Accuracy of a model", sorted(by_name), _MODEL, "none", width=320, help=purpose
    )
    if chosen is None:
        return None
    if by_name[chosen].outdated:
        st.caption(":orange[:material/history:] Outdated: images have changed since.")
    return by_name[chosen]


def with_seed(name: str, evaluation: Evaluation) -> str:
    """An evaluation's name with its seed, if it has one."""
    return name if evaluation.seed is None else f"{name}, seed {evaluation.seed}"


def accuracy(
    current: CurrentDataset, evaluation: Evaluation, cliques: Sequence[Sequence[str]]
) -> pd.DataFrame | None:
    """The model's accuracy on each clique; None, and the error is shown, without predictions."""
    folder = session.settings().folders().open_output()
    try:
        return current.keep(
            lambda: accuracy_by_clique(current.store, folder, evaluation.id, cliques),
            "accuracy",
            evaluation.id,
            evaluation.scored_at,
            tuple(map(tuple, cliques)),
        )
    except CobalanceError as error:
        show_error(error)
        return None
