"""Annotation runs of the dataset: live progress, and actions on one."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pandas as pd
import streamlit as st

from cobalance.annotation import LabelSettings, label_summary
from cobalance.app.web.components import draw_workers
from cobalance.app.web.page.annotate import pictures
from cobalance.app.web.state import (
    CurrentDataset,
    id_in_url,
    in_url,
    may_edit,
    number_in_url,
    refreshing_while,
    rerun_page,
    session,
    tasks,
    user_name,
)
from cobalance.app.web.widgets import (
    button_type,
    choose_one,
    count_column,
    draw_table,
    edits,
    empty_state,
    errors_in_fragment,
    escape,
    percent_column,
    shorten,
    show_kept_error,
    show_task,
    text_column,
    unless_empty,
    viewer_note,
)
from cobalance.base import Progress, inflect
from cobalance.graph import AnnotationRun, cancel_run, list_runs, retry_run
from cobalance.workflows import change_thresholds, decide_labels, delete_annotations, open_scores

RUN = "annotate_run"
REFRESH_S = 2
_ACTIVE = ("queued", "running")


def show(current: CurrentDataset) -> None:
    """Draw the runs, and the chosen one."""
    runs = list_runs(current.store, current.name)
    if not runs:
        empty_state(
            "No annotation run yet",
            "Order one under **Label**, to look for attributes or concepts in the images; or have "
            "attributes proposed first, see **Propose**.",
        )
        return

    # A proposal has no chunks: this app makes it, not a worker.
    active = [run for run in runs if run.state in _ACTIVE]
    if any(run.chunks for run in active):
        draw_workers()
    show_kept_error()
    show_task(_task(current.name))
    refreshing_while(bool(active), REFRESH_S)(_draw)(current.name, _states(runs))

    runs_by_id = {run.id: run for run in runs}
    ids = list(runs_by_id)
    titles = {run.id: run_title(run) for run in runs}
    chosen = st.selectbox(
        "Run",
        ids,
        format_func=lambda run: titles.get(run, run),
        **id_in_url(RUN, ids, first=ids[0]),
        width=420,
    )
    run = runs_by_id[chosen]

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


def _states(runs: Sequence[AnnotationRun]) -> frozenset[tuple[str, str]]:
    return frozenset((run.id, run.state) for run in runs)


def _draw(dataset: str, drawn: frozenset[tuple[str, str]]) -> None:
    """Draw the table of runs; the whole page anew once a state is not the drawn one."""
    with errors_in_fragment():
        runs = list_runs(session.store(), dataset)
        if _states(runs) != drawn:
            rerun_page()
            return

        columns = {
            "run": text_column("Run", width=70),
            "kind": text_column("Kind", width=70),
            "model": text_column("Model", width=200),
            "state": text_column("State", width=130),
            "progress": percent_column(100),
            "left": text_column("Time left", width=80),
            "licence": text_column("Licence", width=110),
            "error": text_column("Message", width=260),
        }
        rows = pd.DataFrame(map(_cells, runs))
        draw_table(rows, 300, columns, key="_annotate_runs", alt="Annotation runs")


def _cells(run: AnnotationRun) -> dict[str, object]:
    """A run's row of the table of runs."""
    return {
        "run": run.id[:6],
        "kind": run.kind,
        "model": run.model,
        "state": f"{run.state}, outdated" if run.outdated else run.state,
        "progress": 100 * run.done / run.chunks if run.chunks else None,
        "left": _time_left(run),
        "licence": run.licence or "-",
        "error": run.error,
    }


def _describe(run: AnnotationRun) -> None:
    """Draw the state of a run in words, and its error."""
    decided_by = unless_empty(" by {}", escape(shorten(run.decided_by or "", 60)))
    facts = [f"{run.state}{decided_by}"]
    if run.created_by:
        facts.append(f"ordered by {escape(shorten(run.created_by, 60))}")
    if run.kind != "propose":
        facts.append(f"{run.done:,} of {inflect(run.chunks, 'chunks')} scored")
    if run.outdated:
        facts.append("the dataset's images have changed since")

    st.caption(f"{escape(shorten(run.model, 120))}: {'; '.join(facts)}.")
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
    # A process that was killed leaves its run in the state running, with nobody at work on it.
    abandoned = run.state == "running" and not run.chunks and not busy
    if ended or abandoned:
        folders = session.settings().folders()
        actions["Delete"] = lambda: delete_annotations(
            session.store(), folders.open_output(), run.id
        )

    with st.container(horizontal=True, vertical_alignment="center"):
        for label, act in actions.items():
            sure = label != "Delete" or st.checkbox(
                "Delete it with its files and audits", key=f"_annotate_sure {run.id}"
            )
            st.button(
                label,
                key=f"_annotate_{label} {run.id}",
                type=button_type(label == "Accept"),
                disabled=busy or not sure,
                on_click=edits(act),
            )


