"""Tag images, as concepts or to exclude them, and write notes on them."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.state import access
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.messages import edits, show_kept_error
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.tags.tags import (
    list_tags,
    marks_of_images,
    set_role,
    tag_images,
    untag_images,
    write_note,
)
from cobalance.graph.wording import inflect

ROLES = {
    "tag": "A mark alone",
    "concept": "A concept that they show",
    "exclude": "Left out of counts and exports",
}
_ERROR, _DONE = "_tags_error", "_tags_done"


def draw(current: CurrentDataset, ids: Sequence[str]) -> None:
    """Draw how to tag images, and to write about one of them; for editors alone."""
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
            key="_tags_tag",
        )
        role = st.selectbox(
            "What it does", list(ROLES), format_func=ROLES.__getitem__, key="_tags_role"
        )
        number = inflect(len(ids), "images")
        off = not tag
        asked = (current, tag, role, ids)
        st.button(f"Tag {number}", on_click=_tag, args=asked, disabled=off, key="_tags_add")
        st.button("Take it from them", on_click=_untag, args=asked, disabled=off, key="_tags_off")
    st.caption(
        "What a tag does to counts follows with the next *Mine*, which counts what changed, and "
        "can be undone."
    )
    image = st.selectbox(
        "Note on", ids, index=None, placeholder="Choose an image to write about it", key="_note_on"
    )
    if image is not None:
        (before,) = marks_of_images(current.store, current.name, [image])["note"]
        text = st.text_area("Note", before or "", key=f"_note {image}")
        st.button("Save the note", on_click=_note, args=(current, image, text), key="_tags_note")


@edits(_ERROR)
def _tag(current: CurrentDataset, tag: str, role: str, ids: Sequence[str]) -> None:
    tagged = tag_images(current.store, current.name, tag, ids, by=access.user_name())
    set_role(current.store, current.name, tag, role)  # type: ignore[arg-type]
    st.session_state[_DONE] = f"{inflect(tagged, 'images')} tagged {tag}."


@edits(_ERROR)
def _untag(current: CurrentDataset, tag: str, _role: str, ids: Sequence[str]) -> None:
    lost = untag_images(current.store, current.name, tag, ids)
    st.session_state[_DONE] = f"{inflect(lost, 'images')} lost {tag}."


@edits(_ERROR)
def _note(current: CurrentDataset, image: str, text: str) -> None:
    write_note(current.store, current.name, image, text, by=access.user_name())
    st.session_state[_DONE] = f"Note on {image} saved."
