"""Metrics of accuracy by group, bias and image quality, as pure functions without torch."""

from evaluation.metrics.accuracy import (
    balanced_accuracy,
    group_accuracy,
    out_of_distribution,
    worst_group,
)
from evaluation.metrics.metric import Inputs, Metrics

__all__ = [
    "METRICS",
    "Inputs",
    "balanced_accuracy",
    "group_accuracy",
    "out_of_distribution",
    "worst_group",
]

METRICS = Metrics(
    "metric",
    {
        "group_accuracy": "evaluation.metrics.accuracy",
        "balanced_accuracy": "evaluation.metrics.accuracy",
        "out_of_distribution": "evaluation.metrics.accuracy",
        "worst_group": "evaluation.metrics.accuracy",
    },
)