def _decide(run: AnnotationRun, *, accepted: bool) -> None:
    """Accept or reject a run in the background."""
    store, name = session.store(), user_name()
    folder = session.settings().folders().open_output()

    state: Literal["accepted", "rejected"] = "rejected"
    verb = "Rejecting"
    if accepted:
        state, verb = "accepted", "Accepting"

    def work(progress: Progress) -> str:
        report = decide_labels(
            store,
            folder,
            run.id,
            state,
            decided_by=name,
            progress=progress,
        )
        return f"{inflect(report.updated, 'images')} changed. Mine the dataset to count them anew."

    tasks.start(_task(run.dataset), f"{verb} the run {run.id[:6]}", work)


def _task(dataset: str) -> str:
    return f"annotate {dataset}"


def _time_left(run: AnnotationRun) -> str:
    """About how long a run still takes, from when a worker took a chunk; empty where unknown."""
    if run.state not in _ACTIVE or not run.done or run.started_at is None:
        return ""

    # The clocks of the database and of this machine may differ.
    spent_s = max((datetime.now(UTC) - run.started_at).total_seconds(), 0.0)
    left_s = spent_s / run.done * (run.chunks - run.done)
    return str(timedelta(seconds=round(left_s)))


CONCEPT = "annotate_of"
_LIMIT = 1e6


def _show_thresholds(current: CurrentDataset, run: AnnotationRun) -> None:
    """Draw the images of each concept at the run's thresholds, and other ones to try."""
    show_kept_error()
    settings = LabelSettings.read(run.settings)
    changed = _fields(run, settings)
    _draw_counts(current, run, changed)

    concept = st.session_state.get(CONCEPT)
    if settings.rule == "threshold" and concept is not None:
        st.caption(f"Images with the highest, middling and lowest scores of “{escape(concept)}”:")
        concepts = [attribute.concept for attribute in settings.attributes]
        pictures.draw_examples(current, run.id, concepts.index(concept))

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


def _draw_counts(current: CurrentDataset, run: AnnotationRun, settings: LabelSettings) -> None:
    """Draw how many images show each concept with these settings."""
    files = open_scores(session.settings().folders(), run.id)
    summary = current.keep(
        lambda: label_summary(files, settings), "labels", run.id, settings.model_dump_json()
    )
    draw_table(
        summary.drop(columns=["unreadable"]).assign(share=100 * summary["share"]),
        420,
        {
            "category": text_column("Category", width=120),
            "concept": text_column("Concept", width=180),
            "caption": text_column("Caption", width=260),
            "images": count_column("Images", 80),
            "share": st.column_config.ProgressColumn(
                "Share of images", min_value=0, max_value=100, format="%.1f%%", width=130
            ),
        },
        key="_annotate_counts",
        alt="Images of each concept",
    )

    if len(summary) and (unreadable := int(summary["unreadable"].max())):
        st.caption(f"{inflect(unreadable, 'images')} could not be read: left out.")


def _fields(run: AnnotationRun, settings: LabelSettings) -> LabelSettings:
    """Draw the thresholds, or the choice of several attributes; the settings with them."""
    if settings.rule == "base":
        multi = st.toggle(
            "Every attribute above the base caption, not the best of a category alone",
            settings.multi,
            **in_url(f"annotate_several_{run.id[:6]}"),
        )
        return settings.model_copy(update={"multi": multi})

    concepts = list(dict.fromkeys(attribute.concept for attribute in settings.attributes))
    with st.container(horizontal=True):
        concept = choose_one("Threshold of", concepts, CONCEPT, "all concepts", width=260)
        if concept is None:
            return settings.model_copy(update={"threshold": _score(run, settings.threshold)})

        usual = settings.thresholds.get(concept, settings.threshold)
        value = _score(run, usual, f"_{concepts.index(concept)}")
    if value == usual:
        return settings
    return settings.model_copy(update={"thresholds": {**settings.thresholds, concept: value}})


def _score(run: AnnotationRun, usual: float, suffix: str = "") -> float:
    """Draw the field of a threshold; `suffix` of its key tells one concept's from another's."""
    value = st.number_input(
        "Lowest score that counts",
        -_LIMIT,
        _LIMIT,
        usual,
        0.05,
        **number_in_url(f"annotate_score_{run.id[:6]}{suffix}"),
        width=180,
    )
    return float(value)


@edits
def _keep(run: str, changed: LabelSettings) -> None:
    folder = session.settings().folders().open_output()
    values: dict[str, Any] = {"multi": changed.multi}
    if changed.rule == "threshold":
        values = {"threshold": changed.threshold, "thresholds": changed.thresholds}
    change_thresholds(session.store(), folder, run, **values)
