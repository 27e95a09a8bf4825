"""Training methods, by name."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.evaluation.training.method import Method, MethodPlugin, OwnModel

_NETWORK_ONLY = "cobalance.evaluation.training.methods.network_only"

METHODS: "Plugins[Method | OwnModel, MethodPlugin]" = Plugins(
    "method",
    {
        "erm": "cobalance.evaluation.training.methods.erm",
        "over-sampling": "cobalance.evaluation.training.methods.balancing",
        "sub-sampling": "cobalance.evaluation.training.methods.balancing",
        "upweight": "cobalance.evaluation.training.methods.balancing",
        "class-balanced": "cobalance.evaluation.training.methods.class_balanced",
        "group-dro": "cobalance.evaluation.training.methods.group_dro",
        "dfr": "cobalance.evaluation.training.methods.dfr",
        "jtt": "cobalance.evaluation.training.methods.jtt",
        "clip": "cobalance.evaluation.training.methods.fine_tuning",
        "captioner": "cobalance.evaluation.training.methods.fine_tuning",
        "clipcap": "cobalance.evaluation.training.methods.fine_tuning",
        "focal": f"{_NETWORK_ONLY}.focal",
        "domain-independent": f"{_NETWORK_ONLY}.domains",
        "domain-discriminative": f"{_NETWORK_ONLY}.domains",
        "adversarial": f"{_NETWORK_ONLY}.adversarial",
        "rand-augment": f"{_NETWORK_ONLY}.augmentation",
        "cutmix": f"{_NETWORK_ONLY}.augmentation",
    },
    "methods",
    "cobalance.evaluation.training.method.MethodPlugin",
    "prepare(training)|(training, validation, run)",
)
"""Training methods; each declares its options and whether it reads group labels."""
