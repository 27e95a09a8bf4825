"""Human Preference Score v2: cosine of image and prompt, by a CLIP that was tuned on preferences.

Wu et al., "Human Preference Score v2" (2023), `tgxs002/HPSv2:hpsv2/img_score.py`; published as
``HPS_v2_compressed.pt`` and ``HPS_v2.1_compressed.pt``: CLIP ViT-H/14 in the layout of open_clip.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from evaluation.metrics.metric import Inputs, MetricPlugin
from evaluation.metrics.realism.options import mean_of, need, prompts_of
from generation.filters import FILTERS
from graph.errors import OptionError, needs_extra
from ingest.models.options import ModelOptions

if TYPE_CHECKING:
    from generation.filters.clip import ClipFilter

_PLAIN = {
    "logit_scale": "logit_scale",
    "positional_embedding": "text_model.embeddings.position_embedding.weight",
    "token_embedding.weight": "text_model.embeddings.token_embedding.weight",
    "visual.class_embedding": "vision_model.embeddings.class_embedding",
    "visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
    "visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
}
_TRANSPOSED = {
    "text_projection": "text_projection.weight",
    "visual.proj": "visual_projection.weight",
}
_NORMS = {
    "ln_final": "text_model.final_layer_norm",
    "visual.ln_pre": "vision_model.pre_layrnorm",
    "visual.ln_post": "vision_model.post_layernorm",
}
_PARTS = {
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
    "attn.out_proj": "self_attn.out_proj",
}
_BLOCK = re.compile(r"(visual\.)?transformer\.resblocks\.(\d+)\.(.+?)[._](weight|bias)")


class HpsOptions(ModelOptions):
    """Options of the Human Preference Score.

    Parameters
    ----------
    model : str
        A CLIP ViT-H/14 with its tokenizer: a folder, or laion/CLIP-ViT-H-14-laion2B-s32B-b79K of
        the hub; its weights are replaced.
    weights : str
        Path of the published weights, or of the same tensors as safetensors; empty where the model
        was saved with them.
    sha256 : str or None
        Their digest; without one only safetensors are read.
    """

    model: str = ""
    weights: str = ""
    sha256: str | None = None


def from_open_clip(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of open_clip's CLIP by their names in transformers; unknown ones as they are."""
    found: dict[str, Any] = {}
    for name, values in weights.items():
        stem, _, part = name.rpartition(".")
        block = _BLOCK.fullmatch(name)
        if name in _PLAIN:
            found[_PLAIN[name]] = values
        elif name in _TRANSPOSED:
            found[_TRANSPOSED[name]] = values.T
        elif stem in _NORMS:
            found[f"{_NORMS[stem]}.{part}"] = values
        elif block is not None:
            tower = "vision_model" if block[1] else "text_model"
            layer = f"{tower}.encoder.layers.{block[2]}"
            if block[3] == "attn.in_proj":
                for own, share in zip("qkv", values.chunk(3), strict=True):
                    found[f"{layer}.self_attn.{own}_proj.{block[4]}"] = share
            else:
                found[f"{layer}.{_PARTS.get(block[3], block[3])}.{block[4]}"] = values
        elif name != "attn_mask":
            found[name] = values
    return found


def compute(inputs: Inputs, options: Any) -> pd.DataFrame:
    """Mean Human Preference Score of images and their prompts.

    Raises
    ------
    OptionError
        The model is not named, or an image has no prompt.
    JobBlockedError
        Model or weights are missing, damaged or of other models.
    """
    images = inputs.images
    if images is None:
        raise OptionError("no images are given.")
    need("hps", options, "model")
    prompts = prompts_of(inputs, images)
    with needs_extra("The metric hps", "train"):
        from ingest.models.weights import fill, read_weights
    known = options.model_dump(exclude={"weights", "sha256"})
    clip = cast("ClipFilter", FILTERS.open("clip", {**known, "threshold": None}))
    if options.weights:
        weights = from_open_clip(read_weights(options.weights, options.sha256))
        fill(clip.vision.model, weights, options.weights)

    def score(pictures: Any, rows: slice) -> Any:
        with clip.vision.computing(f"preference scores of {len(pictures)} images"):
            return clip.cosines(pictures, prompts[rows])

    return mean_of("hps", images, options.batch_size, score)


PLUGINS = (
    MetricPlugin(
        "hps",
        "Human Preference Score v2 of images and prompts: a cosine, which benchmarks multiply by "
        "100.",
        "train",
        HpsOptions,
        takes=("images", "captions"),
        compute=compute,
        licence="Apache License 2.0; CLIP ViT-H/14 of LAION: MIT",
    ),
)
