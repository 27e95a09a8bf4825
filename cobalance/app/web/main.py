"""Entry script of the web app: Streamlit runs it from top to bottom for every interaction."""

from base64 import b64encode
from importlib import import_module
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from cobalance.app.web.components import first_steps, saved_views
from cobalance.app.web.server.counters import page_run
from cobalance.app.web.state import access, refreshing, session, url
from cobalance.app.web.widgets import Page, errors_shown, meaning

# Folders of `page`, in the order of the menu. One called `pages` Streamlit would take for its own.
FOLDERS = (
    "load",
    "diagnose",
    "neighbourhood",
    "find",
    "plan",
    "jobs",
    "evaluate",
    "annotate",
    "audit",
    "study",
    "compare",
    "cypher",
)
FIRST = "diagnose"


def declared_pages() -> dict[str, Page]:
    """The pages by their addresses, in the order of the menu."""
    pages: dict[str, Page] = {}
    for folder in FOLDERS:
        page = import_module(f"cobalance.app.web.page.{folder}.page").PAGE
        pages[page.path] = page
    return pages


PAGES = declared_pages()


def main() -> None:
    """Draw the page that the URL names."""
    refreshing.begin_run()
    st.set_page_config(page_title="cobalance", page_icon=_picture("icon.svg"), layout="wide")
    st.logo(_picture("logo.svg"), size="large")
    require_login()

    menu = {
        path: st.Page(
            page.draw, title=page.title, icon=page.icon, url_path=path, default=path == FIRST
        )
        for path, page in PAGES.items()
    }
    url.register(menu)
    chosen = st.navigation(list(menu.values()), position="top")
    # Streamlit gives the first page an empty path.
    page = PAGES[chosen.url_path or FIRST]

    # Files that were sent for a page are not kept on the others.
    if not page.takes_uploads:
        access.end_uploads()
    with errors_shown(), page_run(page.title):
        _draw_page(page, chosen)


def _draw_page(page: Page, chosen: StreamlitPage) -> None:
    """Draw the title and the choice of the dataset, and the page if it can be drawn without one."""
    if first_steps.follow() and page.path == "datasets":
        url.go_to(FIRST)
    names = session.datasets()["dataset"].tolist()
    _header(page, names)

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
    """Draw the page's title and the choice of the dataset, which is in every URL."""
    left, right = st.columns([3, 1], vertical_alignment="center")
    explained = [f"- **{word}**: {meaning(word)}" for word in page.words]
    left.title(page.title, anchor=False, help="\n".join(explained) or None)

    with right.container(horizontal=True, vertical_alignment="center"):
        if names:
            _choose_dataset(page, names)
            saved_views.draw_menu(page.path)
        draw_account()


def _choose_dataset(page: Page, names: list[str]) -> None:
    """Draw the choice of the dataset, and say whether it is a demo."""
    session.apply_choice(names, page.first_dataset)
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

    if session.current().state.demo:
        st.badge("demo", color="gray", help="From `cobalance demo`, whose `--remove` deletes it.")


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
