"""Mean average precision of multi-label predictions."""

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, InputError, needs_extra, sklearn
from cobalance.evaluation.metrics.metric import MetricPlugin, score_frame, stack
from cobalance.evaluation.predictions import LABEL, PROBABILITY, class_columns, column_names, runs


def mean_average_precision(predictions: pd.DataFrame) -> pd.DataFrame:
    """Average precision of each class, and their mean over classes that have a positive image.

    scikit-learn gives 0 to a class without positive images, which would pull the mean down: such a
    class is left out, and counted.

    Parameters
    ----------
    predictions : pandas.DataFrame
        From `cobalance.evaluation.predictions.check_predictions`, with ``p_<class>`` for each
        class, and either ``y_<class>`` or ``class_name``.

    Returns
    -------
    pandas.DataFrame
        Scores of each run: ``average_precision`` of each class (NaN without positive images, whose
        number is n), ``mean_average_precision``, and ``classes_without_positives``.

    Raises
    ------
    InputError
        A class has no scores.
    MissingExtraError
        scikit-learn is not installed.

    Examples
    --------
    >>> from cobalance.evaluation.predictions import check_predictions
    >>> table = pd.DataFrame({"image": [1, 2, 3], "y_cup": [1, 0, 1], "p_cup": [.9, .8, .7],
    ...                       "y_dog": 0, "p_dog": .5})
    >>> scores = mean_average_precision(check_predictions(table))
    >>> scores[["metric", "group", "value", "n"]].round(4)
                          metric group   value    n
    0          average_precision   cup  0.8333  2.0
    1          average_precision   dog     NaN  0.0
    2     mean_average_precision        0.8333  3.0
    3  classes_without_positives        1.0000  3.0
    """
    classes = _scored_classes(predictions)
    scores = []
    for method, seed, rows in runs(predictions):
        run = (method, seed)
        if class_columns(rows, LABEL):
            truth = rows[column_names(LABEL, classes)].to_numpy()
        else:
            truth = rows["class_name"].to_numpy()[:, None] == np.array(classes, dtype=object)
        truth = truth.astype(np.float64)
        n = rows["n"].to_numpy()
        class_scores = rows[column_names(PROBABILITY, classes)].to_numpy()

        precision = average_precision(truth, class_scores, n)
        left_out = np.isnan(precision)
        mean = np.nan if left_out.all() else precision[~left_out].mean()
        scores += [
            score_frame("average_precision", classes, precision, n=n @ truth, run=run),
            score_frame("mean_average_precision", "", mean, n=n.sum(), run=run),
            score_frame("classes_without_positives", "", left_out.sum(), n=n.sum(), run=run),
        ]
    return stack(scores)


@needs_extra("The metric mean_average_precision", "evaluate")
def average_precision(
    truth: FloatArray, scores: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Average precision of each class, NaN for those without a positive image.

    The sum of precisions at each threshold times the recall gained there; images with equal scores
    are taken together, so that their order does not matter.

    Parameters
    ----------
    truth : array, shape (n_images, n_classes)
        1 where an image has the label.
    scores : float64 array, same shape
    weights : float64 array, shape (n_images,), optional
        How many images each row stands for.

    Raises
    ------
    MissingExtraError
        scikit-learn is not installed.
    """
    if weights is None:
        weights = np.ones(len(truth))

    precision = np.full(truth.shape[1], np.nan)
    for column in np.flatnonzero(weights @ truth > 0):
        precision[column] = sklearn.metrics.average_precision_score(
            truth[:, column], scores[:, column], sample_weight=weights
        )
    return precision


def _scored_classes(predictions: pd.DataFrame) -> list[str]:
    labelled = class_columns(predictions, LABEL)
    classes = labelled or sorted(set(predictions["class_name"]))
    scored = class_columns(predictions)
    for name in classes:
        if name not in scored:
            reason = f"has no scores for the class {name!r}: there is no column p_{name}"
            raise InputError("predictions", None, reason, "Add the scores of every class.")
    return classes if labelled else scored


PLUGIN = MetricPlugin(
    "mean_average_precision",
    "Mean over classes of the average precision.",
    "evaluate",
    takes=("predictions",),
    compute=lambda inputs, _: mean_average_precision(inputs.need("predictions")),
)
