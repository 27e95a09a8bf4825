"""The web app's entry script: Streamlit runs it from top to bottom for every interaction."""

import streamlit as st

from app.views import (
    access,
    compare,
    cypher,
    diagnose,
    jobs,
    neighbourhood,
    parts,
    plan,
    session,
    url,
)
from app.views import datasets as datasets_page
from app.views.theme import page_icon

PAGES = (
    ("Datasets", "datasets", ":material/database:", datasets_page.page),
    ("Diagnose", "diagnose", ":material/balance:", diagnose.page),
    ("Neighbourhood", "neighbourhood", ":material/hub:", neighbourhood.page),
    ("Plan", "plan", ":material/checklist:", plan.page),
    ("Jobs", "jobs", ":material/bolt:", jobs.page),
    ("Before/after", "compare", ":material/compare_arrows:", compare.page),
    ("Cypher", "cypher", ":material/terminal:", cypher.page),
)
WITHOUT_DATASET = ("Datasets", "Cypher")  # pages that work before anything is loaded


def main() -> None:
    """Draw one page."""
    st.set_page_config(page_title="cobalance", page_icon=page_icon(), layout="wide")
    access.require_login()
    pages = {
        path: st.Page(function, title=title, icon=icon, url_path=path, default=path == "diagnose")
        for title, path, icon, function in PAGES
    }
    url.register(pages)
    page = st.navigation(list(pages.values()), position="top")
    with parts.errors_shown():
        names = session.datasets()["dataset"].tolist()
        _header(page.title, names)
        url.restore(page.title)
        if names or page.title in WITHOUT_DATASET:
            page.run()
        else:
            parts.empty_state(
                "No dataset yet",
                "Load an annotation file on the **Datasets** page, or run `cobalance demo` in a "
                "terminal for a small real one.",
            )


def _header(title: str, names: list[str]) -> None:
    """Draw the page's title, and beside it the choice of the dataset, which is in every URL."""
    left, right = st.columns([3, 1], vertical_alignment="center")
    left.title(title, anchor=False)
    with right.container(horizontal=True, vertical_alignment="center"):
        if names:
            _choose_dataset(names)
        access.account()


def _choose_dataset(names: list[str]) -> None:
    session.apply_choice(names)
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
