"""Example images of an attribute, of high, middling and low score, with the boxes of detectors."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.annotation import Example, LabelSettings, examples
from cobalance.app.web.components import draw_one, image_files, uris_of
from cobalance.app.web.state import CurrentDataset, session
from cobalance.app.web.widgets import escape, shorten, show_error
from cobalance.base import CobalanceError
from cobalance.graph import GraphStore, list_runs, read_image_files
from cobalance.vision import SCHEMA
from cobalance.workflows import open_scores

_EACH = 2
# Two stand side by side on a phone.
_WIDTH_PX = 150
_ROW_PX = 110


def show(current: CurrentDataset, attribute: Mapping[str, Any]) -> None:
    """Draw images of the newest labelling run that has looked for an attribute, if there is one."""
    for run in list_runs(current.store, current.name):
        if not run.has_labels:
            continue

        settings = LabelSettings.read(run.settings)
        for place, labelled in enumerate(settings.attributes):
            # Either may have changed since the run: the caption, or the attribute's name.
            has_caption = labelled.category == attribute["category"] and (
                labelled.caption == attribute["caption"]
            )
            if has_caption or labelled.concept in (attribute["concept"], attribute["name"]):
                draw_examples(current, run.id, place)
                return
    st.caption("No labelling run has looked for it yet, so there are no example images.")


def draw_examples(current: CurrentDataset, run: str, place: int) -> None:
    """Draw example images of one of a run's attributes, by its place."""
    try:
        images: pd.DataFrame = current.read(examples_of, run, place)
    except CobalanceError as error:
        show_error(error)
        return

    has_files = bool(session.image_roots()) and images["uri"].notna().any()
    if not has_files:
        st.caption("Names only: COBALANCE_IMAGES does not say where the files are.")

    uris = uris_of(images)
    boxes = images[images["w_px"].notna()].assign(crowd=False).reindex(columns=SCHEMA.names)
    with st.container(horizontal=True):
        for row in images.to_dict("records"):
            score = f"{row['rank']} {row['score']:.3f}"
            with st.container(width=_WIDTH_PX):
                if has_files:
                    image_boxes = boxes[boxes["id"] == row["id"]]
                    text = f"{row['id']}: {row['concept']}, {score}"
                    render = partial(image_files().with_regions, uris[row["id"]], image_boxes, {})
                    draw_one(f"{run} {place} {row['id']}", text, text, _ROW_PX, render)
                st.caption(f"{score}  \n{escape(shorten(row['id'], 40))}")


def examples_of(store: GraphStore, dataset: str, run: str, place: int) -> pd.DataFrame:
    """Images of high, middling and low score: fields of `Example`, ``concept``, ``uri``."""
    labelled = next(stored for stored in list_runs(store, dataset) if stored.id == run)
    settings = LabelSettings.read(labelled.settings)
    files = open_scores(session.settings().folders(), run)

    images = pd.DataFrame(examples(files, settings, place, _EACH), columns=Example._fields)
    images["concept"] = settings.attributes[place].concept

    uris = uris_of(read_image_files(store, dataset, tuple(images["id"])))
    return images.assign(uri=images["id"].map(uris))
