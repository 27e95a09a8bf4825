"""Annotation runs of the dataset: live progress, and actions on one."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import streamlit as st

from cobalance.annotation.labelling.labels import label_summary
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.app.web.annotate import pictures
from cobalance.app.web.components.workers import draw_workers
from cobalance.app.web.state import session, tasks
from cobalance.app.web.state.access import may_edit, user_name
from cobalance.app.web.state.refreshing import rerun_page
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import id_in_url, in_url, number_in_url
from cobalance.app.web.widgets.controls import choose_one
from cobalance.app.web.widgets.messages import (
    edits,
    empty_state,
    errors_in_fragment,
    show_kept_error,
    show_task,
    viewer_note,
)
from cobalance.app.web.widgets.tables import count_column, draw_columns, draw_table, percent_column
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.base.plurals import inflect
from cobalance.base.progress import Progress
from cobalance.graph.annotations.runs import AnnotationRun, cancel_run, list_runs, retry_run
from cobalance.workflows.label.decide import (
    change_thresholds,
    decide_labels,
    delete_annotations,
    open_scores,
)

RUN = "annotate_run"
REFRESH_S = 2
_ACTIVE = ("queued", "running")


def show(current: CurrentDataset) -> None:
    """Draw the runs, and the chosen one."""
    found = list_runs(current.store, current.name)
    if not found:
        empty_state(
            "No annotation run yet",
            "Order one under **Label**, to look for attributes or concepts in the images; or have "
            "attributes proposed first, see **Propose**.",
        )
        return
    active = any(one.state in _ACTIVE for one in found)
    if any(one.state in _ACTIVE and one.chunks for one in found):
        draw_workers()
    show_kept_error()
    show_task(_task(current.name))
    st.fragment(run_every=REFRESH_S if active else None)(_draw)(current.name, _states(found))
    ids = [one.id for one in found]
    names = {one.id: run_title(one) for one in found}
    chosen = st.selectbox(
        "Run",
        ids,
        format_func=lambda one: names.get(one, one),
        **id_in_url(RUN, ids, first=ids[0]),
        width=420,
    )
    run = next(one for one in found if one.id == chosen)
    _describe(run)
    if may_edit():
        _buttons(run)
    else:
        viewer_note("cancel, accept, reject and delete runs")
    if run.has_labels:
        _show_thresholds(current, run)


def run_title(run: AnnotationRun) -> str:
    """Title of a run in a choice of runs."""
    return f"{run.kind} · {shorten(run.model, 40)} · {run.id[:6]}"


def _states(found: Sequence[AnnotationRun]) -> frozenset[tuple[str, str]]:
    return frozenset((one.id, one.state) for one in found)


def _draw(dataset: str, drawn: frozenset[tuple[str, str]]) -> None:
    with errors_in_fragment():
        found = list_runs(session.store(), dataset)
        if _states(found) != drawn:
            rerun_page()
            return
        states = [f"{one.state}, outdated" if one.outdated else one.state for one in found]
        text = st.column_config.TextColumn
        draw_columns(
            {
                "run": ([one.id[:6] for one in found], text("Run", width=70)),
                "kind": ([one.kind for one in found], text("Kind", width=70)),
                "model": ([one.model for one in found], text("Model", width=200)),
                "state": (states, text("State", width=130)),
                "progress": (
                    [100 * one.done / one.chunks if one.chunks else None for one in found],
                    percent_column(100),
                ),
                "left": ([_time_left(one) for one in found], text("Time left", width=80)),
                "licence": ([one.licence or "-" for one in found], text("Licence", width=110)),
                "error": ([one.error for one in found], text("Message", width=260)),
            },
            300,
            key="_annotate_runs",
            alt="Annotation runs",
        )


def _describe(run: AnnotationRun) -> None:
    said = [f"{run.state}"]
    if run.decided_by:
        said[0] += f" by {escape(shorten(run.decided_by, 60))}"
    if run.created_by:
        said.append(f"ordered by {escape(shorten(run.created_by, 60))}")
    if run.kind != "propose":
        said.append(f"{run.done:,} of {inflect(run.chunks, 'chunks')} scored")
    if run.outdated:
        said.append("the dataset's images have changed since")
    st.caption(f"{escape(shorten(run.model, 120))}: {'; '.join(said)}.")
    if run.error:
        st.text(shorten(run.error, 1000))


def _buttons(run: AnnotationRun) -> None:
    """Draw the buttons of a run in its state."""
    actions: dict[str, Callable[[], object]] = {}
    if run.state in _ACTIVE and run.chunks:
        actions["Cancel"] = lambda: cancel_run(session.store(), run.id)
    if run.state in ("failed", "cancelled") and run.chunks:
        actions["Run again"] = lambda: retry_run(session.store(), run.id)
    if run.kind != "propose" and run.state in ("done", "rejected"):
        actions["Accept"] = lambda: _decide(run, accepted=True)
    if run.kind != "propose" and run.state in ("done", "accepted"):
        actions["Reject"] = lambda: _decide(run, accepted=False)
    busy = tasks.is_running(_task(run.dataset), f"propose {run.dataset}", f"extract {run.dataset}")
    ended = run.state not in (*_ACTIVE, "accepted")
    if ended or (run.state == "running" and not run.chunks and not busy):  # a process was killed
        folders = session.settings().folders()
        actions["Delete"] = lambda: delete_annotations(
            session.store(), folders.open_output(), run.id
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, do in actions.items():
            sure = label != "Delete" or st.checkbox(
                "Delete it with its files and audits", key=f"_annotate_sure {run.id}"
            )
            st.button(
                label,
                key=f"_annotate_{label} {run.id}",
                type="primary" if label == "Accept" else "secondary",
                disabled=busy or not sure,
                on_click=edits(do),
            )


def _decide(run: AnnotationRun, *, accepted: bool) -> None:
    store, name = session.store(), user_name()
    folder = session.settings().folders().open_output()

    def work(progress: Progress) -> str:
        report = decide_labels(
            store,
            folder,
            run.id,
            "accepted" if accepted else "rejected",
            decided_by=name,
            progress=progress,
        )
        return f"{inflect(report.updated, 'images')} changed. Mine the dataset to count them anew."

    verb = "Accepting" if accepted else "Rejecting"
    tasks.start(_task(run.dataset), f"{verb} the run {run.id[:6]}", work)


def _task(dataset: str) -> str:
    return f"annotate {dataset}"


def _time_left(run: AnnotationRun) -> str:
    """About how long a run still takes, from when a worker took a chunk; empty where unknown."""
    if run.state not in _ACTIVE or not run.done or run.started_at is None:
        return ""
    spent_s = (datetime.now(UTC) - run.started_at).total_seconds()
    left_s = max(spent_s, 0.0) / run.done * (run.chunks - run.done)
    return str(timedelta(seconds=round(left_s)))


CONCEPT = "annotate_of"
_LIMIT = 1e6


def _show_thresholds(current: CurrentDataset, run: AnnotationRun) -> None:
    """Draw the images of each concept at the run's thresholds, and other ones to try."""
    show_kept_error()
    settings = LabelSettings.read(run.settings)
    changed = _fields(run, settings)
    files = open_scores(session.settings().folders(), run.id)
    found = current.keep(
        lambda: label_summary(files, changed), "labels", run.id, changed.model_dump_json()
    )
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
        concept = choose_one("Threshold of", concepts, CONCEPT, "all concepts", width=260)
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


@edits
def _keep(run: str, changed: LabelSettings) -> None:
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
