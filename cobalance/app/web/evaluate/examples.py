"""Images behind a number: the ones that a model gets wrong and right, with its attention."""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from cobalance.app.web.components.shown_images import draw_one, image_files
from cobalance.app.web.pictures.drawing import draw_heat
from cobalance.app.web.pictures.thumbnails import Picture
from cobalance.app.web.state import session
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import choice_in_url, named_in_url, number_in_url
from cobalance.app.web.widgets.controls import choose_one
from cobalance.app.web.widgets.messages import show_error
from cobalance.app.web.widgets.tables import grid
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.base.arrays import STRING
from cobalance.base.errors import CobalanceError
from cobalance.evaluation.groups import group_rows
from cobalance.evaluation.predictions import class_columns
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import read_image_files
from cobalance.graph.evaluations.reading import Evaluation, read_evaluation
from cobalance.vision.images.regions import read_regions
from cobalance.workflows.evaluate.stored import read_maps, read_saved_predictions

MODEL, GROUP = "evaluate_model", "evaluate_group"
WRONG, RIGHT = "Wrong", "Right"
PER_PAGE = 12
ROW_PX = 130
MASK_COLOR = "#E69F00"


def show(current: CurrentDataset, scored: Sequence[Evaluation], labels: dict[str, str]) -> None:
    """Draw images of a chosen model and group, surest mistakes first."""
    st.subheader("Images behind the numbers", anchor="images")
    ids = [one.id for one in scored if one.predictions_uri is not None]
    if not ids:
        st.caption("No predictions are kept: scores alone were written.")
        return
    names = {one.id: _name(one, labels) for one in scored}

    def name_of(one: str) -> str:
        return names.get(one, one)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = st.selectbox(
            "Model", ids, format_func=name_of, **named_in_url(MODEL, ids[0], ids, name_of)
        )
        model = model if model in ids else ids[0]
        one = next(one for one in scored if one.id == model)
        try:
            judged = current.keep(
                lambda: judged_images(current.store, one.id), "judged", one.id, one.scored_at
            )
        except CobalanceError as error:  # the worker's folder is elsewhere; all else is shown
            show_error(error)
            return
        if judged.empty:
            st.caption("Its images have several labels each: none is right or wrong as a whole.")
            return
        groups = sorted(judged["group"].unique())
        group = choose_one("Group", groups, GROUP, "all")
        verdict = st.segmented_control(
            "Predicted", (WRONG, RIGHT), default=WRONG, **choice_in_url("evaluate_verdict")
        )
    of_group = judged if group is None else judged[judged["group"] == group]
    chosen = of_group[of_group["right"] == (verdict == RIGHT)]
    share = f"{len(chosen):,} of {len(of_group):,} images are predicted {verdict.lower()}"
    if chosen.empty:
        st.caption(f"{share}.")
        return
    order = "the surest first" if verdict == WRONG else "the least sure first"
    st.caption(f"{share}; {order}.")
    chosen = chosen.sort_values("sureness", ascending=verdict == RIGHT, kind="stable")
    pages = -(-len(chosen) // PER_PAGE)
    page = min(max(int(st.session_state.get("evaluate_page", 1)), 1), pages)
    _draw(current, one, chosen.iloc[(page - 1) * PER_PAGE : page * PER_PAGE])
    if pages > 1:
        st.pagination(pages, **number_in_url("evaluate_page"))


def judged_images(store: GraphStore, evaluation: str) -> pd.DataFrame:
    """An evaluation's test images with its predictions.

    Returns
    -------
    pandas.DataFrame
        ``image``, ``class_name``, ``predicted``, ``right``, ``group`` (as scores name it) and
        ``sureness``, the score of what was predicted; empty where images have several labels.

    Raises
    ------
    NoPredictionsError
        There are none in this output folder.
    """
    found = read_evaluation(store, evaluation)
    folder = session.settings().folders().open_output()
    frame = read_saved_predictions(folder, found)
    if "predicted" not in frame:
        return frame.iloc[:0]
    grouping = group_rows(frame)
    names = pd.Series(grouping.names, dtype=STRING)
    kept = frame[["image", "class_name", "predicted"]].copy()
    kept["right"] = kept["class_name"] == kept["predicted"]
    kept["group"] = names.iloc[grouping.codes].to_numpy()
    kept["sureness"] = 0.0
    for name in class_columns(frame):
        rows = kept["predicted"] == name
        kept.loc[rows, "sureness"] = frame.loc[rows, f"p_{name}"]
    return kept


def maps_of(evaluation: str) -> dict[str, bytes]:
    """Activation maps of an evaluation by image, as PNG; none where none are kept."""
    maps = read_maps(session.settings().folders().open_output(), evaluation)
    return dict(zip(maps["image"], maps["map"], strict=True))


def _name(one: Evaluation, labels: dict[str, str]) -> str:
    return labels[one.id] + ("" if one.seed is None else f", seed {one.seed}")


def _draw(current: CurrentDataset, one: Evaluation, chosen: pd.DataFrame) -> None:
    ids = tuple(chosen["image"])
    found = current.keep(  # the test images may be another dataset's
        lambda: read_image_files(current.store, one.test, ids),
        "files",
        one.test,
        ids,
        one.scored_at,
    )
    uris = dict(zip(found["id"], found["uri"], strict=True))
    picture_of = _pictures(one, ids, uris)
    maps: dict[str, bytes] = {}
    if picture_of is not None:
        maps = current.keep(lambda: maps_of(one.id), "maps", one.id, one.scored_at)
    has_maps = any(image in maps for image in ids)
    rows = zip(grid(len(ids), 3 if has_maps else 6), chosen.to_dict("records"), strict=True)
    for cell, row in rows:
        image, label = row["image"], row["class_name"]
        told = label if row["right"] else f"{label} → {row['predicted']}"
        with cell:
            if picture_of is not None:
                _picture(image, told, partial(picture_of, image), maps.get(image))
            st.caption(f"{escape(shorten(image, 60))}  \n{escape(shorten(told, 80))}")
    if has_maps:
        st.caption("Left: the annotated regions. Right: where the model sees its class (GradCAM).")


def _pictures(
    one: Evaluation, ids: Sequence[str], uris: dict[str, str | None]
) -> Callable[[str, int], Picture] | None:
    """Function that renders an image with its regions at a size; None without files."""
    settings = session.settings()
    roots = session.image_roots(one.test)
    if not roots or not any(isinstance(uri, str) for uri in uris.values()):
        st.caption("Names only: COBALANCE_IMAGES does not say where the files are.")
        return None
    regions = read_regions(settings.folders().regions, one.test, list(ids))
    colors = dict.fromkeys(regions["concept"].unique(), MASK_COLOR)

    def picture_of(image: str, size_px: int) -> Picture:
        uri = uris.get(image)
        own = regions[regions["id"] == image]
        known = uri if isinstance(uri, str) else None
        return image_files(roots).with_regions(known, own, colors, size_px)

    return picture_of


def _picture(image: str, told: str, picture: Callable[[int], Picture], heat: bytes | None) -> None:
    said = f"{image}: {told}"
    if heat is None:
        draw_one(image, said, said, ROW_PX, picture)
        return
    left, right = st.columns(2, gap="small")
    with left:
        small = draw_one(image, f"{said}, with its regions", said, ROW_PX, picture)
    right.image(
        draw_heat(small.data, heat),
        width="stretch",
        alt=f"{image}: where the model looks (GradCAM)",
    )
