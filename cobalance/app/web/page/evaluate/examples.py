"""Images behind a number: the ones that a model gets wrong and right, with its attention."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from cobalance.app.web.components import draw_one, image_files, uris_of, with_seed
from cobalance.app.web.pictures.drawing import draw_heat
from cobalance.app.web.pictures.thumbnails import Picture
from cobalance.app.web.state import CurrentDataset, choice_in_url, number_in_url, session
from cobalance.app.web.widgets import choose_named, choose_one, escape, grid, shorten, show_error
from cobalance.base import STRING, CobalanceError
from cobalance.evaluation import class_columns, group_rows
from cobalance.graph import Evaluation, GraphStore, read_evaluation, read_image_files
from cobalance.vision import read_regions
from cobalance.workflows import read_maps, read_saved_predictions

MODEL, GROUP = "evaluate_model", "evaluate_group"
WRONG, RIGHT = "Wrong", "Right"
PER_PAGE = 12
ROW_PX = 130
MASK_COLOR = "#E69F00"


def show(current: CurrentDataset, scored: Sequence[Evaluation], labels: dict[str, str]) -> None:
    """Draw images of a chosen model and group, surest mistakes first."""
    st.header("Images behind the numbers", anchor="images")
    by_id = {
        evaluation.id: evaluation for evaluation in scored if evaluation.predictions_uri is not None
    }
    if not by_id:
        st.caption("No predictions are kept: scores alone were written.")
        return

    with st.container(horizontal=True, vertical_alignment="bottom"):
        evaluation = _choose_model(by_id, labels)
        try:
            judged = current.keep(
                lambda: judged_images(current.store, evaluation.id),
                "judged",
                evaluation.id,
                evaluation.scored_at,
            )
        except CobalanceError as error:
            # The output folder of the worker is elsewhere; the rest of the page can be drawn.
            show_error(error)
            return
        if judged.empty:
            st.caption("Its images have several labels each: none is right or wrong as a whole.")
            return

        group = choose_one("Group", sorted(judged["group"].unique()), GROUP, "all")
        verdict = st.segmented_control(
            "Predicted", (WRONG, RIGHT), default=WRONG, **choice_in_url("evaluate_verdict")
        )

    if group is not None:
        judged = judged[judged["group"] == group]
    chosen = judged[judged["right"] == (verdict == RIGHT)]
    share = f"{len(chosen):,} of {len(judged):,} images are predicted {verdict.lower()}"
    if chosen.empty:
        st.caption(f"{share}.")
        return
    if chosen["sureness"].notna().any():
        order = "the surest first" if verdict == WRONG else "the least sure first"
        share = f"{share}; {order}"
        chosen = chosen.sort_values("sureness", ascending=verdict == RIGHT, kind="stable")
    st.caption(f"{share}.")

    # The page of before may not exist for this choice.
    pages = math.ceil(len(chosen) / PER_PAGE)
    page = min(max(int(st.session_state.get("evaluate_page", 1)), 1), pages)
    _draw(current, evaluation, chosen.iloc[(page - 1) * PER_PAGE : page * PER_PAGE])
    if pages > 1:
        st.pagination(pages, **number_in_url("evaluate_page"))


def _choose_model(by_id: Mapping[str, Evaluation], labels: dict[str, str]) -> Evaluation:
    def name_of(name: str) -> str:
        return with_seed(labels[name], by_id[name]) if name in by_id else name

    return by_id[choose_named("Model", list(by_id), MODEL, text=name_of)]


def judged_images(store: GraphStore, evaluation: str) -> pd.DataFrame:
    """An evaluation's test images with its predictions.

    Returns
    -------
    pandas.DataFrame
        ``image``, ``class_name``, ``predicted``, ``right``, ``group`` (as scores name it) and
        ``sureness``, the score of what was predicted, NaN without scores; empty where images have
        several labels.

    Raises
    ------
    NoPredictionsError
        There are none in this output folder.
    """
    folder = session.settings().folders().open_output()
    frame = read_saved_predictions(folder, read_evaluation(store, evaluation))
    if "predicted" not in frame:
        return frame.iloc[:0]

    judged = frame[["image", "class_name", "predicted"]].copy()
    judged["right"] = judged["class_name"] == judged["predicted"]
    grouping = group_rows(frame)
    names = pd.Series(grouping.names, dtype=STRING)
    judged["group"] = names.iloc[grouping.codes].to_numpy()

    # Each row takes the score of the class that was predicted for it.
    judged["sureness"] = np.nan
    for name in class_columns(frame):
        rows = judged["predicted"] == name
        judged.loc[rows, "sureness"] = frame.loc[rows, f"p_{name}"]
    return judged


def maps_of(evaluation: str) -> dict[str, bytes]:
    """Activation maps of an evaluation by image, as PNG; none where none are kept."""
    maps = read_maps(session.settings().folders().open_output(), evaluation)
    return dict(zip(maps["image"], maps["map"], strict=True))


def _draw(current: CurrentDataset, evaluation: Evaluation, chosen: pd.DataFrame) -> None:
    """Draw images with their true and predicted class, and with attention where it is kept."""
    ids = tuple(chosen["image"])
    # The test images may be another dataset's, whose state is not the page's: the key has the time
    # of the scoring.
    files = current.keep(
        lambda: read_image_files(current.store, evaluation.test, ids),
        "files",
        evaluation.test,
        ids,
        evaluation.scored_at,
    )
    picture_of = _pictures(evaluation, ids, uris_of(files))
    maps: dict[str, bytes] = {}
    if picture_of is not None:
        maps = current.keep(
            lambda: maps_of(evaluation.id), "maps", evaluation.id, evaluation.scored_at
        )

    has_maps = any(image in maps for image in ids)
    places = grid(len(ids), 2 if has_maps else 4)
    for place, row in zip(places, chosen.to_dict("records"), strict=True):
        image, text = row["image"], row["class_name"]
        if not row["right"]:
            text = f"{text} → {row['predicted']}"
        with place:
            if picture_of is not None:
                _picture(image, text, partial(picture_of, image), maps.get(image))
            st.caption(f"{escape(shorten(image, 60))}  \n{escape(shorten(text, 80))}")
    if has_maps:
        st.caption("Left: the annotated regions. Right: where the model sees its class (GradCAM).")


def _pictures(
    evaluation: Evaluation, ids: Sequence[str], uris: dict[str, str | None]
) -> Callable[[str, int], Picture] | None:
    """Function that renders an image with its regions at a size; None without files."""
    roots = session.image_roots(evaluation.test)
    if not roots or all(uri is None for uri in uris.values()):
        st.caption("Names only: COBALANCE_IMAGES does not say where the files are.")
        return None

    regions = read_regions(session.settings().folders().regions, evaluation.test, list(ids))
    colors = dict.fromkeys(regions["concept"].unique(), MASK_COLOR)

    def picture_of(image: str, size_px: int) -> Picture:
        image_regions = regions[regions["id"] == image]
        return image_files(roots).with_regions(uris.get(image), image_regions, colors, size_px)

    return picture_of


def _picture(image: str, text: str, picture: Callable[[int], Picture], heat: bytes | None) -> None:
    """Draw an image with its regions, and beside it with the model's attention if there is any."""
    caption = f"{image}: {text}"
    if heat is None:
        draw_one(image, caption, caption, ROW_PX, picture)
        return

    picture_column, heat_column = st.columns(2, gap="small")
    with picture_column:
        small = draw_one(image, f"{caption}, with its regions", caption, ROW_PX, picture)
    heat_column.image(
        draw_heat(small.data, heat),
        width="stretch",
        alt=f"{image}: where the model looks (GradCAM)",
    )
