"""Entry script of the web app: Streamlit runs it from top to bottom for every interaction."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from cobalance.app.web.components import first_steps, saved_views
from cobalance.app.web.server.counters import page_run
from cobalance.app.web.state import access, refreshing, session, url
from cobalance.app.web.widgets import Page, errors_shown, meaning
from cobalance.workflows import StepState, steps_of

# Folders of `page`, in the order of the menu. One called `pages` Streamlit would take for its own.
FOLDERS = ("load", "diagnose", "plan", "jobs", "compare", "evaluate", "annotate", "study", "cypher")
# Folders of views of other pages, which these name themselves.
VIEWS = ("neighbourhood", "find", "audit")
FIRST = "diagnose"
# Pages beside the way of a dataset, which the menu keeps behind *More*.
MORE = ("annotate", "study", "cypher")
_MARKS = "_marks"
_ICONS: Mapping[StepState, str] = {
    "done": ":material/check_circle:",
    "next": ":material/radio_button_checked:",
}
_MEANINGS: Mapping[StepState, str] = {"done": "Done.", "next": "The next step."}


def declared_pages(folders: Sequence[str]) -> dict[str, Page]:
    """Pages by their addresses."""
    pages: dict[str, Page] = {}
    for folder in folders:
        page = import_module(f"cobalance.app.web.page.{folder}.page").PAGE
        pages[page.path] = page
    return pages


# In the order of the menu.
PAGES = declared_pages(FOLDERS)
_VIEWS = declared_pages(VIEWS).values()


def main() -> None:
    """Draw the page that the URL names."""
    refreshing.begin_run()
    session.begin_run()
    st.set_page_config(page_title="cobalance", page_icon=_picture("icon.svg"), layout="wide")
    st.logo(_picture("logo.svg"), size="large")
    require_login()

    chosen = _draw_menu()
    # Streamlit gives the first page an empty path.
    page = PAGES[chosen.url_path or FIRST]

    # Files that were sent for a page are not kept on the others.
    if not page.takes_uploads:
        access.end_uploads()
    with errors_shown(), page_run(page.title):
        _draw_page(page, chosen)


def _draw_menu() -> StreamlitPage:
    """Draw the menu, with how far the dataset was in the last run; return the chosen page."""
    marks = st.session_state.get(_MARKS, {})
    menu = {}
    for path, page in PAGES.items():
        views = {view.title: view.draw for view in _VIEWS if view.part_of == path}
        menu[path] = st.Page(
            partial(page.draw, views) if views else page.draw,
            title=page.title,
            icon=_ICONS.get(marks.get(path), page.icon),
            url_path=path,
            default=path == FIRST,
            help=_MEANINGS.get(marks.get(path)),
        )

    url.register(menu)
    way = [menu[path] for path in PAGES if path not in MORE]
    return st.navigation({"": way, "More": [menu[path] for path in MORE]}, position="top")


def _draw_page(page: Page, chosen: StreamlitPage) -> None:
    """Draw the choice of the dataset, and the page if it can be drawn without one."""
    if first_steps.follow() and page.path == "datasets":
        url.go_to(FIRST)
    names = session.datasets()["dataset"].tolist()
    _header(page, names)

    # The menu is drawn before the dataset is known, and once more where it says something else.
    marks: dict[str, StepState] = {}
    if names:
        current = session.current()
        marks = steps_of(current.state, current.progress)
    if marks != st.session_state.get(_MARKS):
        st.session_state[_MARKS] = marks
        chosen = _draw_menu()

    url.restore()
    url.show_left_out()
    if names or not page.needs_dataset:
        chosen.run()
    else:
        first_steps.draw()

    # At the end, as a run that is cut short has said it to nobody.
    url.forget_left_out()
    refreshing.rerun_if_asked()


def _picture(name: str) -> str:
    """A picture of this folder as a data URL: a browser may ask for the server's files too late."""
    data = Path(__file__).with_name(name).read_bytes()
    return f"data:image/svg+xml;base64,{b64encode(data).decode()}"


def _header(page: Page, names: list[str]) -> None:
    """Draw the choice of the dataset, which is in every URL, at the end of the menu's row.

    The page's name, which the menu shows, is for those who hear the page.
    """
    of_views = [view.words for view in _VIEWS if view.part_of == page.path]
    words = chain(page.words, *of_views)
    explained = [f"- **{word}**: {meaning(word)}" for word in words]
    with st.container(horizontal=True, vertical_alignment="center", key="_header"):
        st.title(page.title, anchor=False, help="\n".join(explained) or None, width="content")
        if names:
            _choose_dataset(page, names)
            saved_views.draw_menu(page.path)
        draw_account()


def _choose_dataset(page: Page, names: list[str]) -> None:
    """Draw the choice of the dataset, and say whether it is a demo."""
    session.apply_choice(names, page.first_dataset)
    with st.container(key="_dataset", width=190):
        st.selectbox(
            "Dataset",
            names,
            # No default, so that the URL always names the dataset.
            index=None,
            key=session.DATASET,
            bind="query-params",
            on_change=url.clear,
            required=True,
            label_visibility="collapsed",
        )
        # Over the end of the field: in an option's text, it would be in the URL.
        if session.current().state.demo:
            st.caption("demo")


def require_login() -> None:
    """Return if the user may look; else say so, and end the run.

    Who has yet to log in comes no further than `cobalance.app.web.server.login_check.LoginCheck`.
    """
    user = access.user()
    if user is None:
        st.stop()
    if user.may_look:
        return

    _, middle, _ = st.columns([1, 2, 1])
    with middle.container(border=True):
        st.markdown("## cobalance", text_alignment="center")
        st.text(f"You are logged in as {user.name}, who may not see this app.")
        advice = "Ask its operator to add you to COBALANCE_VIEWERS."
        st.caption(access.advice_or_unproven(advice))
        st.button("Log out", on_click=st.logout, width="stretch")
    st.stop()


def draw_account() -> None:
    """Draw the account menu; nothing without logins."""
    user = access.user()
    if user is None or not user.name:
        return
    with st.popover(":material/account_circle:", help="Your account"):
        st.text(user.name)
        st.caption("Editor." if user.may_edit else "Viewer: read only.")
        st.button("Log out", on_click=st.logout, width="stretch")


if __name__ == "__main__":
    main()
