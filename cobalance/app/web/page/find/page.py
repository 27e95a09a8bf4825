"""View Similar of Diagnose: images by their embeddings, near duplicates, and tags."""

import pandas as pd
import streamlit as st

from cobalance.app.web.page.find import adding, map as embedding_map, tags
from cobalance.app.web.page.find.images import draw_images
from cobalance.app.web.state import (
    CurrentDataset,
    access,
    id_in_url,
    in_url,
    number_in_url,
    session,
    text_in_url,
)
from cobalance.app.web.widgets import (
    Page,
    choose_view,
    empty_state,
    escape,
    show_task,
)
from cobalance.base import inflect
from cobalance.graph import DatasetState, GraphStore
from cobalance.ingest import time_written
from cobalance.workflows import Embedded, cluster_duplicates, collect_computed, read_embedded

MAP, SIMILAR, DUPLICATES, TAGS = "Map", "Similar", "Near duplicates", "Tags"
VIEWS = (DUPLICATES, SIMILAR, MAP, TAGS)
_COUNTS = (24, 48, 100)
_MOST_GROUPS = 20


def page() -> None:
    """Draw the page."""
    current = session.current()
    current.state.require_complete()
    view = choose_view("View", VIEWS, "find_view")
    if view == TAGS:
        tags.show(current)
        return
    if current.state.sample is not None:
        empty_state("Not without all images", "The graph does not have all of this dataset's.")
        return

    if show_task(adding.TASK.format(current.name)):
        return

    # What workers have computed since the last run is taken over before anything is read.
    folders = session.settings().folders()
    collect_computed(current.store, folders, current.name)
    written = time_written(folders.embeddings, current.name)
    key = (current.state, written or 0.0)
    embedded = None if written is None else _embedded(current.store, key)
    adding.show_task(current)
    if embedded is None:
        adding.show_first(current)
        return

    without = sum(current.class_sizes.values()) - len(embedded.images)
    if without > 0:
        st.caption(f"{inflect(without, 'images')} have no embedding and are not here.")
    if view == MAP:
        embedding_map.show(current, _places(embedded, key))
    elif view == SIMILAR:
        _similar(current, embedded)
    else:
        _duplicates(current, embedded, key)
    with st.expander("Replace the embeddings"):
        adding.show(current)


PAGE = Page(
    "Similar",
    "find",
    ":material/image_search:",
    page,
    words=("embedding", "tag"),
    takes_uploads=True,
    part_of="diagnose",
)


@st.cache_data(show_spinner="Reading embeddings", max_entries=2)
def _embedded(_store: GraphStore, key: tuple[DatasetState, float]) -> Embedded | None:
    return read_embedded(_store, session.settings().folders(), key[0].name)


# The key says which images and vectors they are of.
@st.cache_data(show_spinner="Placing images", max_entries=4)
def _places(_found: Embedded, key: tuple[DatasetState, float]) -> pd.DataFrame:  # noqa: ARG001
    return _found.places()


@st.cache_data(show_spinner="Comparing all pairs of images", max_entries=8)
def _groups(
    _found: Embedded,
    key: tuple[DatasetState, float],  # noqa: ARG001
    threshold: float,
) -> pd.DataFrame:
    return _found.duplicates(threshold)


def _similar(current: CurrentDataset, embedded: Embedded) -> None:
    """Draw the images most like one."""
    first = embedded.images["id"].iloc[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Image", **text_in_url("find_image", first), help="Its id.")
        count = st.selectbox("Images", _COUNTS, **number_in_url("find_count"), width=120)
    image = (text or first).strip()
    alike = embedded.similar(image, count or _COUNTS[0])

    row = embedded.images.iloc[embedded.row(image)]
    st.markdown(f"**{escape(row['id'])}** is of the class {escape(row['class'])}.")
    if len(alike):
        n_others = int((alike["class"] != row["class"]).sum())
        st.caption(
            f"{n_others:,} of the {len(alike):,} images most like it are of another class. Cosines "
            f"from {alike['similarity'].iloc[0]:.3f} to {alike['similarity'].iloc[-1]:.3f}."
        )
    draw_images(current, alike, "Similar images")


def _duplicates(
    current: CurrentDataset, embedded: Embedded, key: tuple[DatasetState, float]
) -> None:
    """Draw groups of near duplicates, and the images of one."""
    least = st.slider("Least similarity (cosine)", 0.8, 1.0, 0.97, 0.01, **in_url("find_least"))
    images = _groups(embedded, key, least)
    if images.empty:
        empty_state("No near duplicates", "Lower the similarity to see images that are less alike.")
        return

    across = images[images["classes"] != images["class"]]["group"].nunique()
    n_groups = images["group"].nunique()
    st.markdown(
        f"**{inflect(len(images), 'images')} in {inflect(n_groups, 'groups')}**; {across:,} of the "
        "groups have images of several classes: the same picture with different labels, perhaps."
    )
    if access.may_edit() and st.button("Count each group as one cluster", key="_as_clusters"):
        cluster_duplicates(current.store, current.name, images)
        st.toast("Mine again for tests and intervals by cluster.")

    groups = images.groupby("group").agg(images=("id", "size"), classes=("classes", "first"))
    texts = {}
    for number, row in enumerate(groups.head(_MOST_GROUPS).to_dict("records"), start=1):
        texts[f"{number}"] = f"{number}: {row['images']} images, {row['classes']}"
    if n_groups > _MOST_GROUPS:
        st.caption(f"The first {_MOST_GROUPS} groups are offered; those of several classes lead.")
    chosen = st.selectbox(
        "Group",
        list(texts),
        format_func=lambda number: texts.get(number, number),
        **id_in_url("find_group", texts, first="1"),
    )
    draw_images(current, images[images["group"] == int(chosen)], "Near duplicates")
