"""Training settings of the papers, and of a laptop, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cobalance.base import Declaration, Registry


@dataclass(frozen=True)
class Preset(Declaration):
    """Settings of a training run that a method does not have.

    Parameters
    ----------
    learner : str
        A name in `cobalance.evaluation.training.learners.LEARNERS`.
    learner_options : mapping
        What differs from the learner's defaults.
    method_options : mapping of str to mapping
        What differs from the defaults of methods, by method.
    validation_share : float
        Of the training images, held out to select by; 0 for none.
    seeds : int
        How many runs.
    labels : {"class", "concepts"}
        What is predicted: the class, or which concepts an image shows.
    reference : str
        The paper, with its section.
    """

    learner: str = "linear"
    learner_options: Mapping[str, Any] = field(default_factory=dict)
    method_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    validation_share: float = 0.0
    seeds: int = 3
    labels: str = "class"
    reference: str = ""


PRESETS: Registry[Preset] = Registry("preset")
"""Presets by name."""

for _preset in (
    Preset("small", "A linear model on frozen features: minutes on two cores, without torch."),
    Preset(
        "small-network",
        "A small network from random weights: minutes on two cores, nothing downloaded.",
        learner="network",
        learner_options={
            "model": "test_resnet",
            "pretrained": False,
            "image_px": 64,
            "epochs": 20,
            "batch_size": 32,
            "learning_rate": 3e-3,
        },
        validation_share=0.2,
    ),
    Preset(
        "conbias",
        "ResNet-50 from ImageNet, selected by the validation loss.",
        learner="network",
        learner_options={
            "optimiser": "adam",
            "learning_rate": 1e-3,
            "weight_decay": 1e-5,
            "schedule": "cosine",
            "epochs": 100,
            "select": "loss",
        },
        validation_share=0.2,
        reference="ConBias, section 4. Its validation images are its own; without such, 20% of the "
        "training images are held out here.",
    ),
    Preset(
        "resampled",
        "ResNet-50 from ImageNet with several labels an image, stopped early.",
        learner="network",
        learner_options={
            "optimiser": "adam",
            "learning_rate": 1e-5,
            "batch_size": 32,
            "weight_decay": 0.0,
            "schedule": "constant",
            "patience": 5,
            "select": "loss",
        },
        validation_share=0.2,
        seeds=5,
        labels="concepts",
        reference="Resampled Datasets Are Not Enough, appendix B, which leaves the patience of "
        "early stopping open.",
    ),
    Preset(
        "whac-a-mole",
        "ResNet-50 from ImageNet, selected by the worst group of the validation images.",
        learner="network",
        learner_options={
            "flip": True,
            "optimiser": "sgd",
            "learning_rate": 1e-3,
            "weight_decay": 1e-4,
            "schedule": "constant",
            "epochs": 300,
            "select": "worst-group",
        },
        validation_share=0.2,
        reference="A Whac-A-Mole Dilemma, and its authors' code. Its validation images are its "
        "own; without such, 20% of the training images are held out here.",
    ),
    Preset(
        "pinpoint",
        "The method clip with OpenCLIP's ViT-B/16; other methods as small.",
        method_options={
            "clip": {
                "model": "laion/CLIP-ViT-B-16-laion2B-s34B-b88K",
                "revision": "7288da5a0d6f0b51c4a2b27c624837a9236d0112",
                "layout": "open_clip",
                "weights_file": "open_clip_model.safetensors",
            }
        },
        reference="Pinpoint Counterfactuals, section 4.4. The weights are under the MIT licence.",
    ),
    Preset(
        "gpu",
        "As conbias, in bfloat16 on a GPU.",
        learner="network",
        learner_options={"dtype": "auto"},
        validation_share=0.2,
    ),
):
    PRESETS.register(_preset.name, _preset)
