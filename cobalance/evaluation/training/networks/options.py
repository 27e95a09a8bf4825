"""Options of the network learner."""

from typing import Literal

from pydantic import Field, field_validator

from cobalance.vision import ModelOptions

RESNET50 = "timm/resnet50.tv_in1k"
"""Torchvision's first ResNet-50, as in the papers; its licence is BSD 3-Clause."""

Rule = Literal[
    "last",
    "loss",
    "accuracy",
    "balanced",
    "worst-group",
    "group-balanced",
    "mean-average-precision",
]
"""What selects the epoch; see `cobalance.evaluation.training.selection`."""


class TrainingOptions(ModelOptions):
    """Options of models that are trained, whose precision has no float16."""

    @field_validator("dtype")
    @classmethod
    def _check_dtype(cls, dtype: str) -> str:
        if dtype == "float16":
            raise ValueError("gradients underflow in float16; use bfloat16, which needs no scaling")
        return dtype


class NetworkOptions(TrainingOptions):
    """Options of the learner network.

    Parameters
    ----------
    model : str
        A folder or repository of the hub with a model of timm; without pretrained weights the name
        of an architecture of timm.
    pretrained : bool
        Start from the model's weights, or else from random ones.
    image_px : int or None
        Side of the square that images are resized to; None for the model's own.
    crop : float
        Least share of an image's area that a random crop has; 1 for whole images.
    flip : bool
        Flip half of the images from left to right.
    epochs : int
        Passes over the training images.
    batch_size : int
        Images a step.
    optimiser : {"adam", "adamw", "sgd"}
        Adam with its usual moments, or SGD with momentum 0.9.
    learning_rate, weight_decay : float
        Of the optimiser.
    schedule : {"constant", "cosine"}
        Of the learning rate, an epoch at a time; cosine falls to 0 after the last.
    select : str
        The rule that selects the epoch by validation images; ``last`` needs none.
    patience : int or None
        Stop after so many epochs without a better one; None to train all.
    dtype : {"float32", "bfloat16", "auto"}
        Precision of the computations, weights are always single; auto is bfloat16 on a GPU that
        has it.
    """

    model: str = RESNET50
    pretrained: bool = True
    image_px: int | None = Field(default=None, ge=8, le=4096)
    crop: float = Field(default=1.0, gt=0, le=1)
    flip: bool = False
    epochs: int = Field(default=100, ge=1, le=100_000)
    batch_size: int = Field(default=128, ge=1, le=1024)
    optimiser: Literal["adam", "adamw", "sgd"] = "adam"
    learning_rate: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    weight_decay: float = Field(default=1e-5, ge=0, allow_inf_nan=False)
    schedule: Literal["constant", "cosine"] = "cosine"
    select: Rule = "loss"
    patience: int | None = Field(default=None, ge=1)
