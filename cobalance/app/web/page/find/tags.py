"""Tags of a dataset: their roles, images, and the count that follows them."""

import streamlit as st

from cobalance.app.web.components import ROLES
from cobalance.app.web.page.find.images import draw_images
from cobalance.app.web.state import CurrentDataset, access
from cobalance.app.web.widgets import (
    choose_named,
    draw_table,
    edits,
    empty_state,
    escape,
    show_kept_error,
)
from cobalance.base import agree
from cobalance.graph import apply_tags, delete_tag, images_of_tag, list_tags, pending_tags, set_role


def show(current: CurrentDataset) -> None:
    """Draw all tags, and the images of one."""
    show_kept_error()
    tags = list_tags(current.store, current.name)
    _pending(current)
    if tags.empty:
        empty_state(
            "No tags yet",
            "Tag images on *Map*, *Similar* or *Near duplicates*, or with `cobalance tags add`.",
            icon=":material/sell:",
        )
        return
    draw_table(tags, 320, alt="Tags")

    names = tags["tag"].tolist()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = choose_named("Images of", names, "find_tag")
        if access.may_edit():
            roles = list(ROLES)
            now = roles.index(tags.set_index("tag").loc[chosen, "role"])
            key = f"_role {chosen}"
            st.selectbox(
                "What it does", roles, now, format_func=ROLES.__getitem__, key=key,
                on_change=_set_role, args=(current, chosen, key),
            )  # fmt: skip
            delete, tag = edits(delete_tag), (current.store, current.name, chosen)
            st.button("Delete the tag", on_click=delete, args=tag, key="_tag_delete")

    images = images_of_tag(current.store, current.name, chosen)
    left_out = int(images["left_out"].sum())
    if left_out:
        st.caption(f"{left_out:,} of them {agree(left_out, 'is', 'are')} left out of counts.")
    draw_images(current, images.rename(columns={"image": "id"}), f"Images of {escape(chosen)}")


def _pending(current: CurrentDataset) -> None:
    """Draw how tags will change the next count, and the button that applies them now."""
    pending = pending_tags(current.store, current.name)
    if not pending:
        return
    st.info(f"In the next count {pending.describe()}.", icon=":material/balance:")
    if access.may_edit():
        apply, dataset = edits(apply_tags), (current.store, current.name)
        st.button("Apply now", on_click=apply, args=dataset, key="_tags_apply", type="primary")


@edits
def _set_role(current: CurrentDataset, tag: str, key: str) -> None:
    set_role(current.store, current.name, tag, st.session_state[key])
