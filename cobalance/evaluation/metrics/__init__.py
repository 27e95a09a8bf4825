"""Metrics of accuracy by group, bias and image quality, and the tables that they take, by name."""

from typing import TYPE_CHECKING

from cobalance.base import Declarations, Plugins

if TYPE_CHECKING:
    from cobalance.evaluation.metrics.inputs import Table
    from cobalance.evaluation.metrics.metric import Metric, MetricPlugin

METRICS: "Plugins[Metric, MetricPlugin]" = Plugins(
    "metric",
    {
        "accuracy": "cobalance.evaluation.metrics.group_accuracy",
        "group_accuracy": "cobalance.evaluation.metrics.group_accuracy",
        "balanced_accuracy": "cobalance.evaluation.metrics.group_accuracy",
        "out_of_distribution": "cobalance.evaluation.metrics.group_accuracy",
        "worst_group": "cobalance.evaluation.metrics.group_accuracy",
        "shortcut_gaps": "cobalance.evaluation.metrics.gaps",
        "mean_average_precision": "cobalance.evaluation.metrics.average_precision",
        "detection_precision": "cobalance.evaluation.metrics.detections",
        "ratio": "cobalance.evaluation.metrics.ratios",
        "artefact_shift": "cobalance.evaluation.metrics.artefact_shift",
        "attribute_shift": "cobalance.evaluation.metrics.attributes",
        "retrieval_recall": "cobalance.evaluation.metrics.retrieval",
        "opportunity_gap": "cobalance.evaluation.metrics.opportunity_gap",
        "leakage": "cobalance.evaluation.metrics.bias.label_leakage",
        "mals_amplification": "cobalance.evaluation.metrics.bias.amplification",
        "directional_amplification": "cobalance.evaluation.metrics.bias.directional",
        "multi_attribute_amplification": "cobalance.evaluation.metrics.bias.multi_attribute",
        "clip_score": "cobalance.evaluation.metrics.captions",
        "meteor": "cobalance.evaluation.metrics.captions",
        "lic": "cobalance.evaluation.metrics.bias.lic",
        "max_skew": "cobalance.evaluation.metrics.bias.rankings",
        "ndkl": "cobalance.evaluation.metrics.bias.rankings",
        "bias_at_k": "cobalance.evaluation.metrics.bias.rankings",
        "self_similarity": "cobalance.evaluation.metrics.bias.markedness",
        "person_preference": "cobalance.evaluation.metrics.bias.markedness",
        "frechet": "cobalance.evaluation.metrics.images.distances",
        "kernel": "cobalance.evaluation.metrics.images.distances",
        "cmmd": "cobalance.evaluation.metrics.images.distances",
        "aesthetic": "cobalance.evaluation.metrics.realism.aesthetic",
        "image_reward": "cobalance.evaluation.metrics.realism.image_reward",
        "hps": "cobalance.evaluation.metrics.realism.hps",
        "caption_clusters": "cobalance.evaluation.metrics.images.clusters",
    },
    "metrics",
    "cobalance.evaluation.metrics.metric.MetricPlugin",
)

_INPUTS = "cobalance.evaluation.metrics.inputs"

TABLES: "Declarations[Table]" = Declarations(
    "table",
    {
        "predictions": _INPUTS,
        "edited": _INPUTS,
        "groups": _INPUTS,
        "training": _INPUTS,
        "attributes": _INPUTS,
        "real_attributes": _INPUTS,
        "captions": _INPUTS,
        "references": _INPUTS,
        "embeddings": _INPUTS,
        "real_embeddings": _INPUTS,
        "texts": _INPUTS,
        "table": _INPUTS,
        "detections": _INPUTS,
        "objects": _INPUTS,
    },
    "tables",
    f"{_INPUTS}.Table",
)
"""Tables that metrics take; one that a single metric takes may be declared in its module."""
