"""Images in a grid, a lightbox with the own pixels of the open one, and fields to tag them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from cobalance.app.web.browser.image_grid import GridImage, image_grid
from cobalance.app.web.pictures.thumbnails import ImageFiles, Picture
from cobalance.app.web.state import CurrentDataset, access, session, url
from cobalance.app.web.widgets import edits, escape, in_app, show_kept_error
from cobalance.base import inflect
from cobalance.graph import (
    list_tags,
    marks_of_images,
    set_role,
    tag_images,
    untag_images,
    write_note,
)

THUMBNAIL_PX = 400
LIGHTBOX_PX = 2400
"""The longer side of what the lightbox shows; larger images are scaled down to it."""
# The parameters of the URL: the id of the image in the lightbox, and whether boxes and outlines
# are drawn.
OPENED, BOXES = "image", "boxes"
ROLES = {
    "tag": "A mark alone",
    "concept": "A concept that they show",
    "exclude": "Left out of counts and exports",
}
_DONE = "_tags_done"


def image_files(roots: tuple[str, ...] | None = None) -> ImageFiles:
    """Image files of some places; without any, the files of the chosen dataset."""
    cache = session.settings().cobalance_cache / "thumbnails"
    return _image_files(session.image_roots() if roots is None else roots, cache)


@st.cache_resource
def _image_files(roots: tuple[str, ...], cache: Path) -> ImageFiles:
    return ImageFiles(roots, cache, words=in_app)


def open_image(name: str | None) -> None:
    """Open an image in the lightbox by its id, or close that for None."""
    url.write_one(OPENED, name)


def draw_grid(
    uris: Mapping[str, str | None],
    describe: Callable[[str], str],
    regions: pd.DataFrame | None = None,
    colors: Mapping[str, str] | None = None,
    *,
    key: str,
    label: str,
    row_px: int,
    overlay: bool = False,
    caption: Callable[[str], str] | None = None,
    on_open: Callable[[str | None], None] = open_image,
) -> None:
    """Draw images in a grid, with a lightbox if there is a `caption`, given the image's id.

    The URL names the image that is open. `uris` are by id, in order, None for an image without
    one; `describe` says what an image shows, for its alternative text. Boxes and outlines are of
    `regions`, from `read_regions`, in `colors` by concept.
    """
    files, colors = image_files(), colors or {}
    regions = pd.DataFrame({"id": []}) if regions is None else regions
    pictures = files.grid(uris, regions, colors, THUMBNAIL_PX)

    opened = None
    name = next((name for name in url.texts(OPENED) if name in uris), None)
    if caption is not None and name is not None:
        opened = GridImage(name, caption(name), files.thumbnail(uris[name], LIGHTBOX_PX))
        image_regions = regions[regions["id"] == name]
        if not image_regions.empty:
            outlined = files.with_regions(uris[name], image_regions, colors, LIGHTBOX_PX)
            opened = replace(opened, drawn=outlined)

    image_grid(
        [
            GridImage(image, f"{image}: {describe(image)}", *pair)
            for image, pair in zip(uris, pictures, strict=True)
        ],
        key=key,
        label=label,
        row_px=row_px,
        overlay=overlay,
        opened=opened,
        has_lightbox=caption is not None,
        on_open=on_open,
        on_overlay=lambda boxes: st.session_state.update({BOXES: boxes}),
    )


def draw_one(
    name: str, text: str, caption: str, row_px: int, picture: Callable[[int], Picture]
) -> Picture:
    """Draw a picture that opens in its own pixels; return it at its small size.

    The URL has `name`, unique on the page, while it is open. `text` is its alternative text,
    `caption` that in the lightbox; `picture` renders it, given the longer side in pixels.
    """
    small, is_open = picture(THUMBNAIL_PX), name in url.texts(OPENED)
    # Its height is known before the picture is, and what comes below stays where it is.
    with st.container(height=row_px + 8, border=False):
        image_grid(
            [GridImage(name, text, small)],
            key=f"_picture {name}",
            label=text,
            row_px=row_px,
            opened=GridImage(name, caption, picture(LIGHTBOX_PX)) if is_open else None,
            on_open=open_image,
        )
    return small


def uris_of(images: pd.DataFrame) -> dict[str, str | None]:
    """URIs of images by id, None where they have none, of a frame with ``id`` and ``uri``."""
    uris = images["uri"].astype(object).where(images["uri"].notna(), None)
    return dict(zip(images["id"], uris, strict=True))


def draw_tagging(current: CurrentDataset, ids: Sequence[str]) -> None:
    """Draw how to tag images, and to write about one of them; for editors alone."""
    show_kept_error()
    message = st.session_state.pop(_DONE, None)
    if message:
        st.success(escape(message), icon=":material/check:")
    if not access.may_edit():
        return

    tags = list_tags(current.store, current.name)["tag"].tolist()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tag = st.selectbox(
            "Tag",
            tags,
            index=None,
            accept_new_options=True,
            placeholder="Choose one, or type a new one",
            key="_tags_tag",
        )
        role = st.selectbox(
            "What it does", list(ROLES), format_func=ROLES.__getitem__, key="_tags_role"
        )
        label, off, args = f"Tag {inflect(len(ids), 'images')}", not tag, (current, tag, role, ids)
        st.button(label, on_click=_tag, args=args, disabled=off, key="_tags_add")
        st.button("Take it from them", on_click=_untag, args=args, disabled=off, key="_tags_off")
    st.caption(
        "What a tag does to counts follows with the next *Mine*, which counts what changed, and "
        "can be undone."
    )

    image = st.selectbox(
        "Note on", ids, index=None, placeholder="Choose an image to write about it", key="_note_on"
    )
    if image is not None:
        (note,) = marks_of_images(current.store, current.name, [image])["note"]
        text = st.text_area("Note", note or "", key=f"_note {image}")
        st.button("Save the note", on_click=_note, args=(current, image, text), key="_tags_note")


@edits
def _tag(current: CurrentDataset, tag: str, role: str, ids: Sequence[str]) -> None:
    tagged = tag_images(current.store, current.name, tag, ids, by=access.user_name())
    set_role(current.store, current.name, tag, role)  # type: ignore[arg-type]
    st.session_state[_DONE] = f"{inflect(tagged, 'images')} tagged {tag}."


@edits
def _untag(current: CurrentDataset, tag: str, _role: str, ids: Sequence[str]) -> None:
    lost = untag_images(current.store, current.name, tag, ids)
    st.session_state[_DONE] = f"{inflect(lost, 'images')} lost {tag}."


@edits
def _note(current: CurrentDataset, image: str, text: str) -> None:
    write_note(current.store, current.name, image, text, by=access.user_name())
    st.session_state[_DONE] = f"Note on {image} saved."
