"""Where image files are: the folders and ZIP files that are searched, and adding more of them."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from cobalance.app.web.state import import_folders, require_editor, session
from cobalance.app.web.widgets import edits, errors_shown, escape, show_kept_error
from cobalance.base import mask_credentials
from cobalance.workflows import (
    EVERYWHERE,
    AddedPlace,
    add_place,
    added_places,
    offered_places,
    places_with,
    read_dataset_places,
    remove_place,
)

ALL = "All datasets"
# A new folder is offered after this time at the latest.
_FRESH_S = 20.0


@st.fragment
def draw_image_folders() -> None:
    """Draw the places that are searched, and the way to add and remove one."""
    with errors_shown():
        require_editor()
        st.markdown(
            "Image files are looked for in these places, one after the other. Nothing is copied."
        )
        names = session.datasets()["dataset"]
        chosen = st.selectbox("Of", [ALL, *names], key="_places_of")
        dataset = None if chosen == ALL else str(chosen)
        _places(dataset)
        add_form("_places", dataset=dataset)


def _places(dataset: str | None) -> None:
    """Draw the places in the order in which they are searched."""
    settings = session.settings()
    folders = settings.folders()
    if dataset is not None:
        for path in folders.uploaded_pictures(dataset):
            _place(path, "uploaded with the annotations")
        for path in read_dataset_places(folders.home, dataset).own:
            _place(path, "beside the annotations")
        _added(added_places(folders, dataset), dataset)

    for root in settings.cobalance_images:
        _place(mask_credentials(root), "set in COBALANCE_IMAGES")
    _added(added_places(folders), None)
    _place(mask_credentials(folders.output), "for images that workers make")


def _added(places: Sequence[AddedPlace], dataset: str | None) -> None:
    scope = "for all datasets" if dataset is None else "for it alone"
    for place in places:
        note = f"added {scope}" if place.used else "added, but no longer there, or not allowed"
        _place(str(place.path), note, place.path, dataset)


def _place(name: str, note: str, added: Path | None = None, dataset: str | None = None) -> None:
    """Draw a place, with a button to remove one that was added."""
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.text(name, width="stretch")
        st.caption(note, width="content")
        if added is not None:
            st.button(
                "Remove",
                key=f"_place_remove {added}",
                icon=":material/close:",
                type="tertiary",
                on_click=edits(remove_place),
                args=(session.settings().folders(), added, dataset),
            )


def add_form(key: str, uris: Sequence[str] = (), dataset: str | None = None) -> None:
    """Draw the choice of a folder or ZIP file to add; `key` is distinct for each place of the form.

    It is added for a dataset, or for all where there is none. Folders in which the image files
    `uris` are found are offered as buttons.
    """
    roots = import_folders()
    if not roots:
        st.caption(
            ":material/lock: Whoever runs this app says in COBALANCE_IMPORTS which folders images "
            "may be added from, and has named none."
        )
        return

    show_kept_error()
    places = _with_files(tuple(uris), roots) if uris else ()
    for number, place in enumerate(places):
        st.button(
            f"Add {escape(str(place))}",
            key=f"{key} found {number}",
            icon=":material/create_new_folder:",
            on_click=_add,
            args=(str(place), roots, dataset),
        )

    added = {place.path for place in added_places(session.settings().folders(), dataset)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        path = st.selectbox(
            "Folder or ZIP file of images",
            [str(place) for place in _offer(roots) if place not in added],
            index=None,
            accept_new_options=True,
            placeholder="Choose or type one",
            key=f"{key} path",
            help="Any that this app's user may read."
            if EVERYWHERE in roots
            else f"In {', '.join(map(str, roots))}, as whoever runs this app allows.",
        )
        st.button(
            "Add",
            key=f"{key} add",
            icon=":material/add:",
            disabled=not path,
            on_click=_add,
            args=(path or "", roots, dataset, f"{key} path"),
        )


@edits
def _add(path: str, roots: Sequence[Path], dataset: str | None, field: str | None = None) -> None:
    """Add a place, and empty the field that it was named in."""
    add_place(session.settings().folders(), path, roots, dataset)
    if field is not None:
        st.session_state[field] = None


_offer = st.cache_data(ttl=_FRESH_S, show_spinner="Looking for folders of images")(offered_places)
_with_files = st.cache_data(ttl=_FRESH_S, show_spinner="Looking for the images")(places_with)
