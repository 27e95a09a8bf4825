"""Keep the demonstration's models as evaluations, so that Cypher can tell what helped."""

from collections.abc import Sequence

from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.shortcuts import shortcut_groups
from cobalance.evaluation.training.data.images import LabelledImages
from cobalance.graph.database.store import GraphStore
from cobalance.graph.evaluations.writing import (
    NewEvaluation,
    begin_evaluation,
    create_evaluations,
    save_predictions_uri,
    save_scores,
)
from cobalance.ingest.stored.output_folder import OutputFolder
from cobalance.workflows.demo.experiment import SHORTCUTS, Result
from cobalance.workflows.evaluate.score import score_run, with_groups
from cobalance.workflows.evaluate.settings import RunSettings, shortcut_settings
from cobalance.workflows.evaluate.stored import write_predictions

REAL = "real"  # the training set without generated images


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
    settings = RunSettings(
        train_split="train",
        test_split="test",
        validation=apart,
        validation_split="validation",
        shortcuts=shortcut_settings(SHORTCUTS),
    )
    written = []
    for result in results:
        line, seed = result.line, int(result.trained.record["seed"])
        evaluation = f"{datasets[0]}-{line.training_set}-{line.method}-{seed}"
        new = NewEvaluation(
            *(line.method, seed, settings.model_dump(mode="json"), line.training_set),
            id=evaluation,
            **settings.compared(),
        )
        train = datasets[line.training_set != REAL]
        create_evaluations(store, [new], train=train, test=apart, extra=None)
        begin_evaluation(store, evaluation)
        predictions = check_predictions(result.trained.predictions)
        save_scores(store, evaluation, score_run(Inputs(predictions, groups=groups)).frame)
        uri = write_predictions(output, evaluation, with_groups(predictions, groups))
        save_predictions_uri(store, evaluation, uri)
        written.append(evaluation)
    return written
