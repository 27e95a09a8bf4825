"""ImageReward: how people would rank an image for its prompt, by BLIP with a head.

Xu et al., "ImageReward" (NeurIPS 2023), `THUDM/ImageReward:ImageReward/ImageReward.py`, published
as ``ImageReward.pt``: the vision tower has the names of timm's, the text encoder looks at it in
every layer, and a head reads its first token.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base import Image, JobBlockedError, torch, transformers
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.realism.options import (
    WeightOptions,
    linear_head,
    mean_of,
    need,
    prompts_of,
)
from cobalance.vision import (
    check_tokenizer,
    choose_device,
    fill,
    out_of_memory,
    read_weights,
    with_prefix,
)

_MEAN, _SD = 0.16717362830052426, 1.0333394966054072  # of rewards in the authors' data
_TOKENS = 35
_HEAD_WIDTH = 64  # of an attention head, in both towers
_VISION, _TEXT, _HEAD = "blip.visual_encoder.", "blip.text_encoder.", "mlp."
_IN_VISION = {
    "cls_token": "embeddings.class_embedding",
    "pos_embed": "embeddings.position_embedding",
    "patch_embed.proj": "embeddings.patch_embedding",
    "norm": "post_layernorm",
}
_IN_BLOCKS = {
    "norm1": "layer_norm1",
    "norm2": "layer_norm2",
    "attn.qkv": "self_attn.qkv",
    "attn.proj": "self_attn.projection",
}


class ImageRewardOptions(WeightOptions):
    """Options of ImageReward.

    Parameters
    ----------
    vocabulary : str
        Path of ``vocab.txt`` of bert-base-uncased, a word a line.
    """

    vocabulary: str = ""


def vision_names(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of the vision tower by their names in transformers."""
    renamed = {}
    for name, values in weights.items():
        stem, _, part = name.rpartition(".")
        block = re.fullmatch(r"blocks\.(\d+)\.(.+)", stem)
        if name in _IN_VISION:
            renamed[_IN_VISION[name]] = values
        elif block is None:
            renamed[f"{_IN_VISION.get(stem, stem)}.{part}"] = values
        else:
            layer = _IN_BLOCKS.get(block[2], block[2])
            renamed[f"encoder.layers.{block[1]}.{layer}.{part}"] = values
    return renamed


def open_towers(weights: Mapping[str, Any], path: str) -> tuple[Any, Any]:
    """Vision tower and text encoder, of the sizes that the weights have.

    Raises
    ------
    JobBlockedError
        They are of another model.
    """
    vision_weights = vision_names(with_prefix(_VISION, weights))
    text_weights = with_prefix(_TEXT, weights)
    # Older files hold the numbers of positions, which are no weights.
    text_weights.pop("embeddings.position_ids", None)
    try:
        patches = vision_weights["embeddings.patch_embedding.weight"]
        n_positions = vision_weights["embeddings.position_embedding"].shape[1]
        vision_width = vision_weights["encoder.layers.0.mlp.fc1.weight"].shape[0]
        words = text_weights["embeddings.word_embeddings.weight"]
        text_positions = text_weights["embeddings.position_embeddings.weight"]
        text_width = text_weights["encoder.layer.0.intermediate.dense.weight"].shape[0]
    except KeyError as error:
        raise JobBlockedError(
            f"The weights {path} are not those of ImageReward: {error.args[0]} is missing. Give "
            "ImageReward.pt, or its tensors as safetensors."
        ) from error

    vision = transformers.BlipVisionConfig(
        hidden_size=patches.shape[0],
        intermediate_size=vision_width,
        num_hidden_layers=_layers(vision_weights, r"encoder\.layers\.(\d+)\."),
        num_attention_heads=max(patches.shape[0] // _HEAD_WIDTH, 1),
        image_size=round((n_positions - 1) ** 0.5) * patches.shape[-1],
        patch_size=patches.shape[-1],
        layer_norm_eps=1e-6,
    )
    text = transformers.BlipTextConfig(
        vocab_size=words.shape[0],
        hidden_size=words.shape[1],
        encoder_hidden_size=patches.shape[0],
        intermediate_size=text_width,
        num_hidden_layers=_layers(text_weights, r"encoder\.layer\.(\d+)\."),
        num_attention_heads=max(words.shape[1] // _HEAD_WIDTH, 1),
        max_position_embeddings=text_positions.shape[0],
        layer_norm_eps=1e-12,
    )
    encoder = transformers.BlipTextModel(text, add_pooling_layer=False)
    tower = transformers.BlipVisionModel(vision)
    return fill(tower, vision_weights, path), fill(encoder, text_weights, path)


def compute(inputs: Inputs, options: Any) -> pd.DataFrame:
    """Mean ImageReward of images and their prompts.

    Raises
    ------
    OptionError
        Weights or vocabulary are not named, or an image has no prompt.
    JobBlockedError
        They are missing, damaged or of another model.
    """
    need("image_reward", options, "weights", "vocabulary")
    prompts = prompts_of(inputs)
    tokenizer = _tokenizer(options.vocabulary)
    weights = read_weights(options.weights, options.sha256)
    device = choose_device(options.device)
    head = linear_head(with_prefix(_HEAD, weights), options.weights).to(device)
    vision, text = (tower.to(device) for tower in open_towers(weights, options.weights))

    side = vision.config.image_size
    square = {"height": side, "width": side}
    processor = transformers.CLIPImageProcessorPil(size={"shortest_edge": side}, crop_size=square)

    def score(pictures: Any, rows: slice) -> Any:
        tokens = tokenizer(
            prompts[rows], padding=True, truncation=True, max_length=_TOKENS, return_tensors="pt"
        ).to(device)
        opened = list(map(Image.fromarray, pictures))
        pixels = processor(images=opened, return_tensors="pt")["pixel_values"].to(device)

        with out_of_memory(f"rewards of {len(opened)} images"), torch.inference_mode():
            states = text(
                input_ids=tokens["input_ids"],
                attention_mask=tokens["attention_mask"],
                encoder_hidden_states=vision(pixel_values=pixels).last_hidden_state,
            ).last_hidden_state
            rewards = (head(states[:, 0])[:, 0] - _MEAN) / _SD
            return rewards.double().cpu().numpy()

    return mean_of("image_reward", inputs, options.batch_size, score)


def _tokenizer(path: str) -> Any:
    try:
        words = Path(path).expanduser().read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise JobBlockedError(
            f"The vocabulary {path} cannot be read. Give vocab.txt of bert-base-uncased."
        ) from error

    vocabulary = dict(zip(words, range(len(words)), strict=True))
    tokenizer = transformers.BertTokenizer(vocab=vocabulary)
    check_tokenizer(path, "vocabulary", tokenizer, len(words))
    return tokenizer


def _layers(weights: Mapping[str, Any], pattern: str) -> int:
    matches = filter(None, (re.match(pattern, name) for name in weights))
    return len({match[1] for match in matches})


PLUGIN = MetricPlugin(
    "image_reward",
    "ImageReward of images and prompts, in standard deviations of the authors' data.",
    "train",
    ImageRewardOptions,
    takes=("images", "captions"),
    compute=compute,
    licence="Apache License 2.0",
)
