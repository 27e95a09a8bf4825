"""Tables of evaluations: scores, means over seeds, differences between methods, and their files."""

from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from cobalance.base import OptionError, replacing, text_if
from cobalance.evaluation import REPORTS, RUN, SCORE, arrange, compare_methods, mean_and_sd
from cobalance.graph import Evaluation, GraphStore, name_settings, read_scores
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.settings import RunSettings
from cobalance.workflows.evaluate.stored import read_saved_predictions

HEADLINE = ("balanced_accuracy", "out_of_distribution", "worst_group")
"""Metrics that a table for people has by default."""


def scores_frame(store: GraphStore, evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """A row for each score of some evaluations.

    Returns
    -------
    pandas.DataFrame
        ``evaluation``, ``train``, ``training_set``, ``test``, ``method``, ``settings``, ``seed``,
        ``metric``, ``group``, ``value``, ``low``, ``high``, ``n``, ``outdated``.
    """
    ordered = sorted(evaluations, key=_order)
    names = name_settings(ordered)
    runs = [{**vars(run), "evaluation": run.id, "settings": names[run.id]} for run in ordered]
    frame = pd.DataFrame(runs, columns=["evaluation", *RUN, "seed", "outdated"])

    scores = read_scores(store, frame["evaluation"].tolist())
    joined = frame.astype({"seed": "Int64"}).merge(scores, on="evaluation")
    joined["outdated"] = joined.pop("outdated").astype(bool)
    return joined


def summary_frame(store: GraphStore, evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Means and standard deviations over seeds of each row, of each seed of the newest evaluation.

    See `cobalance.evaluation.differences.mean_and_sd`.
    """
    return mean_and_sd(scores_frame(store, newest(evaluations)), (*RUN, *SCORE))


def newest(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Of each row and seed the newest evaluation that has scores, newest first."""
    scored = [run for run in evaluations if run.scored_at is not None]
    scored.sort(key=lambda run: (run.created_at is not None, run.created_at, run.id), reverse=True)
    newest_by_row = dict[tuple[object, ...], Evaluation]()
    for run in scored:
        newest_by_row.setdefault((*run.row, run.seed), run)
    return list(newest_by_row.values())


def name_rows(evaluations: Sequence[Evaluation], *, brief: bool = False) -> dict[str, str]:
    """Names of the rows of some evaluations, by id: ``erm (cars, augmented, linear)``.

    That is the method, what it was trained on, its settings, and the test dataset where there are
    several; for short names the others, too, only where there are several.
    """
    settings = name_settings(evaluations)
    parts = [
        (run.train, run.training_set, settings[run.id], f"tested on {run.test}")
        for run in evaluations
    ]
    is_named = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    if not brief:
        is_named = [True, True, True, *is_named[3:]]

    names = {}
    for run, values in zip(evaluations, parts, strict=True):
        details = ", ".join(filter(None, compress(values, is_named)))
        names[run.id] = run.method + text_if(details, f" ({details})")
    return names


def differences_frame(
    folder: OutputFolder,
    evaluations: Sequence[Evaluation],
    baseline: str,
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """Differences of rows from a baseline, paired over seeds and images.

    Parameters
    ----------
    baseline : str
        A method: each row is compared with the row of this method that has the same settings, one
        of the job's own dataset if there is one. Or a whole row, to compare all with it: its name
        from `name_rows`, or the id of one of its evaluations.
    seed : int
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        See `cobalance.evaluation.metrics.comparison.compare_methods`.

    Raises
    ------
    OptionError
        No evaluation is the baseline's, or there is none to compare with it.
    NoPredictionsError, InputError
        Predictions are missing, or are not of the same images.
    """
    runs = sorted(newest(evaluations), key=lambda run: run.job is not None)
    names = name_rows(runs)

    tables = []
    for name, compared in _by_baseline(runs, names, baseline).items():
        baseline_runs = [run for run in runs if names[run.id] == name]
        others = [run for run in compared if names[run.id] != name]
        if others:
            rng = np.random.default_rng(seed)
            tables.append(_compare(folder, baseline_runs, others, names, rng))

    if not tables:
        rows = ", ".join(sorted(set(names.values()))) or "none"
        raise OptionError(
            f"No evaluation is of the baseline {baseline!r}, or no other has its settings. There "
            f"are: {rows}. Name one of them to compare all with it."
        )
    return pd.concat(tables, ignore_index=True)


def _by_baseline(
    runs: Sequence[Evaluation], names: Mapping[str, str], baseline: str
) -> dict[str, list[Evaluation]]:
    """Evaluations by the name of the row that each is compared with; some have none."""
    whole_row = [run for run in runs if baseline in (run.id, names[run.id])]
    of_method = [run for run in runs if run.method == baseline]
    settings = {run.id: dict(RunSettings.read(run.settings).to_compare()) for run in runs}

    compared = dict[str, list[Evaluation]]()
    for run in runs:
        alike = "same_method" if run.method == baseline else "other_methods"
        for reference in whole_row or of_method:
            has_same_settings = settings[reference.id][alike] == settings[run.id][alike]
            if reference.test == run.test and (whole_row or has_same_settings):
                compared.setdefault(names[reference.id], []).append(run)
                break
    return compared


def _compare(
    folder: OutputFolder,
    baseline_runs: Sequence[Evaluation],
    others: Sequence[Evaluation],
    names: Mapping[str, str],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Differences of some evaluations' predictions from the baseline row's."""
    tables = [
        read_saved_predictions(folder, run).assign(method=names[run.id])
        for run in (*baseline_runs, *others)
    ]
    predictions = pd.concat(tables, ignore_index=True)

    shortcuts = list(RunSettings.read(baseline_runs[0].settings).shortcuts)
    groups = None
    if shortcuts:
        groups = predictions[["image", *shortcuts]].drop_duplicates("image")
    name = names[baseline_runs[0].id]
    return compare_methods(predictions.drop(columns=shortcuts), groups, name, rng)


def _order(run: Evaluation) -> tuple[object, ...]:
    return (run.train or "", run.job is not None, run.training_set or "", run.method, run.seed or 0)


def export_evaluations(
    store: GraphStore,
    folder: "OutputFolder | None",
    evaluations: Sequence[Evaluation],
    file: Path,
    format_: str | None = None,
    *,
    metrics: Sequence[str] = (),
    baseline: str | None = None,
    title: str = "Evaluations",
) -> int:
    """Write the scores of evaluations to a file; return how many rows it has.

    Parameters
    ----------
    folder : OutputFolder or None
        Where predictions are; only needed with a baseline.
    format_ : str or None
        A name in `cobalance.evaluation.reports.REPORTS`; by default that of the file's
        suffix.
    metrics : sequence of str
        Which; by default all of them, or in tables for people the most telling three.
    baseline : str or None
        Write differences from it, see
        `cobalance.workflows.evaluate.results.differences_frame`.

    Raises
    ------
    UnknownNameError
        There is no such format.
    OptionError
        No evaluation has such scores, or the file's suffix is no format's.
    CobalanceError
        The file cannot be written.
    """
    formats = {report.suffix: name for name, report in REPORTS.items()}
    if format_ is None and file.suffix.lower() not in formats:
        raise OptionError(
            f"{file} does not end like a format's files: {', '.join(formats)}. Name it so, or name "
            "the format."
        )

    name = format_ or formats[file.suffix.lower()]
    frame = _frame(store, folder, evaluations, name, metrics, baseline)
    with replacing(file) as part:
        part.write_bytes(REPORTS[name].write(frame, title))
    return len(frame)


def export_bytes(
    store: GraphStore, evaluations: Sequence[Evaluation], format_: str, title: str
) -> bytes:
    """The scores of evaluations in a format, as `export_evaluations` writes them."""
    return REPORTS[format_].write(_frame(store, None, evaluations, format_, (), None), title)


def _frame(
    store: GraphStore,
    folder: "OutputFolder | None",
    evaluations: Sequence[Evaluation],
    format_: str,
    metrics: Sequence[str],
    baseline: str | None,
) -> pd.DataFrame:
    """The table that a format shows."""
    report = REPORTS[format_]
    if baseline is not None and folder is not None:
        frame = differences_frame(folder, evaluations, baseline)
    elif report.is_for_people:
        frame = summary_frame(store, evaluations)
    else:
        frame = scores_frame(store, newest(evaluations))

    # Tables for people have few metrics unless some are named; other files have all.
    metric_names = list(dict.fromkeys(frame["metric"]))
    selected = list(metrics)
    if report.is_for_people and not selected:
        selected = [name for name in HEADLINE if name in metric_names] or metric_names
    if selected or report.is_for_people:
        frame = frame[frame["metric"].isin(selected)]
        if not len(frame):
            raise OptionError(
                f"No evaluation has scores of {', '.join(selected or HEADLINE)}. There are scores "
                f"of {', '.join(sorted(metric_names)) or 'nothing'}."
            )

    if not report.is_for_people:
        return frame
    return arrange(frame, selected) if baseline is None else frame.round(4)
