"""Page Data: list and describe datasets; load, mine, rename and drop them."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.components import first_steps, mine_button
from cobalance.app.web.page.load import dataset_images, image_folders, importing
from cobalance.app.web.state import (
    CurrentDataset,
    in_url,
    may_edit,
    number_in_url,
    session,
    tasks,
    url,
)
from cobalance.app.web.widgets import (
    Page,
    bold,
    button_type,
    choose_view,
    count_column,
    draw_table,
    empty_state,
    escape,
    show_error,
    show_task,
    text_column,
    viewer_note,
)
from cobalance.base import CobalanceError, Progress, StaleError, clean_name, inflect
from cobalance.graph import CATALOGUE, GraphStore
from cobalance.workflows import class_colors, describe_mining, drop_dataset, rename_dataset

_VIEW = "ds_view"
_VIEWS = {
    "pictures": "Images",
    "details": "Details",
    "load": "Load annotations",
    "images": "Image folders",
}
_MOST_RARE = 500
# The dialog that is open: mine, rename or drop.
_DIALOG = "_ds_dialog"
# The old and the new name, until the page has chosen the new one.
_RENAMED = "_renamed"
# Keys of the page's tasks begin with these words.
_TASKS = ("load", "mine", "rename", "drop")


def page() -> None:
    """Draw the page."""
    _follow()
    frame = session.datasets()
    names: list[str] = frame["dataset"].tolist()
    views = []
    if names:
        views += ["pictures", "details"]
    if may_edit():
        views += ["load", "images"]
    if not views:
        empty_state("No dataset yet", "What editors load is shown here.")
        viewer_note("load a dataset")
        return

    next_view = st.session_state.pop(importing.NEXT, None)
    if next_view == "diagnose":
        url.go_to("diagnose")
    if next_view == "details":
        st.session_state[_VIEW] = "details"

    viewer_note("load, mine, rename and drop datasets, and add folders of images")
    view = views[0]
    if len(views) > 1:
        view = choose_view("View", views, _VIEW, _VIEWS.__getitem__)
    for key in tasks.keys(*_TASKS):
        if view != "load" or key != importing.shown_task():
            show_task(key)

    if view == "load":
        if not names:
            first_steps.draw(own_data=False)
        importing.draw_import()
        if names:
            first_steps.offer_more(names)
    elif view == "images":
        image_folders.draw_image_folders()
    elif view == "pictures":
        dataset_images.draw(session.current())
    elif names:
        _overview(frame)
        _details(session.current(), frame)


PAGE = Page(
    "Data", "datasets", ":material/database:", page, takes_uploads=True, needs_dataset=False
)


def _follow() -> None:
    """Select the dataset that this session has loaded or renamed, when that has ended.

    After a load the view stays: while the progress refreshes, a browser would undo the change.
    """
    loading = st.session_state.get(importing.LOADING)
    if loading is not None:
        _follow_task(importing.LOADING, f"load {loading}", loading)
    renaming = st.session_state.get(_RENAMED)
    if renaming is not None:
        old, new = renaming
        _follow_task(_RENAMED, f"rename {old}", new)


def _follow_task(state: str, key: str, name: str) -> None:
    """Choose the task's dataset if the task has ended well; forget the task once it has ended."""
    task = tasks.find(key)
    if task is not None and task.is_running:
        return

    del st.session_state[state]
    if task is not None and task.error is None:
        if state == importing.LOADING:
            importing.end_load(name)
        session.choose(name)
        st.rerun()


def _overview(frame: pd.DataFrame) -> None:
    """Draw all datasets, demonstrations on request; a click on one chooses it."""
    chosen = st.session_state.get(session.DATASET)
    is_hidden = frame["demo"] & (frame["dataset"] != chosen)
    if is_hidden.any() and not frame["demo"].all():
        label = f"Show {inflect(int(is_hidden.sum()), 'datasets')} of demonstrations"
        if not st.toggle(label, **in_url("ds_demos")):
            frame = frame[~is_hidden]
    names: list[str] = frame["dataset"].tolist()
    selection = {"rows": [names.index(chosen)] if chosen in names else []}
    # Another key with another choice: a table's own selection would go before its default.
    key = f"_datasets {chosen} {len(names)}"
    counts = ["Images", "Classes", "Concepts", "Cliques"]

    draw_table(
        frame.set_axis(["Dataset", *counts, "State", "Updated", "From", "Demo"], axis=1),
        320,
        {
            "Dataset": text_column(width="medium"),
            **dict.fromkeys(counts, count_column(width=90)),
            "State": text_column(width=140),
            "Updated": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", width=140),
        },
        key=key,
        on_select=lambda: _choose_row(key, names),
        selection_mode="single-row",
        selection_default={"selection": selection},
    )


