"""Diagnose's view of a gate: which combinations break its rules, and files for `cobalance gate`."""

import pandas as pd
import streamlit as st

from cobalance.app.web.state import CurrentDataset, number_in_url, session, url
from cobalance.app.web.widgets import download, draw_table, empty_state, text_column
from cobalance.graph import DatasetState, GraphStore
from cobalance.workflows import check_rules, from_store, judge, write_rules

_KEY = "_rules"
_SIZES = (1, 2, 3)
_CONCEPTS = "concepts"


def draw(current: CurrentDataset, height_px: int) -> None:
    """Draw the numbers of a rule, what breaks it, and the files that keep both."""
    if current.state.sample is not None:
        empty_state(
            "Not without all images", "A gate judges all images, which the graph does not have."
        )
        return

    with st.container(horizontal=True, vertical_alignment="bottom"):
        max_size = st.selectbox(
            "Concepts up to", _SIZES, 1, width=130, **number_in_url("rules_size")
        )
        max_q = st.number_input(
            "q at most", 0.0001, 1.0, 0.005, 0.001, "%.4f", width=120, **number_in_url("rules_q")
        )
        difference = st.number_input(
            "Points at least", 0.1, 100.0, 2.0, 0.5, "%.1f", width=120,
            **number_in_url("rules_points"),
        )  # fmt: skip
    rule = {"max_size": max_size, "max_q": max_q, "min_difference": difference / 100}
    sentence, frame, baseline = _judge(current.store, current.state, rule)

    st.markdown(sentence)
    cliques = frame[_CONCEPTS].tolist()

    def open_images() -> None:
        cells = st.session_state[_KEY].selection.cells
        if cells:
            url.show_images(cliques[cells[0][0]])

    if cliques:
        draw_table(
            frame[["combination", "finding"]],
            height_px // 2,
            {"combination": text_column(width=180)},
            key=_KEY,
            on_select=open_images,
            selection_mode="single-cell",
            alt="Combinations that break the rule",
        )
    with st.container(horizontal=True):
        rules = write_rules(check_rules({"leans": [rule]})).encode()
        download("Rules", rules, "cobalance-gate.toml", key="_rules_file")
        download("Baseline", baseline, "cobalance-baseline.json", key="_rules_baseline")
    st.caption(
        "`cobalance gate` fails where a combination has both the evidence (q) and the difference "
        "of rates. What is in the baseline passes. Beside the dataset's file they guard each "
        "commit: see docs/gate.md."
    )


@st.cache_data(show_spinner="Checking the rule", max_entries=8)
def _judge(
    _store: GraphStore, state: DatasetState, rule: dict[str, float]
) -> tuple[str, pd.DataFrame, bytes]:
    """The verdict in a sentence, the combinations that break the rule, and their baseline."""
    rules = check_rules({"leans": [rule]})
    subject = from_store(_store, session.settings().folders(), state.name, rules)
    verdict = judge(subject, rules)

    frame = verdict.frame.rename(columns={"of": "combination"})
    frame[_CONCEPTS] = [finding.concepts for finding in verdict.findings]
    return verdict.describe(), frame, verdict.make_baseline().to_json().encode()
