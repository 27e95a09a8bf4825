"""Entry script of the web app: Streamlit runs it from top to bottom for every interaction."""

import streamlit as st

from cobalance.app.views.annotate import page as annotate
from cobalance.app.views.audit import page as audit
from cobalance.app.views.compare import page as compare
from cobalance.app.views.components import first_steps
from cobalance.app.views.components.imbalances import saved_views
from cobalance.app.views.cypher import page as cypher
from cobalance.app.views.datasets import page as datasets_page
from cobalance.app.views.diagnose import page as diagnose
from cobalance.app.views.evaluate import page as evaluate
from cobalance.app.views.find import page as find
from cobalance.app.views.jobs import page as jobs
from cobalance.app.views.neighbourhood import page as neighbourhood
from cobalance.app.views.plan import page as plan
from cobalance.app.views.state import refreshing, session, uploading, url
from cobalance.app.views.study import page as study
from cobalance.app.views.widgets import login, mark
from cobalance.app.views.widgets.messages import errors_shown

PAGES = (
    ("Datasets", "datasets", ":material/database:", datasets_page.page),
    ("Diagnose", "diagnose", ":material/balance:", diagnose.page),
    ("Neighbourhood", "neighbourhood", ":material/hub:", neighbourhood.page),
    ("Find", "find", ":material/image_search:", find.page),
    ("Plan", "plan", ":material/checklist:", plan.page),
    ("Jobs", "jobs", ":material/bolt:", jobs.page),
    ("Evaluate", "evaluate", ":material/analytics:", evaluate.page),
    ("Annotate", "annotate", ":material/new_label:", annotate.page),
    ("Audit", "audit", ":material/fact_check:", audit.page),
    ("Study", "study", ":material/groups:", study.page),
    ("Before/after", "compare", ":material/compare_arrows:", compare.page),
    ("Cypher", "cypher", ":material/terminal:", cypher.page),
)
WITH_UPLOADS = ("Datasets", "Evaluate", "Find")
WITHOUT_DATASET = ("Datasets", "Cypher")  # pages that work before anything is loaded


def main() -> None:
    """Draw the page that the address names."""
    refreshing.begin_run()
    st.set_page_config(page_title="cobalance", page_icon=mark.icon(), layout="wide")
    st.logo(mark.logo(), size="large")
    login.require_login()
    pages = {
        path: st.Page(function, title=title, icon=icon, url_path=path, default=path == "diagnose")
        for title, path, icon, function in PAGES
    }
    url.register(pages)
    page = st.navigation(list(pages.values()), position="top")
    if page.title not in WITH_UPLOADS:
        uploading.end_uploads()
    with errors_shown():
        if first_steps.follow() and page.title == "Datasets":
            url.go_to("diagnose")
        names = session.datasets()["dataset"].tolist()
        _header(page.title, page.url_path or "diagnose", names)
        url.restore()
        url.show_left_out()
        if names or page.title in WITHOUT_DATASET:
            page.run()
        else:
            first_steps.draw()
        url.forget_left_out()
        refreshing.rerun_if_asked()


def _header(title: str, path: str, names: list[str]) -> None:
    """Draw the page's title and the choice of the dataset, which is in every URL."""
    left, right = st.columns([3, 1], vertical_alignment="center")
    left.title(title, anchor=False)
    with right.container(horizontal=True, vertical_alignment="center"):
        if names:
            _choose_dataset(title, names)
            saved_views.draw_menu(path)
        login.account()


def _choose_dataset(title: str, names: list[str]) -> None:
    session.apply_choice(names, compare.first_dataset if title == "Before/after" else None)
    st.selectbox(
        "Dataset",
        names,
        index=None,  # no default: the URL always names the dataset
        key=session.DATASET,
        bind="query-params",
        on_change=url.clear,
        required=True,
        label_visibility="collapsed",
    )


if __name__ == "__main__":
    main()
