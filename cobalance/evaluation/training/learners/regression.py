"""Softmax regression: solved by scikit-learn for constant weights, else by gradient descent.

Both minimise the weighted mean of the cross-entropies plus |W|² / (2 C n), scikit-learn's objective
divided by C n; of two classes W is the difference of their weights, as there. With several labels
an image there is a logistic regression for each class.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cobalance.base import sklearn
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
            shows = training.labels[:, label]
            # A label that all images have, or none, cannot be told from anything.
            if shows.min() == shows.max():
                bias[label] = -_NEVER if shows[0] else _NEVER
            else:
                fitted = solver.fit(features, shows, sample_weight=weights)
                weight[label], bias[label] = fitted.coef_[0], fitted.intercept_[0]
        return weight, bias

    fitted = solver.fit(features, training.labels, sample_weight=weights)
    coefficients, intercept = fitted.coef_, fitted.intercept_
    # Of two classes, scikit-learn has the difference alone.
    if len(coefficients) == 1:
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
    several = training.several_labels
    labels = _one_hot(training)
    penalty = 1 / (settings.c * len(training))
    # Of two classes, the weights are ± half of the difference that scikit-learn penalises.
    if labels.shape[1] == 2 and not several:
        penalty *= 2

    weight, bias = np.zeros((labels.shape[1], features.shape[1])), np.zeros(labels.shape[1])
    for epoch in range(settings.epochs):
        batches = method.batches(training, settings.batch_size, rng)
        for number, rows in enumerate(batches):
            done = (epoch + number / len(batches)) / settings.epochs
            rate = settings.learning_rate * (1 + np.cos(np.pi * done)) / 2
            inputs, targets = features[rows], labels[rows]
            outputs = head_probabilities((weight, bias), inputs, several)

            shares = method.reweight(losses_of(outputs, targets, several), training.groups[rows])
            factors = weights[rows] * (1 / len(rows) if shares is None else shares)
            error = (outputs - targets) * factors[:, np.newaxis]
            weight = weight - rate * (error.T @ inputs + penalty * weight)
            bias = bias - rate * error.sum(axis=0)
        yield weight, bias


def losses_of(probabilities: Floats, targets: Floats, several_labels: bool) -> Floats:
    """Cross-entropy of each image; with several labels the sum of the binary ones."""
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    terms = targets * np.log(p)
    if several_labels:
        terms = terms + (1 - targets) * np.log1p(-p)
    return np.asarray(-terms.sum(axis=1))


def _one_hot(training: Examples) -> Floats:
    """Ones for the labels, shape (n_images, n_classes)."""
    labels: IntArray = training.labels
    if training.several_labels:
        return labels.astype(float)
    return np.asarray((labels[:, np.newaxis] == np.arange(len(training.classes))).astype(float))
