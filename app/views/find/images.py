"""Images by their ids, in a grid, and what people note of them: tags and notes."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.image_grid.component import GridImage, OpenedImage, image_grid
from app.pictures.thumbnails import GalleryImage
from app.views.components.gallery import LIGHTBOX_PX, OPENED, THUMBNAIL_PX, image_files
from app.views.state import access, session, url
from app.views.state.session import CurrentDataset
from app.views.widgets.messages import errors_kept, show_kept_error
from app.views.widgets.tables import draw_table
from app.views.widgets.theme import escape
from graph.dataset.read import read_image_files
from graph.marks.tags import (
    list_tags,
    marks_of_images,
    set_role,
    tag_images,
    untag_images,
    write_note,
)
from ingest.concepts.plurals import counted

MOST = 100
"""The most images that are drawn at once."""
ROLES = {
    "tag": "A mark alone",
    "concept": "A concept that they show",
    "exclude": "Left out of counts and exports",
}
_ERROR, _DONE = "_tags_error", "_tags_done"


def draw_images(current: CurrentDataset, images: pd.DataFrame, label: str) -> None:
    """Draw images in a grid, with a lightbox, and what tags them.

    Parameters
    ----------
    images : pandas.DataFrame
        ``id`` and ``class``, and ``note`` for what stands in the alternative text.
    label : str
        What they are, for screen readers.
    """
    if images.empty:
        st.caption("No image is here.")
        return
    shown = images.head(MOST)
    more = "" if len(shown) == len(images) else f" The first {MOST} are shown."
    st.markdown(f"**{counted(len(images), 'images')}**{more}")
    _grid(current, shown, label)
    _tagging(current, images["id"].tolist())


def _grid(current: CurrentDataset, images: pd.DataFrame, label: str) -> None:
    found = read_image_files(current.store, current.name, images["id"].tolist())
    classes = dict(zip(images["id"], images["class"], strict=True))
    if found["uri"].isna().all() or not session.settings().image_roots():
        told = [name for name in ("id", "class", "similarity") if name in images]
        draw_table(images[told], 240, alt="Images by name")
        st.caption("Names only: no files of these images are known. See *Datasets*.")
        return
    uris = {
        row["id"]: row["uri"] if isinstance(row["uri"], str) else None
        for row in found.to_dict("records")
    }
    files, none = image_files(), pd.DataFrame({"id": []})
    listed = [GalleryImage(name, uri) for name, uri in uris.items()]
    pictures = files.grid(listed, none, {}, THUMBNAIL_PX)
    opened = next((name for name in url.texts(OPENED) if name in uris), None)
    original = None
    if opened is not None:
        marks = marks_of_images(current.store, current.name, [opened]).iloc[0]
        told = [classes[opened], ", ".join(marks["tags"]), marks["note"] or ""]
        plain = files.thumbnail(uris[opened], LIGHTBOX_PX)
        original = OpenedImage(opened, ". ".join(filter(None, told)), plain)
    image_grid(
        [
            GridImage(image.id, f"{image.id}: {classes[image.id]}", plain, drawn)
            for image, (plain, drawn) in zip(listed, pictures, strict=True)
        ],
        key=f"_find {label}",
        label=label,
        row_px=100,
        overlay=False,
        opened=original,
        on_open=lambda name: url.write(OPENED, [] if name is None else [name]),
        on_overlay=lambda _: None,
    )


def _tagging(current: CurrentDataset, ids: Sequence[str]) -> None:
    """Draw how to tag images, and to write about the one in the lightbox."""
    show_kept_error(_ERROR)
    done = st.session_state.pop(_DONE, None)
    if done:
        st.success(escape(done), icon=":material/check:")
    if not access.may_edit():
        return
    known = list_tags(current.store, current.name)["tag"].tolist()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tag = st.selectbox(
            "Tag",
            known,
            index=None,
            accept_new_options=True,
            placeholder="Choose one, or type a new one",
            key="_find_tag",
        )
        role = st.selectbox(
            "What it does", list(ROLES), format_func=ROLES.__getitem__, key="_find_role"
        )
        number = counted(len(ids), "images")
        off = not tag
        asked = (current, tag, role, ids)
        st.button(f"Tag {number}", on_click=_tag, args=asked, disabled=off, key="_find_add")
        st.button("Take it from them", on_click=_untag, args=asked, disabled=off, key="_find_off")
    st.caption(
        "What a tag does to counts follows with the next *Mine*, which counts what changed, and "
        "can be undone."
    )
    opened = next((name for name in url.texts(OPENED) if name in set(ids)), None)
    if opened is not None:
        (before,) = marks_of_images(current.store, current.name, [opened])["note"]
        text = st.text_area(f"Note on {opened}", before or "", key=f"_note {opened}")
        st.button("Save the note", on_click=_note, args=(current, opened, text), key="_find_note")


def _by() -> str:
    known = access.user()
    return known.name if known else ""


def _tag(current: CurrentDataset, tag: str, role: str, ids: Sequence[str]) -> None:
    with errors_kept(_ERROR):
        access.require_editor()
        tagged = tag_images(current.store, current.name, tag, ids, by=_by())
        set_role(current.store, current.name, tag, role)  # type: ignore[arg-type]
        st.session_state[_DONE] = f"{counted(tagged, 'images')} tagged {tag}."


def _untag(current: CurrentDataset, tag: str, _role: str, ids: Sequence[str]) -> None:
    with errors_kept(_ERROR):
        access.require_editor()
        lost = untag_images(current.store, current.name, tag, ids)
        st.session_state[_DONE] = f"{counted(lost, 'images')} lost {tag}."


def _note(current: CurrentDataset, image: str, text: str) -> None:
    with errors_kept(_ERROR):
        access.require_editor()
        write_note(current.store, current.name, image, text, by=_by())
        st.session_state[_DONE] = f"Note on {image} saved."
