"""Thresholds of a labelling run, with the images that each concept then has."""

import pandas as pd
import streamlit as st

from cobalance.annotation.labelling.labels import label_summary
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.app.web.annotate import pictures
from cobalance.app.web.state import session
from cobalance.app.web.state.access import may_edit, require_editor
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import in_url, number_in_url
from cobalance.app.web.widgets.messages import errors_kept, show_error, show_kept_error, viewer_note
from cobalance.app.web.widgets.tables import count_column, draw_table
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.annotations.runs import AnnotationRun
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import CobalanceError
from cobalance.graph.wording import inflect
from cobalance.workflows.label.decide import change_thresholds

CONCEPT = "annotate_of"
_PROBLEM = "_thresholds_problem"
_LIMIT = 1e6


def show(current: CurrentDataset, run: AnnotationRun) -> None:
    """Draw the images of each concept at the run's thresholds, and other ones to try."""
    show_kept_error(_PROBLEM)
    try:
        settings = LabelSettings.read(run.settings)
        changed = _fields(run, settings)
        found: pd.DataFrame = current.read(summary_of, run.id, changed.model_dump_json())
    except CobalanceError as error:  # the scores are gone; the run can still be deleted
        show_error(error)
        return
    draw_table(
        found.drop(columns=["unreadable"]).assign(share=100 * found["share"]),
        420,
        {
            "category": st.column_config.TextColumn("Category", width=120),
            "concept": st.column_config.TextColumn("Concept", width=180),
            "caption": st.column_config.TextColumn("Caption", width=260),
            "images": count_column("Images", 80),
            "share": st.column_config.ProgressColumn(
                "Share of images", min_value=0, max_value=100, format="%.1f%%", width=130
            ),
        },
        key="_annotate_counts",
        alt="Images of each concept",
    )
    if len(found) and (unreadable := int(found["unreadable"].max())):
        st.caption(f"{inflect(unreadable, 'images')} could not be read: left out.")
    concept = st.session_state.get(CONCEPT)
    if settings.rule == "threshold" and concept is not None:
        st.caption(f"Images with the highest, middling and lowest scores of “{escape(concept)}”:")
        places = [one.concept for one in settings.attributes]
        pictures.draw_examples(current, run.id, places.index(concept))
    if changed == settings:
        return
    if may_edit():
        st.button(
            "Keep these thresholds",
            type="primary",
            key=f"_annotate_keep {run.id}",
            on_click=_keep,
            args=(run.id, changed),
        )
    else:
        viewer_note("keep thresholds")


def summary_of(_store: GraphStore, _dataset: str, run: str, settings: str) -> pd.DataFrame:
    """How many images a run finds each concept in, with some settings; see `label_summary`."""
    folder = session.settings().folders().open_output()
    return label_summary(ScoreFiles(folder, run), LabelSettings.model_validate_json(settings))


def _fields(run: AnnotationRun, settings: LabelSettings) -> LabelSettings:
    """Draw the thresholds, or the choice of several attributes; the settings with them."""
    if settings.rule == "base":
        multi = st.toggle(
            "Every attribute above the base caption, not the best of a category alone",
            settings.multi,
            **in_url(f"annotate_several_{run.id[:6]}"),
        )
        return settings.model_copy(update={"multi": multi})
    concepts = list(dict.fromkeys(one.concept for one in settings.attributes))
    with st.container(horizontal=True):
        concept = st.selectbox(
            "Threshold of",
            concepts,
            index=None,
            placeholder="all concepts",
            **in_url(CONCEPT, concepts),
            width=260,
        )
        place = "" if concept is None else f"_{concepts.index(concept)}"
        usual = settings.threshold
        value = float(
            st.number_input(
                "Lowest score that counts",
                -_LIMIT,
                _LIMIT,
                usual if concept is None else settings.thresholds.get(concept, usual),
                0.05,
                **number_in_url(f"annotate_score_{run.id[:6]}{place}"),
                width=180,
            )
        )
    if concept is None:
        return settings.model_copy(update={"threshold": value})
    if value == settings.thresholds.get(concept, usual):
        return settings
    return settings.model_copy(update={"thresholds": {**settings.thresholds, concept: value}})


def _keep(run: str, changed: LabelSettings) -> None:
    with errors_kept(_PROBLEM):
        require_editor()
        folder = session.settings().folders().open_output()
        has_threshold = changed.rule == "threshold"
        change_thresholds(
            session.store(),
            folder,
            run,
            threshold=changed.threshold if has_threshold else None,
            thresholds=changed.thresholds if has_threshold else None,
            multi=None if has_threshold else changed.multi,
        )
