"""Scores of models: of anybody's predictions, and of models that are trained on datasets."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base import Progress, inflect, silent, text_if
from cobalance.evaluation import Inputs, Scored, check_predictions
from cobalance.graph import Evaluation, GraphStore, read_evaluation
from cobalance.notebook.display import Result
from cobalance.notebook.jobs import Job, run_in_process
from cobalance.notebook.remedies import speaks_python
from cobalance.workflows import (
    Settings,
    delete_evaluations,
    differences_frame,
    map_activations,
    read_saved_predictions,
    read_tables,
    run_artefact_test,
    score_tables,
    scores_frame,
    summary_frame,
)


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result):
    """Scores: ``method``, ``seed``, ``metric``, ``group``, ``value``, ``low``, ``high``, ``n``.

    `scored.left_out` says why metrics are missing, by name.
    """

    scored: Scored

    @property
    def frame(self) -> pd.DataFrame:
        """The scores."""
        return self.scored.frame

    def title(self) -> str:
        """How many scores of how many metrics."""
        metrics = inflect(self.frame["metric"].nunique(), "metrics")
        return f"{inflect(len(self.frame), 'scores')} of {metrics}"

    def shown(self) -> pd.DataFrame:
        """The scores, without methods and seeds where there is one run."""
        n_values = self.frame[["method", "seed"]].nunique(dropna=False)
        return self.frame.drop(columns=n_values.index[n_values <= 1])

    def of(self, metric: str) -> pd.DataFrame:
        """The scores of one metric."""
        return self.frame[self.frame["metric"] == metric].reset_index(drop=True)


@speaks_python
def evaluate(
    predictions: pd.DataFrame | str | Path | None = None,
    groups: pd.DataFrame | None = None,
    *,
    training: pd.DataFrame | None = None,
    metrics: Sequence[str] = (),
    options: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    **tables: Any,
) -> Scores:
    """Score anybody's predictions; no database is needed.

    Parameters
    ----------
    predictions : DataFrame or file
        See `cobalance.evaluation.predictions.check_predictions`: ``image``, ``class_name``, and
        ``predicted`` or ``p_<class>``; of several runs ``method`` and ``seed``; of a confusion
        table ``n``. Or the file of a detector's results, COCO's JSON, with the file `objects`.
    groups : DataFrame, optional
        ``image`` and a column a shortcut: ``common``, ``uncommon`` or ``none``. They may be columns
        of the predictions, too.
    training : DataFrame, optional
        The same columns for training images, with ``class_name``, for metrics that compare.
    metrics : sequence of str
        Names in `cobalance.evaluation.metrics.METRICS`; by default all that what is given suffices
        for.
    options : mapping, optional
        Options of metrics by name, such as ``{"group_accuracy": {"confidence": .9}}``.
    seed : int
        Of what metrics draw at random.
    **tables : DataFrame or file
        Others of `cobalance.evaluation.metrics.TABLES`, such as `table`, `edited`, `captions`, or
        `objects`, COCO's instances that a detector should find.

    Raises
    ------
    InputError
        A table is not of the form that it should have.
    UnknownNameError, OptionError
        There is no such metric or option, or a named metric cannot be computed.
    """
    if isinstance(predictions, pd.DataFrame):
        predictions = check_predictions(predictions)
    # Tables come as frames or as files, each under its own name.
    all_tables = {"predictions": predictions, "groups": groups, "training": training, **tables}
    files, frames = dict[str, Path](), dict[str, Any]()
    for name, table in all_tables.items():
        if isinstance(table, str | Path):
            files[name] = Path(table)
        else:
            frames[name] = table

    inputs = read_tables(files, seed) if files else Inputs(seed=seed)
    return Scores(score_tables(inputs.replace(**frames), metrics, options))


@dataclass(frozen=True, eq=False, repr=False)
class Evaluations(Result):
    """Models trained and tested on datasets of a `Store`, by the ids of their evaluations.

    `graph`, `settings` and `progress` are those of the store.
    """

    graph: GraphStore
    settings: Settings
    ids: tuple[str, ...]
    progress: Progress = silent

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def run(self) -> "Evaluations":
        """Train, predict and score in this process; return when all have ended.

        For small models: large ones are for workers, ``cobalance work``.

        Raises
        ------
        MissingExtraError
            A worker, or what the models need, is not installed.
        """
        run_in_process(self.settings, self.ids, self.progress)
        return self

    def records(self) -> list[Evaluation]:
        """The evaluations as they are in the graph, with state, error and settings."""
        return [read_evaluation(self.graph, evaluation) for evaluation in self.ids]

    @property
    def frame(self) -> pd.DataFrame:
        """Means and standard deviations over seeds: a row a model, metric and group."""
        return summary_frame(self.graph, self.records())

    def scores(self) -> pd.DataFrame:
        """A row for each score of each evaluation."""
        return scores_frame(self.graph, self.records())

    def predictions(self) -> pd.DataFrame:
        """Predictions of all that are done, with ``evaluation``; NoPredictionsError without any."""
        folder = self.settings.folders().open_output()
        tables = [read_saved_predictions(folder, evaluation) for evaluation in self.records()]
        return self._join(tables)

    def differences(self, baseline: str, *, seed: int = 0) -> pd.DataFrame:
        """How far models differ from a baseline, by a bootstrap paired over seeds and images.

        `baseline` is a method, within the same settings, or a whole row, as in `differences_frame`.
        """
        folder = self.settings.folders().open_output()
        return differences_frame(folder, self.records(), baseline, seed=seed)

    def artefacts(self, job: "Job[Any] | str", first: str = "", second: str = "") -> pd.DataFrame:
        """Predict a job's edits of test images beside the originals: scores of each evaluation.

        `first` and `second` are the predicted groups whose ratio shifts.
        """
        job_id = job if isinstance(job, str) else job.id
        folders, progress = self.settings.folders(), self.progress
        tests = [
            run_artefact_test(
                self.graph, folders, evaluation, job_id, first, second, progress=progress
            )
            for evaluation in self.ids
        ]
        return self._join([test.scores for test in tests])

    def activations(self, *, most: int = 200, objects: Sequence[str] = ()) -> pd.DataFrame:
        """Map where networks look (GradCAM): ``cam_energy`` and ``mask_share`` of each image."""
        folders, progress = self.settings.folders(), self.progress
        maps = [
            map_activations(
                self.graph, folders, evaluation, most=most, objects=objects, progress=progress
            )
            for evaluation in self.ids
        ]
        return self._join([activations.images for activations in maps])

    def _join(self, tables: list[pd.DataFrame]) -> pd.DataFrame:
        """One table of those of all evaluations, which the column ``evaluation`` names."""
        pairs = zip(tables, self.ids, strict=True)
        named = [table.assign(evaluation=evaluation) for table, evaluation in pairs]
        return pd.concat(named, ignore_index=True)

    def delete(self) -> None:
        """Delete them, with scores, predictions and checkpoints.

        Raises
        ------
        ConflictError
            A worker runs one; those before it are deleted.
        """
        folder = self.settings.folders().open_output()
        delete_evaluations(self.graph, self.settings.folders(), folder, self.ids)

    def title(self) -> str:
        """How many there are, and how many are done."""
        states = Counter(evaluation.state for evaluation in self.records())
        title = f"{inflect(states.total(), 'evaluations')}, {states['done']:,} done"
        return title + text_if(states["failed"], f", {states['failed']:,} failed")
