"""Example images of an attribute, of high, middling and low score, with the boxes of detectors."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from annotation.labelling.labels import Example, examples
from annotation.labelling.score_files import ScoreFiles
from annotation.labelling.settings import LabelSettings
from app.pictures.thumbnails import GalleryImage
from app.views.components.shown_images import image_files
from app.views.state import session
from app.views.state.session import CurrentDataset
from app.views.widgets.messages import show_error
from app.views.widgets.theme import escape, shorten
from generation.output.folder import OutputFolder
from graph.annotations.runs import list_runs
from graph.database.store import GraphStore
from graph.dataset.read import read_image_files
from graph.errors import CobalanceError
from ingest.images.region_file import SCHEMA

THUMBNAIL_PX = 256
_EACH = 2
_WIDTH_PX = 150  # two side by side on a phone


def show(current: CurrentDataset, attribute: Mapping[str, Any]) -> None:
    """Draw images of the newest labelling run that has looked for an attribute, if there is one."""
    for run in list_runs(current.store, current.name):
        if run.kind == "propose" or run.state not in ("done", "accepted", "rejected"):
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
    settings = session.settings()
    rows = found.to_dict("records")
    shown = None
    if settings.image_roots() and found["uri"].notna().any():
        images = [
            GalleryImage(row["id"], row["uri"] if isinstance(row["uri"], str) else None)
            for row in rows
        ]
        shown = image_files().gallery(images, _boxes(found), {}, THUMBNAIL_PX)
    else:
        st.caption("Names only: COBALANCE_IMAGES does not say where the files are.")
    with st.container(horizontal=True):
        for place, row in enumerate(rows):
            with st.container(width=_WIDTH_PX):
                if shown is not None:
                    st.image(shown[place].data, width="stretch", alt=str(row["id"]))
                st.caption(f"{row['rank']} {row['score']:.3f}  \n{escape(shorten(row['id'], 40))}")


def examples_of(store: GraphStore, dataset: str, run: str, at: int) -> pd.DataFrame:
    """Images of high, middling and low score: those of `Example`, ``concept``, ``uri``."""
    folder = OutputFolder(session.settings().output_folder())
    settings = LabelSettings.read(
        next(one.settings for one in list_runs(store, dataset) if one.id == run)
    )
    rows = list(examples(ScoreFiles(folder, run), settings, at, _EACH))
    found = pd.DataFrame(rows, columns=Example._fields)
    found["concept"] = settings.attributes[at].concept
    files = read_image_files(store, dataset, tuple(found["id"]))
    return found.assign(uri=found["id"].map(dict(zip(files["id"], files["uri"], strict=True))))


def _boxes(found: pd.DataFrame) -> pd.DataFrame:
    """The boxes as `ImageFiles.gallery` takes them; none of images in which none was found."""
    boxes = found[found["w_px"].notna()].assign(crowd=False)
    return boxes.reindex(columns=SCHEMA.names)
