"""Training methods, by name."""

from evaluation.training.method import Method
from graph.plugins import Plugins

METHODS: Plugins[Method] = Plugins(
    "method",
    {
        "erm": "evaluation.training.methods.erm",
        "over-sampling": "evaluation.training.methods.over_sampling",
        "sub-sampling": "evaluation.training.methods.sub_sampling",
        "upweight": "evaluation.training.methods.upweight",
        "class-balanced": "evaluation.training.methods.class_balanced",
        "group-dro": "evaluation.training.methods.group_dro",
        "dfr": "evaluation.training.methods.dfr",
        "jtt": "evaluation.training.methods.jtt",
        "clip": "evaluation.training.methods.clip",
        "captioner": "evaluation.training.methods.captioner",
        "clipcap": "evaluation.training.methods.clipcap",
        "focal": "evaluation.training.methods.network_only.focal",
        "domain-independent": "evaluation.training.methods.network_only.domain_independent",
        "domain-discriminative": "evaluation.training.methods.network_only.domain_discriminative",
        "adversarial": "evaluation.training.methods.network_only.adversarial",
        "rand-augment": "evaluation.training.methods.network_only.rand_augment",
        "cutmix": "evaluation.training.methods.network_only.cutmix",
    },
)
"""Training methods; each declares its options and whether it reads group labels."""
