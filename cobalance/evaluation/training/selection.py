"""Rules that select the epoch of a model by validation images."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cobalance.base import OptionError
from cobalance.evaluation.metrics.average_precision import average_precision
from cobalance.evaluation.training.examples import Examples, Floats, IntArray

READS_GROUPS = frozenset({"worst-group", "group-balanced"})
"""Rules that read the groups of validation images."""


def describe_selection(rule: str, epoch: int, value: float) -> dict[str, Any]:
    """The selected epoch for the record, as JSON values.

    Parameters
    ----------
    rule : str
        A name in `RULES`, or ``last``.
    epoch : int
        From 1.
    value : float
        Of the rule, in this epoch; NaN for ``last``.
    """
    return {
        "rule": rule,
        "epoch": epoch,
        "value": None if np.isnan(value) else value,
        "reads_groups": rule in READS_GROUPS,
    }


def negative_loss(probabilities: Floats, images: Examples) -> float:
    """Mean log-likelihood of the labels; with several labels an image, of each, averaged.

    Examples
    --------
    >>> labels, none = np.array([0, 1]), np.array([-1, -1])
    >>> two = Examples(["a", "b"], labels, none, none, ["x", "y"], lambda rows: [])
    >>> round(negative_loss(np.array([[0.5, 0.5], [0.75, 0.25]]), two), 4)
    -1.0397
    """
    # A probability of 0 has no logarithm.
    tiny = np.finfo(np.float64).tiny
    if images.labels.ndim == 1:
        of_label = probabilities[np.arange(len(images)), images.labels]
    else:
        of_label = np.where(images.labels == 1, probabilities, 1 - probabilities)
    return float(np.log(np.maximum(of_label, tiny)).mean())


def share_right(probabilities: Floats, images: Examples) -> Floats:
    """Whether each image is right; with several labels an image, its share of right ones."""
    if images.labels.ndim == 2:
        return np.asarray(((probabilities >= 0.5) == (images.labels == 1)).mean(axis=1))
    return np.asarray((probabilities.argmax(axis=1) == images.labels).astype(np.float64))


def accuracy(probabilities: Floats, images: Examples) -> float:
    """Share of right images."""
    return float(share_right(probabilities, images).mean())


def _means(values: Floats, groups: IntArray) -> Floats:
    return np.array([values[groups == group].mean() for group in np.unique(groups)])


def balanced_accuracy(probabilities: Floats, images: Examples) -> float:
    """Mean over classes of the share of right images; one label an image."""
    return float(_means(share_right(probabilities, images), images.labels).mean())


def group_balanced(probabilities: Floats, images: Examples) -> float:
    """Mean over groups of the share of right images."""
    return float(_means(share_right(probabilities, images), images.groups).mean())


def worst_group(probabilities: Floats, images: Examples) -> float:
    """Least share of right images of a group."""
    return float(_means(share_right(probabilities, images), images.groups).min())


def mean_average_precision(probabilities: Floats, images: Examples) -> float:
    """Mean average precision over the classes that some image has; several labels an image."""
    return float(np.nanmean(average_precision(images.labels.astype(np.float64), probabilities)))


RULES: Mapping[str, Callable[[Floats, Examples], float]] = {
    "loss": negative_loss,
    "accuracy": accuracy,
    "balanced": balanced_accuracy,
    "worst-group": worst_group,
    "group-balanced": group_balanced,
    "mean-average-precision": mean_average_precision,
}
"""Each takes probabilities of the validation images, and more is better: ``loss`` is negative."""


def check_rule(rule: str, validation: Examples | None) -> None:
    """Refuse a rule that these validation images cannot decide.

    Raises
    ------
    OptionError
        There are no validation images, their groups are unknown, or labels of the wrong kind.
    """
    if rule == "last":
        return
    if validation is None or not len(validation):
        raise OptionError(
            f"The rule {rule!r} selects an epoch by validation images, and there are none. Hold "
            "some out, or select the last epoch."
        )

    if rule in READS_GROUPS and (validation.groups < 0).any():
        unknown = int((validation.groups < 0).sum())
        raise OptionError(
            f"The rule {rule!r} reads the groups of validation images, and {unknown} of "
            f"{len(validation)} have none. Name shortcuts, or select by 'loss' or 'accuracy'."
        )

    if rule == "balanced" and validation.several_labels:
        raise OptionError(
            "The rule 'balanced' needs one label an image. Select by 'mean-average-precision' or "
            "'loss'."
        )
    if rule == "mean-average-precision":
        if not validation.several_labels:
            raise OptionError(
                "The rule 'mean-average-precision' needs several labels an image. Select by "
                "'balanced', 'accuracy' or 'loss'."
            )
        if not validation.labels.any():
            raise OptionError(
                "The rule 'mean-average-precision' needs validation images with labels, and none "
                "has any. Select by 'loss'."
            )
