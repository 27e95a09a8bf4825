"""Keep the demonstration's models as evaluations, so that Cypher can tell what helped."""

import io
from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.demo.experiment import SHORTCUTS, Result
from evaluation.metrics import METRICS, Inputs
from evaluation.predictions import check_predictions
from evaluation.shortcuts import shortcut_groups
from evaluation.training.data.images import LabelledImages
from generation.output.folder import OutputFolder
from graph.database.store import GraphStore
from graph.evaluations.writing import (
    NewEvaluation,
    begin_evaluation,
    create_evaluations,
    save_predictions_uri,
    save_scores,
)

SCORED = ("group_accuracy", "balanced_accuracy", "out_of_distribution", "worst_group")
REAL = "real"


def record_results(
    store: GraphStore,
    output: OutputFolder,
    results: Sequence[Result],
    *,
    datasets: tuple[str, str],
    apart: str,
    test: LabelledImages,
) -> list[str]:
    """Write an evaluation for each result, with its predictions and scores; return their ids.

    Those of an earlier demonstration are replaced.

    Parameters
    ----------
    datasets : tuple of two str
        D, and D with the generated images.
    apart : str
        The dataset of the held-out and the test images.
    """
    groups = shortcut_groups(test.frame, SHORTCUTS)
    written = []
    for result in results:
        line, seed = result.line, int(result.trained.record["seed"])
        evaluation = f"{datasets[0]}-{line.training_set}-{line.method}-{seed}"
        new = NewEvaluation(line.method, seed, _settings(apart), line.training_set, id=evaluation)
        train = datasets[line.training_set != REAL]
        create_evaluations(store, [new], train=train, test=apart, extra=None)
        begin_evaluation(store, evaluation)
        predictions = check_predictions(result.trained.predictions)
        inputs = Inputs(predictions, groups=groups)
        scores = [METRICS.open(name, {})(inputs) for name in SCORED]
        save_scores(store, evaluation, pd.concat(scores, ignore_index=True))
        content = io.BytesIO()
        predictions.merge(groups, on="image").to_parquet(content, index=False)
        uri = f"evaluations/{evaluation}/predictions.parquet"
        output.write(uri, content.getvalue())
        save_predictions_uri(store, evaluation, uri)
        written.append(evaluation)
    return written


def _settings(apart: str) -> dict[str, Any]:
    """What all models have in common."""
    return {
        "preset": "small",
        "learner": "linear",
        "learner_options": {},
        "method_options": {},
        "labels": "class",
        "train_split": "train",
        "test_split": "test",
        "validation": apart,
        "validation_split": "validation",
        "validation_share": 0.0,
        "shortcuts": {
            name: {class_name: sorted(concepts) for class_name, concepts in classes.items()}
            for name, classes in SHORTCUTS.concepts.items()
        },
    }
