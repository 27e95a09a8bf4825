"""What an empty store offers: the demonstration dataset, and annotations of one's own."""

import streamlit as st

from app.demo import NAME
from app.demo.loading import ensure_demo
from app.views.state import session, tasks, url
from app.views.state.access import may_edit
from app.views.widgets.task_progress import show_task
from graph.progress import Progress

TASK = "demo"
_LOADING = "_loading_demo"


def draw(*, own_data: bool = True) -> None:
    """Draw what cobalance does, and both ways to begin.

    Parameters
    ----------
    own_data : bool
        Whether to offer the form for one's own annotations; not on its page.
    """
    st.subheader("Which concepts lean to a class in your images?", anchor=False)
    st.markdown(
        "cobalance counts what images show beside their class, says what leans to one class, and "
        "has the missing images made."
    )
    if not may_edit():
        st.caption("Nothing is loaded yet. Editors of this app can load a dataset.")
        return
    if show_task(TASK):
        return
    places = st.columns(2, gap="medium") if own_data else [st.container()]
    with places[0].container(border=True, height="stretch"):
        st.markdown("**Look at an example**")
        st.markdown(
            "UrbanCars: 8,000 photographs of cars, labelled country or urban. Annotations alone, "
            "loaded and mined within seconds."
        )
        if st.button("Load the example", key="_load_demo", type="primary"):
            _start()
            st.rerun()
    if not own_data:
        return
    with places[1].container(border=True, height="stretch"):
        st.markdown("**Begin with your own data**")
        st.markdown("A table with a class and concepts for each image, COCO, or folders of images.")
        if st.button("Choose a file", key="_load_own"):
            url.go_to("datasets")


def follow() -> None:
    """Show the example once it is loaded."""
    task = tasks.find(TASK)
    if st.session_state.get(_LOADING) and task is not None and not task.is_running:
        del st.session_state[_LOADING]
        if task.error is None:
            session.choose(NAME)
            tasks.dismiss(TASK)


def _start() -> None:
    store = session.store()

    def work(progress: Progress) -> str:
        ensure_demo(store, progress)
        return "The example is loaded."

    tasks.start(TASK, "Loading the example", work)
    st.session_state[_LOADING] = True
