"""Human Preference Score v2: cosine of image and prompt, by a CLIP that was tuned on preferences.

Wu et al., "Human Preference Score v2" (2023), `tgxs002/HPSv2:hpsv2/img_score.py`; published as
``HPS_v2_compressed.pt`` and ``HPS_v2.1_compressed.pt``: CLIP ViT-H/14 in the layout of open_clip.
"""

from typing import Any

import pandas as pd

from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.realism.options import WeightOptions, mean_of, need, prompts_of
from cobalance.vision import ModelOptions, fill, from_open_clip, load_image_text_clip, read_weights


class HpsOptions(WeightOptions, ModelOptions):
    """Options of the Human Preference Score.

    Parameters
    ----------
    model : str
        A CLIP ViT-H/14 with its tokenizer: a folder, or laion/CLIP-ViT-H-14-laion2B-s32B-b79K of
        the hub; its weights are replaced.
    weights : str
        Path of the published weights, or of the same tensors as safetensors; empty where the model
        was saved with them.
    """

    model: str = ""


def compute(inputs: Inputs, options: Any) -> pd.DataFrame:
    """Mean Human Preference Score of images and their prompts.

    Raises
    ------
    OptionError
        The model is not named, or an image has no prompt.
    JobBlockedError
        Model or weights are missing, damaged or of other models.
    """
    need("hps", options, "model")
    prompts = prompts_of(inputs)
    clip = load_image_text_clip(options)
    if options.weights:
        weights = from_open_clip(read_weights(options.weights, options.sha256))
        fill(clip.vision.model, weights, options.weights)

    def score(pictures: Any, rows: slice) -> Any:
        with clip.vision.computing(f"preference scores of {len(pictures)} images"):
            return clip.cosines(pictures, prompts[rows])

    return mean_of("hps", inputs, options.batch_size, score)


PLUGIN = MetricPlugin(
    "hps",
    "Human Preference Score v2 of images and prompts: a cosine, which benchmarks multiply by 100.",
    "train",
    HpsOptions,
    takes=("images", "captions"),
    compute=compute,
    licence="Apache License 2.0; CLIP ViT-H/14 of LAION: MIT",
)
