"""Multi-attribute bias amplification: of sets of labels that occur together."""

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.base import BoolArray, FloatArray, IntArray, check_known
from cobalance.evaluation.metrics.bias.labels import (
    AttributeOptions,
    Labels,
    by_attribute,
    read_sides,
)
from cobalance.evaluation.metrics.bias.object_tables import group_shares
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import Score, score_rows

Against = Literal["test", "train"]
BLOCK = 512  # label sets that are looked for at a time: bounds the memory to images x 512


def multi_attribute_amplification(
    labels: Labels,
    groups: Labels,
    *,
    predicted_labels: Labels,
    predicted_groups: Labels | None = None,
    training_labels: Labels | None = None,
    training_groups: Labels | None = None,
    min_size: int = 1,
    min_images: int = 1,
    against: Against = "test",
) -> pd.DataFrame:
    r"""Return bias amplification over sets of labels: undirected, groups to labels, and back.

    The sets M are those that are the whole label set of a training image and that test images
    contain. An image has a set if it has at least its labels. For a set m and a group g:

    - undirected: Δ = 1[b*(m, g) > 1/|G|] (b̃(m, g) - b*(m, g)), with the share b of g in the images
      with m, b* of training and b̃ of predictions; summed over groups and averaged over M.
    - groups to labels: Δ = P(m̂ | g) - P(m | g), labels to groups: Δ = P(ĝ | m) - P(g | m); averaged
      over all pairs. The signed mean multiplies by y = 1 where m and g go together in training
      more often than by chance, -1 where more rarely, 0 where exactly as often.

    Parameters
    ----------
    labels, groups : labels, shape (n_images, n_labels) and (n_images, n_groups) or (n_images,)
        Ground truth of test images, as indicators; groups may be a name an image.
    predicted_labels, predicted_groups : labels
        Predictions for the same images. Without those of groups only groups to labels is defined.
    training_labels, training_groups : labels, optional
        Ground truth of training images; test images' where left out.
    min_size : int
        The least labels of a set; 2 for sets alone that no single-label metric sees.
    min_images : int
        The least training images that a set is the whole of, and test images that contain it.
    against : {"test", "train"}
        Whose conditional probabilities the directed forms compare predictions with: ground truth of
        the test images, as the authors' code, or of the training images, as the paper's equation.

    Returns
    -------
    frame of scores
        For ``multi_attribute``, ``multi_attribute_group_to_labels`` and
        ``multi_attribute_labels_to_group``: the signed mean, which is comparable with single-label
        metrics; with ``_absolute`` the mean of \|Δ\|, the paper's; with ``_variance`` the
        variance of Δ over pairs. `n` counts sets. NaN where no set qualifies.

    Raises
    ------
    OptionError
        Shapes, labels or values do not fit.

    Notes
    -----
    Where we differ from the authors' code: it compares b* with 1/(|G| - 1), so that nothing ever
    qualifies for two groups; the paper and this have 1/|G|. A set that is never predicted has no
    share and is left out of the undirected mean; there it counts as 0.

    References
    ----------
    .. [1] Zhao, D., Andrews, J. T. A. and Xiang, A., *Men also do laundry: Multi-attribute bias
       amplification* (ICML 2023), section 4.

    Examples
    --------
    >>> truth, found = [[1, 1]] * 8, [[1, 1]] * 10
    >>> multi_attribute_amplification(
    ...     [[1, 1]] * 10, ["a"] * 6 + ["b"] * 4,
    ...     predicted_labels=found, predicted_groups=["a"] * 9 + ["b"],
    ...     training_labels=truth, training_groups=["a"] * 6 + ["b"] * 2,
    ... )[["metric", "value", "n"]].head(3).round(4)
                         metric   value    n
    0           multi_attribute  0.1500  1.0
    1  multi_attribute_absolute  0.1500  1.0
    2  multi_attribute_variance  0.0056  1.0
    """
    check_known("against", [against], get_args(Against))
    tasks, members = read_sides(
        labels=(labels, predicted_labels, training_labels),
        groups=(groups, predicted_groups, training_groups),
    )
    truth, forecast = tasks.truth.to_numpy(), tasks.predicted.to_numpy()
    true_groups = members.truth.to_numpy()
    trained, trained_groups = tasks.training.to_numpy(), members.training.to_numpy()
    is_labelled = trained.any(axis=1) | trained_groups.any(axis=1)
    trained, trained_groups = trained[is_labelled], trained_groups[is_labelled]

    sets = _whole_sets(trained, min_size, min_images)
    sets = sets[_containing(truth, sets)[:, 0] >= min_images]
    before = _joint(trained, trained_groups, sets)
    chance = _containing(trained, sets) * trained_groups.sum(axis=0)
    signs = np.sign(before * len(trained) - chance).astype(np.float64)

    if against == "test":
        reference, reference_groups = truth, true_groups
    else:
        reference, reference_groups = trained, trained_groups
    joint = _joint(reference, reference_groups, sets)
    predicted_shares = _ratio(_joint(forecast, true_groups, sets), true_groups.sum(axis=0))
    to_labels = predicted_shares - _ratio(joint, reference_groups.sum(axis=0))
    scores = [*_scores("multi_attribute_group_to_labels", to_labels, signs)]
    if members.predicted is None:
        return score_rows(scores)

    guessed = members.predicted.to_numpy()
    predicted_shares = _ratio(_joint(truth, guessed, sets), _containing(truth, sets))
    to_group = predicted_shares - _ratio(joint, _containing(reference, sets))
    shares, later = group_shares(before), group_shares(_joint(forecast, guessed, sets))
    # Rounding must not make a majority of a share that is exactly even.
    change = np.where(shares > 1 / shares.shape[1] + 1e-12, later - shares, 0.0)
    # Sets that are never predicted have no shares to compare.
    change[np.isnan(later)] = np.nan

    undirected = _scores("multi_attribute", change, np.ones_like(change), per_set=True)
    scores += _scores("multi_attribute_labels_to_group", to_group, signs)
    return score_rows([*undirected, *scores])


