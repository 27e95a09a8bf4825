"""Create evaluations, and write their predictions' address and their scores."""

import hashlib
import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from cobalance.base import ConflictError, require_one
from cobalance.graph.database import EVALUATION, SCORE, GraphStore, Row, json_text
from cobalance.graph.dataset import busy_dataset, dataset_state
from cobalance.graph.evaluations import statements
from cobalance.graph.evaluations.reading import read_evaluation
from cobalance.graph.tasks import task_row

KIND = "evaluation"
"""The kind of the tasks that run evaluations."""
SCORE_COLUMNS = ("metric", "group", "value", "low", "high", "n")


@dataclass(frozen=True)
class NewEvaluation:
    """An evaluation to create, as `cobalance.graph.database.evaluation_nodes.EVALUATION` says.

    Parameters
    ----------
    method : str
        A training method, or whatever made the predictions.
    settings : mapping
        All that decides its result but training set, method and seed; anything that JSON can hold.
    id : str
        Unique in the store.
    same_method, other_methods : mapping or None
        Those of the settings that have to be equal in comparisons; None for all.
    """

    method: str
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    training_set: str = "augmented"
    most_synthetic: int | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])
    same_method: Mapping[str, Any] | None = None
    other_methods: Mapping[str, Any] | None = None


def create_evaluations(
    store: GraphStore,
    new: Sequence[NewEvaluation],
    *,
    train: str | None,
    test: str,
    extra: str | None,
    created_by: str = "",
) -> list[str]:
    """Create evaluations of one training and one test dataset, all or none; return their ids.

    Parameters
    ----------
    train : str or None
        The dataset that the models are trained on; None for predictions of other models.
    test : str
        The dataset with the test images, which may be the same one.
    extra : str or None
        What the workers that run them need, as `cobalance.base.plugins.join_needs` says it; each
        evaluation then has a task with its own id. None where the predictions exist.
    created_by : str
        Who orders them; empty without a login.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    names = list(dict.fromkeys(name for name in (train, test) if name is not None))
    for name in names:
        dataset_state(store, name).require_complete()

    rows = [_row(evaluation, train, extra, created_by) for evaluation in new]
    written = store.write(statements.CREATE_EVALUATIONS, train=train, test=test, rows=rows)
    if rows and (not written or written[0]["written"] != len(rows)):
        raise busy_dataset(*names)

    return [evaluation.id for evaluation in new]


def _row(new: NewEvaluation, train: str | None, extra: str | None, created_by: str) -> Row:
    """Key and properties of an evaluation, and its task if it has one."""
    same_method = new.settings if new.same_method is None else new.same_method
    other_methods = new.settings if new.other_methods is None else new.other_methods
    most_synthetic = {"most_synthetic": new.most_synthetic}
    settings_list = list_settings(
        new.method, {**new.settings, **most_synthetic}, {**other_methods, **most_synthetic}
    )

    properties = {
        "method": new.method,
        "seed": new.seed,
        "settings": json_text(new.settings),
        "same_method": json_text(same_method),
        "other_methods": json_text(other_methods),
        "settings_list": settings_list,
        "training_set": new.training_set if train is not None else None,
        **most_synthetic,
        "created_by": created_by,
    }

    task = None
    if extra is not None:
        task = task_row(KIND, extra, created_by=created_by, task=new.id)
    return {"key": new.id, "properties": EVALUATION.check(properties), "task": task}


def list_settings(
    method: str, settings: Mapping[str, Any], other_methods: Collection[str]
) -> list[str]:
    """Describe settings, the learner first; an option that `other_methods` lack names its method.

    Mappings, such as shortcuts, are told apart by six digits of their SHA-256.

    Examples
    --------
    >>> settings = {"learner": "linear", "learner_options": {"c": 0.1}, "test_split": None}
    >>> list_settings("dfr", settings | {"method_options": {"refits": 3}}, settings)
    ['linear', 'c 0.1', 'dfr refits 3']
    """
    descriptions = [str(settings.get("learner", ""))]
    for name, value in sorted(settings.items()):
        if name == "learner":
            continue
        prefix = "" if name in other_methods else f"{method} "
        options = value if name.endswith("_options") else {name: value}
        for option, option_value in sorted(options.items()):
            # An option that is not set says nothing.
            if option_value in (None, {}, []):
                continue
            words = option.replace("_", " ")
            descriptions.append(f"{prefix}{words} {_setting_text(option_value)}")
    return descriptions


def _setting_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return hashlib.sha256(json_text(value).encode()).hexdigest()[:6]
    return json.dumps(value, ensure_ascii=False)


def begin_evaluation(store: GraphStore, evaluation: str) -> None:
    """Record that an evaluation is run on the images that its datasets have now.

    Earlier scores are deleted.

    Raises
    ------
    NotFoundError
        There is no such evaluation.
    ConflictError
        One of its datasets is gone, or is being written.
    """
    store.write(statements.DELETE_SCORES, evaluation=evaluation)
    if store.write(statements.BEGIN_EVALUATION, evaluation=evaluation):
        return
    read_evaluation(store, evaluation)
    raise ConflictError(
        f"A dataset of the evaluation {evaluation!r} is gone, or is being loaded. Order it again."
    )


def save_predictions_uri(store: GraphStore, evaluation: str, uri: str) -> None:
    """Record the URI of an evaluation's predictions; raises NotFoundError."""
    rows = store.write(statements.SAVE_PREDICTIONS, evaluation=evaluation, uri=uri)
    require_one(rows, "evaluation", evaluation)


def save_scores(store: GraphStore, evaluation: str, scores: pd.DataFrame) -> None:
    """Write scores in place of the evaluation's earlier ones of the same metrics.

    Parameters
    ----------
    scores : pandas.DataFrame
        ``metric``, ``group`` (empty for all images), ``value``, ``low``, ``high`` (NaN where not
        defined) and ``n``; a metric and group at most once.

    Raises
    ------
    NotFoundError
        There is no such evaluation.
    ValueError
        A metric and group occur twice.
    """
    if scores.duplicated(["metric", "group"]).any():
        raise ValueError("a metric and group occur twice")
    records = scores[list(SCORE_COLUMNS)].to_dict("records")
    if not records:
        return

    rows = [_score_row(evaluation, position, score) for position, score in enumerate(records)]
    metrics = [str(name) for name in scores["metric"].unique()]
    try:
        store.write_all(
            statements.SAVE_SCORES, len(rows), evaluation=evaluation, metrics=metrics, rows=rows
        )
    except ConflictError:
        # Where the evaluation is gone, this raises NotFoundError.
        read_evaluation(store, evaluation)
        raise


def _score_row(evaluation: str, position: int, score: Mapping[Any, Any]) -> Row:
    metric, group = str(score["metric"]), str(score["group"])
    properties = {
        "position": position,
        "metric": metric,
        "group": group,
        "n": None if pd.isna(score["n"]) else int(score["n"]),
    }

    for name in ("value", "low", "high"):
        properties[name] = None if pd.isna(score[name]) else float(score[name])
    return {"key": [evaluation, metric, group], "properties": SCORE.check(properties)}


def delete_evaluation(store: GraphStore, evaluation: str) -> None:
    """Delete an evaluation with its scores and its task; its files stay.

    Raises
    ------
    NotFoundError
        There is no such evaluation.
    ConflictError
        A worker runs it.
    """
    if store.write(statements.DELETE_EVALUATION, evaluation=evaluation):
        return
    read_evaluation(store, evaluation)
    raise ConflictError(
        f"The evaluation {evaluation} is running. Cancel it first, or wait until it is done."
    )
