"""Entry script of the web app: Streamlit runs it from top to bottom for every interaction."""

from base64 import b64encode
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from cobalance.app.web.annotate import page as annotate
from cobalance.app.web.compare import page as compare
from cobalance.app.web.components import first_steps, saved_views
from cobalance.app.web.cypher import page as cypher
from cobalance.app.web.diagnose import page as diagnose
from cobalance.app.web.evaluate import page as evaluate
from cobalance.app.web.find import page as find
from cobalance.app.web.jobs import page as jobs
from cobalance.app.web.load import page as datasets_page
from cobalance.app.web.neighbourhood import page as neighbourhood
from cobalance.app.web.panel import page as panel
from cobalance.app.web.plan import page as plan
from cobalance.app.web.server.counters import page_run
from cobalance.app.web.state import access, refreshing, session, url
from cobalance.app.web.widgets import errors_shown, meaning

PAGES = (
    ("Datasets", "datasets", ":material/database:", datasets_page.page),
    ("Diagnose", "diagnose", ":material/balance:", diagnose.page),
    ("Neighbourhood", "neighbourhood", ":material/hub:", neighbourhood.page),
    ("Find", "find", ":material/image_search:", find.page),
    ("Plan", "plan", ":material/checklist:", plan.page),
    ("Jobs", "jobs", ":material/bolt:", jobs.page),
    ("Evaluate", "evaluate", ":material/analytics:", evaluate.page),
    ("Annotate", "annotate", ":material/new_label:", annotate.page),
    ("Audit", "audit", ":material/fact_check:", panel.audit),
    ("Study", "study", ":material/groups:", panel.study),
    ("Before/after", "compare", ":material/compare_arrows:", compare.page),
    ("Cypher", "cypher", ":material/terminal:", cypher.page),
)
# Words of the glossary that the help beside a page's title explains. Not a docstring: Streamlit
# runs this file, and may draw a text that stands alone.
WORDS = {
    "Annotate": ("annotation run", "attribute", "annotator"),
    "Audit": ("audit",),
    "Evaluate": ("evaluation", "training method", "learner", "shortcut", "counterfactual"),
    "Find": ("embedding", "tag"),
    "Jobs": ("job", "task", "worker", "recipe", "segmenter", "candidate", "verdict"),
    "Study": ("study",),
}
WITH_UPLOADS = ("Datasets", "Evaluate", "Find")
# Pages that work before anything is loaded.
WITHOUT_DATASET = ("Datasets", "Cypher")


def main() -> None:
    """Draw the page that the URL names."""
    refreshing.begin_run()
    st.set_page_config(page_title="cobalance", page_icon=_picture("icon.svg"), layout="wide")
    st.logo(_picture("logo.svg"), size="large")
    require_login()

    pages = {
        path: st.Page(function, title=title, icon=icon, url_path=path, default=path == "diagnose")
        for title, path, icon, function in PAGES
    }
    url.register(pages)
    page = st.navigation(list(pages.values()), position="top")
    # Files that were sent for a page are not kept on the others.
    if page.title not in WITH_UPLOADS:
        access.end_uploads()
    with errors_shown(), page_run(page.title):
        _draw_page(page)


def _draw_page(page: StreamlitPage) -> None:
    """Draw the title and the choice of the dataset, and the page if it can be drawn without one."""
    if first_steps.follow() and page.title == "Datasets":
        url.go_to("diagnose")
    names = session.datasets()["dataset"].tolist()
    # Streamlit gives the first page an empty path.
    _header(page.title, page.url_path or "diagnose", names)

    url.restore()
    url.show_left_out()
    if names or page.title in WITHOUT_DATASET:
        page.run()
    else:
        first_steps.draw()

    # At the end, as a run that is cut short has said it to nobody.
    url.forget_left_out()
    refreshing.rerun_if_asked()


def _picture(name: str) -> str:
    """A picture of this folder as a data URL: a browser may ask for the server's files too late."""
    data = Path(__file__).with_name(name).read_bytes()
    return f"data:image/svg+xml;base64,{b64encode(data).decode()}"


def _header(title: str, path: str, names: list[str]) -> None:
    """Draw the page's title and the choice of the dataset, which is in every URL."""
    left, right = st.columns([3, 1], vertical_alignment="center")
    explained = [f"- **{word}**: {meaning(word)}" for word in WORDS.get(title, ())]
    left.title(title, anchor=False, help="\n".join(explained) or None)

    with right.container(horizontal=True, vertical_alignment="center"):
        if names:
            _choose_dataset(title, names)
            saved_views.draw_menu(path)
        draw_account()


def _choose_dataset(title: str, names: list[str]) -> None:
    """Draw the choice of the dataset, and say whether it is a demo."""
    session.apply_choice(names, compare.first_dataset if title == "Before/after" else None)
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
