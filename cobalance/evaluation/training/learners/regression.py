"""Softmax regression: solved by scikit-learn for constant weights, else by gradient descent.

Both minimise the weighted mean of the cross-entropies plus |W|² / (2 C n), scikit-learn's objective
divided by C n; of two classes W is the difference of their weights, as there. With several labels
an image there is a logistic regression for each class.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cobalance.base.libraries import sklearn
from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.method import Method, Run

Head = tuple[Floats, Floats]
"""Weight, shape (n_classes, n_features), and bias, shape (n_classes,)."""

_DESCENT = 7  # purpose of the generator
_NEVER = -1e9  # bias of a class without training images: its probability is 0


@dataclass(frozen=True)
class Descent:
    """Settings of gradient descent: scikit-learn's C, and the epochs with their batches."""

    c: float
    epochs: int
    batch_size: int
    learning_rate: float


def head_probabilities(head: Head, features: Floats, several_labels: bool) -> Floats:
    """Probability of each class, shape (n_images, n_classes)."""
    weight, bias = head
    outputs = features @ weight.T + bias
    if several_labels:
        return np.exp(-np.logaddexp(0, -outputs))
    raised = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def solve(features: Floats, training: Examples, weights: Floats, c: float) -> Head:
    """The minimum for constant weights, by scikit-learn.

    Parameters
    ----------
    features : float64 array, shape (n_images, n_features)
    weights : float64 array, shape (n_images,)
    """
    n_classes = len(training.classes)
    solver = sklearn.linear_model.LogisticRegression(C=c, max_iter=1000)
    weight, bias = np.zeros((n_classes, features.shape[1])), np.full(n_classes, float(_NEVER))
    if training.several_labels:
        for label in range(n_classes):
            shown = training.labels[:, label]
            if shown.min() == shown.max():  # nothing to tell apart
                bias[label] = -_NEVER if shown[0] else _NEVER
                continue
            fitted = solver.fit(features, shown, sample_weight=weights)
            weight[label], bias[label] = fitted.coef_[0], fitted.intercept_[0]
        return weight, bias
    fitted = solver.fit(features, training.labels, sample_weight=weights)
    coefficients, intercept = fitted.coef_, fitted.intercept_
    if len(coefficients) == 1:  # of two classes scikit-learn has the difference
        coefficients = np.concatenate([-coefficients, coefficients]) / 2
        intercept = np.concatenate([-intercept, intercept]) / 2
    weight[fitted.classes_], bias[fitted.classes_] = coefficients, intercept
    return weight, bias


def descend(
    features: Floats,
    training: Examples,
    method: Method,
    weights: Floats,
    settings: Descent,
    run: Run,
) -> Iterator[Head]:
    """Gradient descent over the method's batches, with its weights: the head after each epoch.

    Parameters
    ----------
    features : float64 array, shape (n_images, n_features)
    method : Method
        Prepared for the training images.
    weights : float64 array, shape (n_images,)
        Constant ones; the method's own multiply.
    """
    rng = run.generator(_DESCENT)
    wanted = _one_hot(training)
    penalty = 1 / (settings.c * len(training))
    if wanted.shape[1] == 2 and not training.several_labels:
        penalty *= 2  # the weights are ± half of the difference
    weight, bias = np.zeros((wanted.shape[1], features.shape[1])), np.zeros(wanted.shape[1])
    for epoch in range(settings.epochs):
        batches = method.batches(training, settings.batch_size, rng)
        for at, rows in enumerate(batches):
            done = (epoch + at / len(batches)) / settings.epochs
            rate = settings.learning_rate * (1 + np.cos(np.pi * done)) / 2
            seen, shown = features[rows], wanted[rows]
            found = head_probabilities((weight, bias), seen, training.several_labels)
            own = method.reweight(
                losses_of(found, shown, training.several_labels), training.groups[rows]
            )
            factors = weights[rows] * (1 / len(rows) if own is None else own)
            error = (found - shown) * factors[:, np.newaxis]
            weight = weight - rate * (error.T @ seen + penalty * weight)
            bias = bias - rate * error.sum(axis=0)
        yield weight, bias


def losses_of(probabilities: Floats, wanted: Floats, several_labels: bool) -> Floats:
    """Cross-entropy of each image; with several labels the sum of the binary ones."""
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    terms = wanted * np.log(p)
    if several_labels:
        terms = terms + (1 - wanted) * np.log1p(-p)
    return np.asarray(-terms.sum(axis=1))


def _one_hot(training: Examples) -> Floats:
    """Ones for the labels, shape (n_images, n_classes)."""
    labels: IntArray = training.labels
    if training.several_labels:
        return labels.astype(float)
    return np.asarray((labels[:, np.newaxis] == np.arange(len(training.classes))).astype(float))
