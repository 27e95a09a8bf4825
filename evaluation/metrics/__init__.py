"""Metrics of accuracy by group, bias and image quality, as pure functions without torch."""

from evaluation.metrics.accuracy import (
    accuracy,
    balanced_accuracy,
    group_accuracy,
    out_of_distribution,
    worst_group,
)
from evaluation.metrics.artefact_shift import artefact_shift
from evaluation.metrics.attacks.label_leakage import label_leakage
from evaluation.metrics.attacks.leakage import leakage
from evaluation.metrics.attacks.lic import lic
from evaluation.metrics.attributes import attribute_counts, attribute_shift
from evaluation.metrics.bias.amplification import directional_amplification, mals_amplification
from evaluation.metrics.bias.markedness import person_preference, self_similarity
from evaluation.metrics.bias.multi_attribute import multi_attribute_amplification
from evaluation.metrics.bias.rankings import bias_at_k, max_skew, ndkl
from evaluation.metrics.captions import clip_score, meteor
from evaluation.metrics.comparison import compare_methods, compare_scores
from evaluation.metrics.gaps import shortcut_gaps
from evaluation.metrics.images.cam import cam_energy
from evaluation.metrics.images.clusters import caption_clusters, cluster_captions
from evaluation.metrics.images.distances import cmmd, frechet, kernel
from evaluation.metrics.metric import Inputs, Metrics
from evaluation.metrics.precision import mean_average_precision
from evaluation.metrics.ratios import caption_predictions, ratio
from evaluation.metrics.recall import opportunity_gap, retrieval_ranks, retrieval_recall

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
        "accuracy": "evaluation.metrics.accuracy",
        "group_accuracy": "evaluation.metrics.accuracy",
        "balanced_accuracy": "evaluation.metrics.accuracy",
        "out_of_distribution": "evaluation.metrics.accuracy",
        "worst_group": "evaluation.metrics.accuracy",
        "shortcut_gaps": "evaluation.metrics.gaps",
        "mean_average_precision": "evaluation.metrics.precision",
        "ratio": "evaluation.metrics.ratios",
        "artefact_shift": "evaluation.metrics.artefact_shift",
        "attribute_shift": "evaluation.metrics.attributes",
        "retrieval_recall": "evaluation.metrics.recall",
        "opportunity_gap": "evaluation.metrics.recall",
        "leakage": "evaluation.metrics.bias.of_predictions",
        "mals_amplification": "evaluation.metrics.bias.of_predictions",
        "directional_amplification": "evaluation.metrics.bias.of_predictions",
        "multi_attribute_amplification": "evaluation.metrics.bias.of_predictions",
        "clip_score": "evaluation.metrics.captions",
        "meteor": "evaluation.metrics.captions",
        "lic": "evaluation.metrics.bias.of_tables",
        "max_skew": "evaluation.metrics.bias.of_tables",
        "ndkl": "evaluation.metrics.bias.of_tables",
        "bias_at_k": "evaluation.metrics.bias.of_tables",
        "self_similarity": "evaluation.metrics.bias.of_tables",
        "person_preference": "evaluation.metrics.bias.of_tables",
        "frechet": "evaluation.metrics.images.distances",
        "kernel": "evaluation.metrics.images.distances",
        "cmmd": "evaluation.metrics.images.distances",
        "aesthetic": "evaluation.metrics.realism.aesthetic",
        "image_reward": "evaluation.metrics.realism.image_reward",
        "hps": "evaluation.metrics.realism.hps",
        "caption_clusters": "evaluation.metrics.images.clusters",
    },
)
