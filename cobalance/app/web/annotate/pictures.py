"""Example images of an attribute, of high, middling and low score, with the boxes of detectors."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.annotation.labelling.labels import Example, examples
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.app.web.components.shown_images import draw_one, image_files
from cobalance.app.web.state import session
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.messages import show_error
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.base.errors import CobalanceError
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import read_image_files
from cobalance.vision.images.region_rows import SCHEMA
from cobalance.workflows.label.decide import open_scores

_EACH = 2
_WIDTH_PX = 150  # two side by side on a phone
_ROW_PX = 110


def show(current: CurrentDataset, attribute: Mapping[str, Any]) -> None:
    """Draw images of the newest labelling run that has looked for an attribute, if there is one."""
    for run in list_runs(current.store, current.name):
        if not run.has_labels:
            continue
        settings = LabelSettings.read(run.settings)
        for at, one in enumerate(settings.attributes):
            same = (one.category, one.caption) == (attribute["category"], attribute["caption"])
            if same or one.concept in (attribute["concept"], attribute["name"]):
                draw_examples(current, run.id, at)
                return
    st.caption("No labelling run has looked for it yet, so there are no example images.")


def draw_examples(current: CurrentDataset, run: str, at: int) -> None:
    """Draw example images of one of a run's attributes, by its place."""
    try:
        found: pd.DataFrame = current.read(examples_of, run, at)
    except CobalanceError as error:
        show_error(error)
        return
    has_files = bool(session.image_roots()) and found["uri"].notna().any()
    if not has_files:
        st.caption("Names only: COBALANCE_IMAGES does not say where the files are.")
    boxes = found[found["w_px"].notna()].assign(crowd=False).reindex(columns=SCHEMA.names)
    with st.container(horizontal=True):
        for row in found.to_dict("records"):
            told = f"{row['rank']} {row['score']:.3f}"
            with st.container(width=_WIDTH_PX):
                if has_files:
                    own = boxes[boxes["id"] == row["id"]]
                    uri = row["uri"] if isinstance(row["uri"], str) else None
                    said = f"{row['id']}: {row['concept']}, {told}"
                    render = partial(image_files().with_regions, uri, own, {})
                    draw_one(f"{run} {at} {row['id']}", said, said, _ROW_PX, render)
                st.caption(f"{told}  \n{escape(shorten(row['id'], 40))}")


def examples_of(store: GraphStore, dataset: str, run: str, at: int) -> pd.DataFrame:
    """Images of high, middling and low score: fields of `Example`, ``concept``, ``uri``."""
    settings = LabelSettings.read(
        next(one.settings for one in list_runs(store, dataset) if one.id == run)
    )
    files = open_scores(session.settings().folders(), run)
    rows = list(examples(files, settings, at, _EACH))
    found = pd.DataFrame(rows, columns=Example._fields)
    found["concept"] = settings.attributes[at].concept
    known = read_image_files(store, dataset, tuple(found["id"]))
    return found.assign(uri=found["id"].map(dict(zip(known["id"], known["uri"], strict=True))))
