"""Read evaluations and their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import require_one
from cobalance.graph.database import EVALUATION, GraphStore, Row
from cobalance.graph.evaluations import statements
from cobalance.graph.tasks import TaskState


@dataclass(frozen=True)
class Evaluation:
    """An evaluation, as `cobalance.graph.database.evaluation_nodes.EVALUATION` says.

    Parameters
    ----------
    created_by, error : str
        Who ordered it, empty without a login; why it failed, empty otherwise.
    created_at, scored_at : datetime or None
        In UTC.
    state : TaskState
        Of its task, which has its id; ``done`` for one without.
    stage, done, total : str or None, int or None, int or None
        Progress of its task.
    outdated : bool
        Whether images of its datasets have changed since, or one of them is gone.
    """

    id: str
    train: str | None
    training_set: str | None
    test: str
    job: str | None
    method: str
    seed: int | None
    settings: Mapping[str, Any]
    settings_list: list[str]
    train_digest: int | None
    test_digest: int | None
    most_synthetic: int | None
    predictions_uri: str | None
    created_by: str
    created_at: datetime | None
    scored_at: datetime | None
    state: TaskState
    error: str
    stage: str | None
    done: int | None
    total: int | None
    outdated: bool

    @property
    def row(self) -> tuple[str | None, ...]:
        """Key of a row in tables; evaluations of one row differ by their seeds."""
        return self.train, self.training_set, self.test, self.method, *self.settings_list


def name_settings(evaluations: Sequence[Evaluation]) -> dict[str, str]:
    """Shortest distinct names of the settings of evaluations, by id.

    That is what others of the same learner do not have, or of a method's own, of the same method.
    """
    rows = {(evaluation.method, *evaluation.settings_list) for evaluation in evaluations}
    names = {}
    for evaluation in evaluations:
        learner, *settings = evaluation.settings_list
        same_learner = [row for row in rows if row[1] == learner]
        same_method = [row for row in same_learner if row[0] == evaluation.method]

        words = [learner] if learner else []
        for setting in settings:
            is_of_method = setting.startswith(f"{evaluation.method} ")
            others = same_method if is_of_method else same_learner
            if not all(setting in row for row in others):
                words.append(setting)
        names[evaluation.id] = ", ".join(words)
    return names


def list_evaluations(
    store: GraphStore, dataset: str | None = None, *, limit: int = 1000
) -> list[Evaluation]:
    """List the evaluations of a dataset, or of all for None; newest first.

    Parameters
    ----------
    dataset : str or None
        Only models that were trained or tested on it, or trained on what a job made of it.
    """
    rows = store.read(
        statements.EVALUATIONS if dataset is None else statements.EVALUATIONS_OF_DATASET,
        dataset=dataset,
        limit=limit,
    )
    return [_evaluation(row) for row in rows]


def read_evaluation(store: GraphStore, evaluation: str) -> Evaluation:
    """Read an evaluation; raises NotFoundError."""
    rows = store.read(statements.EVALUATION_OF_ID, evaluation=evaluation)
    return _evaluation(require_one(rows, "evaluation", evaluation))


def read_scores(store: GraphStore, evaluations: Sequence[str]) -> pd.DataFrame:
    """Read the scores of evaluations, in their order and as they were written.

    Returns
    -------
    pandas.DataFrame
        ``evaluation``, ``metric``, ``group``, ``value``, ``low``, ``high`` (NaN where not defined),
        ``n`` (0 where not known).
    """
    frame = store.read_frame(statements.SCORES, evaluations=list(evaluations))
    for name in ("value", "low", "high"):
        frame[name] = frame[name].astype(np.float64)

    frame["n"] = frame["n"].fillna(0).astype(np.int64)
    return frame


def origin_of(store: GraphStore, dataset: str) -> str | None:
    """The original of a rebalanced dataset; None of any other."""
    rows = store.read(statements.ORIGIN, dataset=dataset)
    return str(rows[0]["dataset"]) if rows else None


def count_synthetic(store: GraphStore, dataset: str) -> int:
    """How many synthetic images a dataset has."""
    (row,) = store.read(statements.COUNT_SYNTHETIC, dataset=dataset)
    return int(row["images"])


def _evaluation(row: Row) -> Evaluation:
    return Evaluation(**EVALUATION.parse(row.pop("evaluation")), **row)
