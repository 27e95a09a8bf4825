"""Saved views of the dataset, at the head of every page: open, save, rename and delete them."""

from collections.abc import Iterable
from urllib.parse import urlencode

import streamlit as st

from cobalance.app.web.state import access, session
from cobalance.app.web.widgets import (
    edits,
    errors_in_fragment,
    escape,
    show_kept_error,
    unless_empty,
)
from cobalance.graph import delete_view, list_views, rename_view, save_view

MENU = "_views"


def link(page: str, query: str, dataset: str) -> str:
    """The relative link of a view.

    Examples
    --------
    >>> link("diagnose", "by=gap", "my cars")
    'diagnose?dataset=my+cars&by=gap'
    """
    return f"{page}?{urlencode({session.DATASET: dataset})}{query and '&'}{query}"


def current_query(parameters: Iterable[tuple[str, list[str]]]) -> str:
    """The parameters of a link but for the dataset, as they stand in a URL.

    Examples
    --------
    >>> current_query([("dataset", ["cars"]), ("by", ["gap"]), ("clique", ['["a"]', "b c"])])
    'by=gap&clique=%5B%22a%22%5D&clique=b+c'
    """
    rest = [(name, values) for name, values in parameters if name != session.DATASET]
    return urlencode(rest, doseq=True)


@st.fragment
def draw_menu(path: str) -> None:
    """Draw the menu of views, on the page of this path."""
    menu = st.popover("Views", icon=":material/bookmark:", key=MENU, on_change="rerun")
    if not menu.open:
        return

    with menu, errors_in_fragment():
        show_kept_error()
        dataset = st.session_state[session.DATASET]
        views = list_views(session.store(), dataset)
        if views.empty:
            st.caption("No saved views. One keeps this page's link: filters, order, selection.")
        for view in views.to_dict("records"):
            creator = unless_empty(" by {}", view["created_by"])
            st.link_button(
                escape(view["view"]),
                link(view["page"], view["query"], dataset),
                type="tertiary",
                help=f"{view['page']}, saved {view['created_at']}{creator}",
            )

        if access.may_edit():
            name = st.text_input("Name", key="_view_name", placeholder="Such as: cows by gap")
            saving = (dataset, path, name)
            st.button("Save this view", key="_view_save", on_click=_save, args=saving)
            if len(views):
                _change(dataset, views["view"].tolist())


def _change(dataset: str, names: list[str]) -> None:
    """Draw how to rename or delete a view."""
    with st.expander("Rename or delete"):
        chosen = st.selectbox("View", names, key="_view_chosen", required=True)
        new = st.text_input("New name", chosen, key=f"_view_new {chosen}")
        with st.container(horizontal=True):
            rename, delete = edits(rename_view), edits(delete_view)
            view = (session.store(), dataset, chosen)
            st.button("Rename", key="_view_rename", on_click=rename, args=(*view, new))
            st.button("Delete", key="_view_delete", on_click=delete, args=view)


@edits
def _save(dataset: str, path: str, name: str) -> None:
    query = current_query((key, st.query_params.get_all(key)) for key in st.query_params)
    save_view(session.store(), dataset, name, path, query, by=access.user_name())
