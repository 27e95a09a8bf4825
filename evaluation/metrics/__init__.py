"""Metrics of accuracy by group, bias and image quality, as pure functions without torch."""

from evaluation.metrics.accuracy import (
    balanced_accuracy,
    group_accuracy,
    out_of_distribution,
    worst_group,
)
from evaluation.metrics.bias.amplification import directional_amplification, mals_amplification
from evaluation.metrics.bias.markedness import person_preference, self_similarity
from evaluation.metrics.bias.multi_attribute import multi_attribute_amplification
from evaluation.metrics.bias.rankings import bias_at_k, max_skew, ndkl
from evaluation.metrics.metric import Inputs, Metrics

__all__ = [
    "METRICS",
    "Inputs",
    "balanced_accuracy",
    "bias_at_k",
    "directional_amplification",
    "group_accuracy",
    "mals_amplification",
    "max_skew",
    "multi_attribute_amplification",
    "ndkl",
    "out_of_distribution",
    "person_preference",
    "self_similarity",
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