def _whole_sets(labels: IntArray, min_size: int, min_images: int) -> BoolArray:
    """Label sets that are all of an image's labels, as indicators of shape (n_sets, n_labels)."""
    sets, images = np.unique(labels, axis=0, return_counts=True)
    is_used = (sets.sum(axis=1) >= max(min_size, 1)) & (images >= min_images)
    return np.asarray(sets[is_used], dtype=np.bool_)


def _joint(labels: IntArray, groups: IntArray, sets: BoolArray) -> FloatArray:
    """Images of each group that contain each set, shape (n_sets, n_groups)."""
    counts = np.empty((len(sets), groups.shape[1]))
    images, members = labels.astype(np.float32), groups.astype(np.float64)
    for start in range(0, len(sets), BLOCK):
        block = sets[start : start + BLOCK].astype(np.float32)
        contains = images @ block.T == block.sum(axis=1)
        counts[start : start + BLOCK] = contains.T @ members
    return counts


def _containing(labels: IntArray, sets: BoolArray) -> FloatArray:
    """Images that contain each set, shape (n_sets, 1)."""
    return _joint(labels, np.ones((len(labels), 1), dtype=np.int64), sets)


def _ratio(counts: FloatArray, sizes: FloatArray | IntArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sizes > 0, counts / sizes, np.nan)


def _scores(
    metric: str, delta: FloatArray, signs: FloatArray, *, per_set: bool = False
) -> Iterator[Score]:
    known = ~np.isnan(delta)
    # Sums over the groups of a set need all of them.
    if per_set:
        known &= known.all(axis=1, keepdims=True)
    n = int(known.any(axis=1).sum())
    n_terms = n if per_set else int(known.sum())
    if not n_terms:
        yield from map(Score, (metric, f"{metric}_absolute", f"{metric}_variance"))
    else:
        yield Score(metric, value=float((signs * delta)[known].sum()) / n_terms, n=n)
        yield Score(f"{metric}_absolute", value=float(np.abs(delta)[known].sum()) / n_terms, n=n)
        yield Score(f"{metric}_variance", value=float(delta[known].var()), n=n)


class MultiAttributeOptions(AttributeOptions):
    """Options of the metric multi_attribute_amplification.

    Parameters
    ----------
    min_size : int
        The least labels of a set.
    min_images : int
        The least images of a set, in training and in the test.
    against : {"test", "train"}
        Whose ground truth predictions are compared with.
    """

    min_size: int = Field(default=1, ge=1)
    min_images: int = Field(default=1, ge=1)
    against: Against = "test"


def _compute(inputs: Inputs, options: MultiAttributeOptions) -> pd.DataFrame:
    return by_attribute(
        inputs,
        options,
        lambda run: multi_attribute_amplification(
            run.labels,
            run.groups,
            predicted_labels=run.predicted,
            predicted_groups=run.predicted_groups,
            training_labels=run.training_labels,
            training_groups=run.training_groups,
            min_size=options.min_size,
            min_images=options.min_images,
            against=options.against,
        ),
    )


PLUGIN = MetricPlugin(
    "multi_attribute_amplification",
    "Bias amplification over sets of labels that occur together.",
    options=MultiAttributeOptions,
    takes=("predictions",),
    may_take=("groups", "training"),
    compute=_compute,
)
