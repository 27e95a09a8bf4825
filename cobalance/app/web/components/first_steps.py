"""First steps in an empty store: load a demonstration dataset, or your own annotations."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import streamlit as st

from cobalance.app.web.state import may_edit, session, tasks, url
from cobalance.app.web.widgets import button_type, show_task, viewer_note
from cobalance.base import Progress
from cobalance.graph import GraphStore
from cobalance.workflows import NAME, Settings, ensure_demo, ensure_digits

TASK = "demo"
_LOADING = "_loading_demo"  # the name of the example that this session loads


@dataclass(frozen=True)
class Example:
    """A demonstration dataset.

    `about` is Markdown; `load` loads and mines it, unless the store has it.
    """

    title: str
    about: str
    load: Callable[[GraphStore, Settings, Progress], None]


EXAMPLES: dict[str, Example] = {
    NAME: Example(
        "UrbanCars",
        "8,000 photographs of cars, labelled country or urban. Annotations alone, loaded and mined "
        "within seconds.",
        lambda store, _settings, progress: ensure_demo(store, progress),
    ),
    "digits": Example(
        "Digits, with pictures",
        "800 small pictures of a handwritten three or eight on a photograph, with masks. Most "
        "backgrounds and things beside it give the digit away.",
        ensure_digits,
    ),
}
"""By the name of the dataset."""


def draw(*, own_data: bool = True) -> None:
    """Draw an introduction, with the ways to begin; `own_data`: a file of one's own, too."""
    st.header("Which concepts lean to a class in your images?", anchor=False)
    st.markdown(
        "cobalance counts what images show beside their class, says what leans to one class, and "
        "has the missing images made."
    )
    if not may_edit():
        st.markdown("Nothing is loaded yet.")
        viewer_note("load a dataset")
        return
    if show_task(TASK):
        return

    places = st.columns(len(EXAMPLES) + int(own_data), gap="medium")
    for place, (name, example) in zip(places, EXAMPLES.items(), strict=False):
        with place.container(border=True, height="stretch"):
            st.markdown(f"**{example.title}**")
            st.markdown(example.about)
            _button(name, "Load the example", primary=name == NAME)

    if not own_data:
        return
    with places[-1].container(border=True, height="stretch"):
        st.markdown("**Your own data**")
        st.markdown("A table with a class and concepts for each image, COCO, or folders of images.")
        if st.button("Choose a file", key="_load_own"):
            url.go_to("datasets")


def offer_more(names: Collection[str]) -> None:
    """Draw the examples that the store does not have, beside the form for one's own annotations."""
    lacking = [name for name in EXAMPLES if name not in names]
    if show_task(TASK) or not lacking:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Or look at an example:", width="content")
        for name in lacking:
            _button(name, EXAMPLES[name].title)


def _button(name: str, label: str, *, primary: bool = False) -> None:
    """Draw the button that loads an example."""
    if st.button(label, key=f"_load_demo {name}", type=button_type(primary)):
        _start(name)
        st.rerun()


def follow() -> bool:
    """Choose the example once it is loaded; return whether that was just now."""
    task = tasks.find(TASK)
    name = st.session_state.get(_LOADING)
    if name is None or task is None or task.is_running:
        return False

    # Once only, so that another dataset can be chosen afterwards.
    del st.session_state[_LOADING]
    if task.error is not None:
        return False
    session.choose(name)
    tasks.dismiss(TASK)
    return True


def _start(name: str) -> None:
    store, settings, example = session.store(), session.settings(), EXAMPLES[name]

    def work(progress: Progress) -> str:
        example.load(store, settings, progress)
        return f"{example.title}: loaded."

    tasks.start(TASK, "Loading the example", work)
    st.session_state[_LOADING] = name
