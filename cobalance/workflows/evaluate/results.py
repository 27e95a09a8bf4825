"""Tables of evaluations: scores, means over seeds, differences between methods, and their files."""

from collections.abc import Sequence
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from cobalance.base.errors import OptionError
from cobalance.base.files import replacing
from cobalance.evaluation.differences import mean_and_sd
from cobalance.evaluation.metrics.comparison import compare_methods
from cobalance.evaluation.reports import REPORTS, RUN, SCORE, arrange
from cobalance.graph.database.store import GraphStore
from cobalance.graph.evaluations.reading import Evaluation, name_settings, read_scores
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.settings import RunSettings
from cobalance.workflows.evaluate.stored import read_saved_predictions

HEADLINE = ("balanced_accuracy", "out_of_distribution", "worst_group")
"""Metrics that a table for people has by default."""


def scores_frame(store: GraphStore, found: Sequence[Evaluation]) -> pd.DataFrame:
    """A row for each score of some evaluations.

    Returns
    -------
    pandas.DataFrame
        ``evaluation``, ``train``, ``training_set``, ``test``, ``method``, ``settings``, ``seed``,
        ``metric``, ``group``, ``value``, ``low``, ``high``, ``n``, ``outdated``.
    """
    ordered = sorted(found, key=_order)
    scores = read_scores(store, [one.id for one in ordered])
    names = name_settings(ordered)
    runs = [{**vars(one), "evaluation": one.id, "settings": names[one.id]} for one in ordered]
    frame = pd.DataFrame(runs, columns=["evaluation", *RUN, "seed", "outdated"])
    joined = frame.astype({"seed": "Int64"}).merge(scores, on="evaluation")
    columns = [name for name in joined if name != "outdated"]
    return joined[[*columns, "outdated"]].astype({"outdated": bool})


def summary_frame(store: GraphStore, found: Sequence[Evaluation]) -> pd.DataFrame:
    """Means and standard deviations over seeds of each row, of each seed of the newest evaluation.

    See `cobalance.evaluation.differences.mean_and_sd`.
    """
    return mean_and_sd(scores_frame(store, newest(found)), (*RUN, *SCORE))


def newest(found: Sequence[Evaluation]) -> list[Evaluation]:
    """Of each row and seed the newest evaluation that has scores, newest first."""
    ordered = sorted(
        (one for one in found if one.scored_at is not None),
        key=lambda one: (one.created_at is not None, one.created_at, one.id),
        reverse=True,
    )
    kept = dict[tuple[object, ...], Evaluation]()
    for one in ordered:
        kept.setdefault((*one.row, one.seed), one)
    return list(kept.values())


def name_rows(found: Sequence[Evaluation], *, brief: bool = False) -> dict[str, str]:
    """Names of the rows of some evaluations, by id: ``erm (cars, augmented, linear)``.

    That is the method, what it was trained on, its settings, and the test dataset where there are
    several; for short names the others, too, only where there are several.
    """
    settings = name_settings(found)
    parts = [
        (one.train, one.training_set, settings[one.id], f"tested on {one.test}") for one in found
    ]
    several = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    said = several if brief else [True, True, True, *several[3:]]
    names = {}
    for one, values in zip(found, parts, strict=True):
        beside = ", ".join(filter(None, compress(values, said)))
        names[one.id] = f"{one.method} ({beside})" if beside else one.method
    return names


def differences_frame(
    folder: OutputFolder,
    found: Sequence[Evaluation],
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
    runs = sorted(newest(found), key=lambda one: one.job is not None)
    names = name_rows(runs)
    whole = [one for one in runs if baseline in (one.id, names[one.id])]
    settings = {one.id: dict(RunSettings.read(one.settings).to_compare()) for one in runs}
    compared = dict[str, list[Evaluation]]()
    for one in runs:
        alike = "same_method" if one.method == baseline else "other_methods"
        of_method = (
            two
            for two in runs
            if two.method == baseline and settings[two.id][alike] == settings[one.id][alike]
        )
        for two in whole or of_method:
            if two.test == one.test:
                compared.setdefault(names[two.id], []).append(one)
                break
    tables = []
    for name, others in compared.items():
        own = [one for one in runs if names[one.id] == name]
        rows = own + [one for one in others if names[one.id] != name]
        if len(rows) == len(own):
            continue
        saved = [read_saved_predictions(folder, one).assign(method=names[one.id]) for one in rows]
        predictions = pd.concat(saved, ignore_index=True)
        shortcuts = list(RunSettings.read(own[0].settings).shortcuts)
        groups = predictions[["image", *shortcuts]].drop_duplicates("image") if shortcuts else None
        rng = np.random.default_rng(seed)
        tables.append(compare_methods(predictions.drop(columns=shortcuts), groups, name, rng))
    if not tables:
        known = ", ".join(sorted(set(names.values()))) or "none"
        raise OptionError(
            f"No evaluation is of the baseline {baseline!r}, or no other has its settings. There "
            f"are: {known}. Name one of them to compare all with it."
        )
    return pd.concat(tables, ignore_index=True)


def _order(one: Evaluation) -> tuple[object, ...]:
    return (one.train or "", one.job is not None, one.training_set or "", one.method, one.seed or 0)


def export_evaluations(
    store: GraphStore,
    folder: "OutputFolder | None",
    found: Sequence[Evaluation],
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
    frame = _frame(store, folder, found, name, metrics, baseline)
    with replacing(file) as part:
        part.write_bytes(REPORTS[name].write(frame, title))
    return len(frame)


def export_bytes(store: GraphStore, found: Sequence[Evaluation], format_: str, title: str) -> bytes:
    """The scores of evaluations in a format, as `export_evaluations` writes them."""
    return REPORTS[format_].write(_frame(store, None, found, format_, (), None), title)


def _frame(
    store: GraphStore,
    folder: "OutputFolder | None",
    found: Sequence[Evaluation],
    format_: str,
    metrics: Sequence[str],
    baseline: str | None,
) -> pd.DataFrame:
    """The table that a format shows."""
    report = REPORTS[format_]
    if baseline is not None and folder is not None:
        frame = differences_frame(folder, found, baseline)
    elif report.is_for_people:
        frame = summary_frame(store, found)
    else:
        frame = scores_frame(store, newest(found))
    known = list(dict.fromkeys(frame["metric"]))
    wanted = list(metrics)
    if report.is_for_people and not wanted:
        wanted = [name for name in HEADLINE if name in known] or known
    if wanted or report.is_for_people:
        frame = frame[frame["metric"].isin(wanted)]
        if not len(frame):
            raise OptionError(
                f"No evaluation has scores of {', '.join(wanted or HEADLINE)}. There are scores of "
                f"{', '.join(sorted(known)) or 'nothing'}."
            )
    if report.is_for_people and baseline is None:
        return arrange(frame, wanted)
    return frame.round(4) if report.is_for_people else frame
