"""Accept and reject labelling runs, and change their thresholds; the dataset's labels follow."""

from collections.abc import Mapping
from typing import Literal

import pandas as pd

from cobalance.annotation import LabelSettings, read_labels
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.base import ConflictError, OptionError, Progress, log_run, silent
from cobalance.graph import (
    GraphStore,
    IngestReport,
    apply_runs,
    apply_tags,
    link_concepts,
    list_attributes,
    still_labelled,
)
from cobalance.graph.annotations import runs
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.folders import Folders
from cobalance.workflows.label.order import SEVERAL_ANYWAY, concepts_of


def open_scores(folders: Folders, run: str) -> ScoreFiles:
    """Open the scores of a run."""
    return ScoreFiles(folders.open_output(), run)


@log_run
def decide_labels(
    store: GraphStore,
    folder: OutputFolder,
    run: str,
    state: Literal["accepted", "rejected"],
    *,
    decided_by: str = "",
    progress: Progress = silent,
) -> IngestReport:
    """Accept or reject a run, and update the dataset's concepts.

    Rejecting the last one brings the former dataset back.

    Raises
    ------
    NotFoundError
        There is no such run.
    OptionError, ConflictError
        It labels nothing; it is not done.
    OutputMissingError
        Scores are missing, of this run if it is to be accepted, or of another accepted one.
    """
    labelling = runs.read_labelling(store, run)
    # Without all scores, the dataset could not get the labels.
    if state == "accepted" and labelling.has_labels:
        ScoreFiles(folder, run).require(LabelSettings.read(labelling.settings).chunks)

    if not runs.decide_run(store, run, state, decided_by):
        raise ConflictError(
            f"The run {run} is {labelling.state}, and can be {state} once it is done. "
            f"{labelling.error}".strip()
        )
    return apply_accepted(store, folder, labelling.dataset, progress)


def change_thresholds(
    store: GraphStore,
    folder: OutputFolder,
    run: str,
    *,
    threshold: float | None = None,
    thresholds: Mapping[str, float] | None = None,
    multi: bool | None = None,
    progress: Progress = silent,
) -> IngestReport | None:
    """Change from which scores on a run's labels count; no model is needed.

    Returns
    -------
    IngestReport or None
        What changed in the dataset; None where the run is not accepted.

    Raises
    ------
    NotFoundError
        There is no such run.
    OptionError
        It has no such concept, or it compares with a base caption and has no threshold, or has a
        threshold and is told whether several attributes count.
    """
    labelling = runs.read_labelling(store, run)
    settings = LabelSettings.read(labelling.settings)
    thresholds = thresholds or {}

    # Settings that mean nothing under the run's rule are refused.
    unknown = sorted(thresholds.keys() - {attribute.concept for attribute in settings.attributes})
    if unknown:
        raise OptionError(f"The run {run} does not look for {unknown[0]!r}.")
    if settings.rule == "base" and (threshold is not None or thresholds):
        raise OptionError(
            f"The run {run} compares scores with that of its base caption, {settings.base!r}, and "
            "has no threshold. Order one with a threshold."
        )
    if settings.rule == "threshold" and multi is not None:
        raise OptionError(f"The run {run} has a threshold. {SEVERAL_ANYWAY}")

    changed: dict[str, object] = {"thresholds": {**settings.thresholds, **thresholds}}
    if threshold is not None:
        changed["threshold"] = threshold
    if multi is not None:
        changed["multi"] = multi
    settings = LabelSettings.read({**settings.model_dump(mode="json"), **changed})
    runs.change_settings(store, run, settings.model_dump(mode="json"))

    if labelling.state != "accepted":
        return None
    return apply_accepted(store, folder, labelling.dataset, progress)


def delete_annotations(store: GraphStore, folder: OutputFolder, run: str) -> None:
    """Delete a run with its scores and replies, and its audits with their answers.

    Raises
    ------
    NotFoundError
        There is no such run.
    ConflictError
        It is accepted: its dataset's labels are derived from it.
    OutputMissingError, StoreError
        Its rejection was interrupted, and cannot be ended; see `apply_accepted`.
    """
    annotation_run = runs.read_run(store, run)
    if annotation_run.state == "accepted":
        raise ConflictError(f"The run {run} is accepted. Reject it first.")
    # A rejection that was interrupted has left labels of the run in the dataset.
    if still_labelled(store, annotation_run):
        apply_accepted(store, folder, annotation_run.dataset)
    runs.delete_run(store, run)
    folder.delete_folder(f"annotations/{run}")


def apply_accepted(
    store: GraphStore, folder: OutputFolder, dataset: str, progress: Progress = silent
) -> IngestReport:
    """Derive a dataset's labels from its accepted runs anew, as after loading other annotations.

    Raises
    ------
    OutputMissingError
        The scores of an accepted run are gone.
    StoreError
        Another process writes the same dataset at the same time, or the database fails.
    """

    def read_run_labels(run: str) -> pd.DataFrame:
        settings = LabelSettings.read(runs.read_run(store, run).settings)
        return read_labels(ScoreFiles(folder, run), settings)

    report = apply_runs(store, dataset, read_run_labels, progress=progress)
    # A tag shows again what a run does not label any more.
    apply_tags(store, dataset, progress=progress)
    link_concepts(store, dataset, concepts_of(list_attributes(store, dataset)))
    return report