def _choose_row(key: str, names: list[str]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        st.session_state[session.DATASET] = names[rows[0]]
        url.clear()


def _details(current: CurrentDataset, frame: pd.DataFrame) -> None:
    """Draw the dataset's measures, classes and rare concepts, and the buttons to change it."""
    (row,) = frame[frame["dataset"] == current.name].to_dict("records")
    try:
        current.state.require_complete()
        is_complete = True
    except StaleError as error:
        is_complete = False
        show_error(error)
    # An incomplete one can still be dropped, or its renaming be finished.
    if may_edit():
        _actions(current, is_complete=is_complete)
    if not is_complete:
        return

    by_class = current.read(_by_class)
    _measures(current, row, by_class)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _classes(by_class)
    with right:
        _rare_concepts(current, int(row["concepts"]))


def _measures(current: CurrentDataset, row: Mapping[Hashable, Any], by_class: pd.DataFrame) -> None:
    """Draw how many images, classes, concepts and cliques the dataset has."""
    n_images, n_without = int(by_class["class_size"].sum()), int(by_class["images"].sum())
    share = f"{n_without / n_images:.1%}" if n_images else "-"
    cliques = "-" if current.state.mining is None else f"{row['cliques']:,}"

    with st.container(horizontal=True):
        st.metric("Images", f"{n_images:,}")
        st.metric("Classes", f"{row['classes']:,}")
        st.metric("Concepts", f"{row['concepts']:,}")
        st.metric(
            "Images without a concept",
            share,
            help=f"{n_without:,} images. They count in no clique.",
        )
        st.metric("Cliques", cliques, help=_describe_mining(current))


def _describe_mining(current: CurrentDataset) -> str:
    if current.state.mining is None:
        return "Not mined yet."
    stale = "" if current.is_mined else " The images have changed since."
    return escape(f"{describe_mining(current.mining)}{stale}")


def _by_class(store: GraphStore, dataset: str) -> pd.DataFrame:
    frame = store.read_frame(CATALOGUE["images-without-concepts"].text, dataset=dataset)
    return frame.sort_values("class", ignore_index=True)


def _classes(by_class: pd.DataFrame) -> None:
    """Draw a row a class, in its colour: its images, and how many of them show no concept."""
    st.markdown("**Classes**", help="Images of each class, and those that show no concept.")
    sizes = by_class["class_size"]
    rows = pd.DataFrame(
        {
            "Colour": "⬤",
            "Class": by_class["class"],
            "Images": sizes,
            "No concept": by_class["images"],
            "Share": 100 * by_class["images"] / sizes.clip(lower=1),
        }
    )
    colors = class_colors(by_class["class"].tolist())
    styles = [f"color: {colors[name]}" for name in by_class["class"]]

    draw_table(
        rows.style.apply(lambda _: styles, subset=["Colour"]),
        390,
        {
            "Colour": text_column(width=60),
            "Class": text_column(width="medium"),
            "Images": st.column_config.ProgressColumn(
                min_value=0,
                max_value=max(int(sizes.max()), 1),
                format="localized",
                width="medium",
                color="gray",
            ),
            "No concept": count_column(width=90),
            "Share": st.column_config.NumberColumn(format="%.1f%%", width=80),
        },
    )


def _rare_concepts(current: CurrentDataset, concepts: int) -> None:
    """Draw the concepts of few images, with the choice of how many are few."""
    st.markdown("**Rare concepts**", help="Their statistics rest on few images.")
    most = st.number_input(
        "Concepts in at most this many images", 1, value=10, **number_in_url("ds_rare"), width=260
    )
    rare = current.read(_rare, int(most))
    if rare.empty:
        st.caption(f"Each of the {concepts:,} concepts is in more than {most:,} images.")
        return

    # The query stops at this many, and there may be more.
    more = "at least " if len(rare) == _MOST_RARE else ""
    st.caption(f"{more}{len(rare):,} of {concepts:,} concepts")
    draw_table(
        rare.set_axis(["Concept", "Images"], axis=1),
        320,
        {"Concept": text_column(width=280), "Images": count_column(width=90)},
    )


def _rare(store: GraphStore, dataset: str, most: int) -> pd.DataFrame:
    text = CATALOGUE["rare-concepts"].text
    return store.read_frame(text, dataset=dataset, max_images=most, limit=_MOST_RARE)


def _actions(current: CurrentDataset, *, is_complete: bool) -> None:
    """Draw the buttons for mining, renaming and dropping; disabled while one of these runs."""
    is_busy = tasks.is_running(*(f"{kind} {current.name}" for kind in _TASKS))
    mine_first = is_complete and not current.is_mined
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(bold(current.name), width="content")
        _dialog_button(
            "mine", "balance", "_ds_mine", primary=mine_first, disabled=is_busy or not is_complete
        )
        _dialog_button("rename", "edit", "_rename", disabled=is_busy)
        _dialog_button("drop", "delete", "_drop", disabled=is_busy)

    match st.session_state.get(_DIALOG):
        case "mine":
            _mine_dialog(current)
        case "rename":
            _rename_dialog(current.name, current.state.renaming_to or current.name)
        case "drop":
            _drop_dialog(current.name)


def _dialog_button(
    dialog: str, icon: str, key: str, *, disabled: bool, primary: bool = False
) -> None:
    """Draw the button that opens a dialog, which stays open in the runs that follow."""
    st.button(
        dialog.capitalize(),
        icon=f":material/{icon}:",
        key=key,
        type=button_type(primary),
        disabled=disabled,
        on_click=st.session_state.update,
        args=({_DIALOG: dialog},),
    )


def _close_dialog() -> None:
    st.session_state.pop(_DIALOG, None)


@st.dialog("Mine the dataset", on_dismiss=_close_dialog)
def _mine_dialog(current: CurrentDataset) -> None:
    st.caption("Counts every combination of concepts in every class.")
    options = mine_button.fields(current, "_mine")
    if st.button("Mine", type="primary", key="_mine_now"):
        _in_dialog(lambda: mine_button.start(current.name, options))


@st.dialog("Rename the dataset", on_dismiss=_close_dialog)
def _rename_dialog(name: str, proposed: str) -> None:
    new = clean_name(st.text_input("New name", proposed, key="_new_name"))
    if st.button("Rename", type="primary", key="_rename_now", disabled=new in ("", name)):
        _in_dialog(lambda: _start_rename(name, new))


def _start_rename(name: str, new: str) -> None:
    store, settings = session.store(), session.settings()

    def work(progress: Progress) -> str:
        rename_dataset(store, settings.folders(), name, new, progress)
        return f"Renamed {name} to {new}."

    tasks.start(f"rename {name}", f"Renaming {name}", work)
    st.session_state[_RENAMED] = (name, new)


@st.dialog("Drop the dataset", on_dismiss=_close_dialog)
def _drop_dialog(name: str) -> None:
    st.text(f"This deletes {name} with everything that belongs to it.")
    typed = st.text_input("Type its name to confirm", key="_drop_name")
    if st.button("Drop", type="primary", key="_drop_now", disabled=clean_name(typed) != name):
        _in_dialog(lambda: _start_drop(name))


def _start_drop(name: str) -> None:
    store, settings = session.store(), session.settings()

    def work(progress: Progress) -> str:
        drop_dataset(store, settings.folders(), name, progress)
        return f"Dropped {name}."

    tasks.start(f"drop {name}", f"Dropping {name}", work)


def _in_dialog(begin: Callable[[], None]) -> None:
    """Start something and close the dialog, or show its error there."""
    try:
        begin()
    except CobalanceError as error:
        show_error(error)
    else:
        _close_dialog()
        st.rerun()
