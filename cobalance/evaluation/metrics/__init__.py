"""Metrics of accuracy by group, bias and image quality, as pure functions without torch."""

from cobalance.evaluation.metrics.accuracy import (
    accuracy,
    balanced_accuracy,
    group_accuracy,
    out_of_distribution,
    worst_group,
)
from cobalance.evaluation.metrics.artefact_shift import artefact_shift
from cobalance.evaluation.metrics.attributes import attribute_counts, attribute_shift
from cobalance.evaluation.metrics.bias.amplification import (
    directional_amplification,
    mals_amplification,
)
from cobalance.evaluation.metrics.bias.label_leakage import label_leakage
from cobalance.evaluation.metrics.bias.leakage import leakage
from cobalance.evaluation.metrics.bias.lic import lic
from cobalance.evaluation.metrics.bias.markedness import person_preference, self_similarity
from cobalance.evaluation.metrics.bias.multi_attribute import multi_attribute_amplification
from cobalance.evaluation.metrics.bias.rankings import bias_at_k, max_skew, ndkl
from cobalance.evaluation.metrics.captions import clip_score, meteor
from cobalance.evaluation.metrics.comparison import compare_methods, compare_scores
from cobalance.evaluation.metrics.gaps import shortcut_gaps
from cobalance.evaluation.metrics.images.cam import cam_energy
from cobalance.evaluation.metrics.images.clusters import caption_clusters, cluster_captions
from cobalance.evaluation.metrics.images.distances import cmmd, frechet, kernel
from cobalance.evaluation.metrics.metric import Inputs, Metrics
from cobalance.evaluation.metrics.precision import mean_average_precision
from cobalance.evaluation.metrics.ratios import caption_predictions, ratio
from cobalance.evaluation.metrics.recall import opportunity_gap, retrieval_ranks, retrieval_recall

__all__ = [
    "METRICS",
    "Inputs",
    "accuracy",
    "artefact_shift",
    "attribute_counts",
    "attribute_shift",
    "balanced_accuracy",
    "bias_at_k",
    "cam_energy",
    "caption_clusters",
    "caption_predictions",
    "clip_score",
    "cluster_captions",
    "cmmd",
    "compare_methods",
    "compare_scores",
    "directional_amplification",
    "frechet",
    "group_accuracy",
    "kernel",
    "label_leakage",
    "leakage",
    "lic",
    "mals_amplification",
    "max_skew",
    "mean_average_precision",
    "meteor",
    "multi_attribute_amplification",
    "ndkl",
    "opportunity_gap",
    "out_of_distribution",
    "person_preference",
    "ratio",
    "retrieval_ranks",
    "retrieval_recall",
    "self_similarity",
    "shortcut_gaps",
    "worst_group",
]

METRICS = Metrics(
    "metric",
    {
        "accuracy": "cobalance.evaluation.metrics.accuracy",
        "group_accuracy": "cobalance.evaluation.metrics.accuracy",
        "balanced_accuracy": "cobalance.evaluation.metrics.accuracy",
        "out_of_distribution": "cobalance.evaluation.metrics.accuracy",
        "worst_group": "cobalance.evaluation.metrics.accuracy",
        "shortcut_gaps": "cobalance.evaluation.metrics.gaps",
        "mean_average_precision": "cobalance.evaluation.metrics.precision",
        "ratio": "cobalance.evaluation.metrics.ratios",
        "artefact_shift": "cobalance.evaluation.metrics.artefact_shift",
        "attribute_shift": "cobalance.evaluation.metrics.attributes",
        "retrieval_recall": "cobalance.evaluation.metrics.recall",
        "opportunity_gap": "cobalance.evaluation.metrics.recall",
        "leakage": "cobalance.evaluation.metrics.bias.of_predictions",
        "mals_amplification": "cobalance.evaluation.metrics.bias.of_predictions",
        "directional_amplification": "cobalance.evaluation.metrics.bias.of_predictions",
        "multi_attribute_amplification": "cobalance.evaluation.metrics.bias.of_predictions",
        "clip_score": "cobalance.evaluation.metrics.captions",
        "meteor": "cobalance.evaluation.metrics.captions",
        "lic": "cobalance.evaluation.metrics.bias.of_tables",
        "max_skew": "cobalance.evaluation.metrics.bias.of_tables",
        "ndkl": "cobalance.evaluation.metrics.bias.of_tables",
        "bias_at_k": "cobalance.evaluation.metrics.bias.of_tables",
        "self_similarity": "cobalance.evaluation.metrics.bias.of_tables",
        "person_preference": "cobalance.evaluation.metrics.bias.of_tables",
        "frechet": "cobalance.evaluation.metrics.images.distances",
        "kernel": "cobalance.evaluation.metrics.images.distances",
        "cmmd": "cobalance.evaluation.metrics.images.distances",
        "aesthetic": "cobalance.evaluation.metrics.realism.aesthetic",
        "image_reward": "cobalance.evaluation.metrics.realism.image_reward",
        "hps": "cobalance.evaluation.metrics.realism.hps",
        "caption_clusters": "cobalance.evaluation.metrics.images.clusters",
    },
)
