"""Aesthetic score: predicted rating of an image from 1 to 10, by a head on CLIP's embedding.

The improved aesthetic predictor of LAION (`christophschuhmann/improved-aesthetic-predictor`),
published as ``sac+logos+ava1-l14-linearMSE.pth``.
"""

from typing import Any

import pandas as pd

from cobalance.base import JobBlockedError, torch
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.realism.options import WeightOptions, linear_head, mean_of, need
from cobalance.vision import ModelOptions, load_clip, read_weights


class AestheticOptions(WeightOptions, ModelOptions):
    """Options of the aesthetic score.

    Parameters
    ----------
    model : str
        The CLIP ViT-L/14 below the head: a folder, or openai/clip-vit-large-patch14 of the hub.
    weights : str
        Path of the head's published weights, or of the same tensors as safetensors.
    """

    model: str = ""


def compute(inputs: Inputs, options: Any) -> pd.DataFrame:
    """Mean aesthetic score of images.

    Raises
    ------
    OptionError
        Model or weights are not named.
    JobBlockedError
        They are missing, damaged or of other models.
    """
    need("aesthetic", options, "model", "weights")
    head = linear_head(read_weights(options.weights, options.sha256), options.weights)
    vision = load_clip(options, "main")
    width = vision.model.config.projection_dim
    if head[0].in_features != width:
        raise JobBlockedError(
            f"The head {options.weights} reads {head[0].in_features} features, and the model "
            f"{options.model} gives {width}. Give the CLIP that it was trained on."
        )
    head = head.to(vision.device)

    def score(pictures: Any, rows: slice) -> Any:
        del rows
        with vision.computing(f"aesthetic scores of {len(pictures)} images"):
            features = vision.model.get_image_features(pixel_values=vision.pixels(pictures))
            units = torch.nn.functional.normalize(features.pooler_output.float())
            return head(units)[:, 0].double().cpu().numpy()

    return mean_of("aesthetic", inputs, options.batch_size, score)


PLUGIN = MetricPlugin(
    "aesthetic",
    "Aesthetic score from 1 to 10, by LAION's improved predictor on CLIP ViT-L/14.",
    "train",
    AestheticOptions,
    takes=("images",),
    compute=compute,
    licence="Apache License 2.0; CLIP: none named on the hub, its code is under MIT",
)
