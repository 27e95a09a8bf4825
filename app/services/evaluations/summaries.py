"""Tables of evaluations: their scores, means over seeds, and differences between methods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from app.services.evaluations.predictions import read_saved_predictions
from app.services.evaluations.run_settings import RunSettings
from evaluation.metrics import compare_methods
from evaluation.reports.tables import RUN, summarise
from graph.database.store import GraphStore
from graph.errors import OptionError
from graph.evaluations.reading import Evaluation, read_scores

if TYPE_CHECKING:
    from generation.output.folder import OutputFolder

HEADLINE = ("balanced_accuracy", "out_of_distribution", "worst_group")
"""Metrics that a table for people has by default."""


def evaluations_frame(found: Sequence[Evaluation]) -> pd.DataFrame:
    """A row for each evaluation: what it is, its state, and whether it is outdated."""
    columns = ["id", *RUN, "seed", "state", "outdated", "job", "predictions_uri", "error"]
    rows = [[getattr(one, name) for name in columns] for one in found]
    frame = pd.DataFrame(rows, columns=columns).astype({"seed": "Int64"})
    frame["created_at"] = [
        one.created_at and one.created_at.strftime("%Y-%m-%dT%H:%M:%SZ") for one in found
    ]
    return frame.rename(columns={"id": "evaluation"})


def scores_frame(store: GraphStore, found: Sequence[Evaluation]) -> pd.DataFrame:
    """A row for each score of some evaluations.

    Returns
    -------
    pandas.DataFrame
        ``evaluation``, ``train``, ``training_set``, ``test``, ``method``, ``seed``, ``metric``,
        ``group``, ``value``, ``low``, ``high``, ``n``, ``outdated``.
    """
    ordered = sorted(found, key=_order)
    scores = read_scores(store, [one.id for one in ordered])
    runs = evaluations_frame(ordered)[["evaluation", *RUN, "seed", "outdated"]]
    joined = runs.merge(scores, on="evaluation", how="inner")
    columns = [name for name in joined if name != "outdated"]
    return joined[[*columns, "outdated"]].astype({"outdated": bool})


def summary_frame(store: GraphStore, found: Sequence[Evaluation]) -> pd.DataFrame:
    """Means and standard deviations over seeds; see `evaluation.reports.tables.summarise`.

    Evaluations with different settings are not put together: the newest settings of each training
    set and method count, and of each seed the newest evaluation.
    """
    return summarise(scores_frame(store, newest(found)))


def newest(found: Sequence[Evaluation]) -> list[Evaluation]:
    """Of each training set, method and seed the newest evaluation with the newest settings."""
    ordered = sorted(
        (one for one in found if one.scored_at is not None),
        key=lambda one: (one.created_at is not None, one.created_at, one.id),
        reverse=True,
    )
    settings = dict[tuple[object, ...], object]()
    kept = dict[tuple[object, ...], Evaluation]()
    for one in ordered:
        run = tuple(getattr(one, name) for name in RUN)
        if settings.setdefault(run, one.settings) == one.settings:
            kept.setdefault((*run, one.seed), one)
    return list(kept.values())


def label_of(one: Evaluation, names: Sequence[str] = ()) -> str:
    """What a table of predictions calls an evaluation: its method, and what it was trained on.

    Parameters
    ----------
    names : sequence of str
        Training datasets and sets that go without saying.
    """
    beside = [name for name in (one.train, one.training_set) if name and name not in names]
    return f"{one.method} ({', '.join(beside)})" if beside else one.method


def differences_frame(
    folder: "OutputFolder",
    found: Sequence[Evaluation],
    baseline: str,
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """Differences of methods and training sets from a baseline, paired over seeds and images.

    Parameters
    ----------
    baseline : str
        Id of one of the baseline's evaluations, or a method of the job's own dataset.
    seed : int
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        See `evaluation.metrics.compare_methods`.

    Raises
    ------
    OptionError
        No evaluation is the baseline's.
    NoPredictionsError, InputError
        Predictions are missing, or are not of the same images.
    """
    runs = newest(found)
    of_baseline = next((one for one in runs if baseline in (one.id, label_of(one))), None)
    if of_baseline is None:
        of_method = [one for one in runs if one.method == baseline]
        of_baseline = min(of_method, key=lambda one: one.job is not None, default=None)
    if of_baseline is None:
        known = ", ".join(sorted({label_of(one) for one in runs})) or "none"
        raise OptionError(f"No evaluation is of the baseline {baseline!r}. There are: {known}.")
    tables = [
        read_saved_predictions(folder, one).assign(method=label_of(one))
        for one in runs
        if one.test == of_baseline.test
    ]
    predictions = pd.concat(tables, ignore_index=True)
    shortcuts = list(RunSettings.read(of_baseline.settings).shortcuts)
    groups = predictions[["image", *shortcuts]].drop_duplicates("image") if shortcuts else None
    return compare_methods(
        predictions.drop(columns=shortcuts),
        groups,
        label_of(of_baseline),
        np.random.default_rng(seed),
    )


def _order(one: Evaluation) -> tuple[object, ...]:
    return (one.train or "", one.job is not None, one.training_set or "", one.method, one.seed or 0)
