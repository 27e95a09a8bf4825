"""Tiny BrushNets with random weights, saved as the published ones are."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from cobalance.generation.backends.brushnet_model.model import BrushNetModel
from cobalance.vision.models.loading import quiet

PUBLISHED: dict[str, Any] = {
    "_class_name": "BrushNetModel",
    "_diffusers_version": "0.27.0.dev0",
    "act_fn": "silu",
    "addition_embed_type": None,
    "addition_embed_type_num_heads": 64,
    "addition_time_embed_dim": None,
    "attention_head_dim": 8,
    "block_out_channels": [320, 640, 1280, 1280],
    "brushnet_conditioning_channel_order": "rgb",
    "class_embed_type": None,
    "conditioning_channels": 5,
    "conditioning_embedding_out_channels": [16, 32, 96, 256],
    "cross_attention_dim": 768,
    "down_block_types": ["DownBlock2D"] * 4,
    "downsample_padding": 1,
    "encoder_hid_dim": None,
    "encoder_hid_dim_type": None,
    "flip_sin_to_cos": True,
    "freq_shift": 0,
    "global_pool_conditions": False,
    "in_channels": 4,
    "layers_per_block": 2,
    "mid_block_scale_factor": 1,
    "mid_block_type": "MidBlock2D",
    "norm_eps": 1e-05,
    "norm_num_groups": 32,
    "num_attention_heads": None,
    "num_class_embeds": None,
    "only_cross_attention": False,
    "projection_class_embeddings_input_dim": None,
    "resnet_time_scale_shift": "default",
    "transformer_layers_per_block": 1,
    "up_block_types": ["UpBlock2D"] * 4,
    "upcast_attention": False,
    "use_linear_projection": False,
}
"""Settings of the published checkpoint for random masks and Stable Diffusion 1.5."""

TINY: dict[str, Any] = {
    **PUBLISHED,
    "block_out_channels": [4, 8],
    "cross_attention_dim": 32,
    "down_block_types": ["DownBlock2D"] * 2,
    "layers_per_block": 1,
    "norm_num_groups": 2,
    "up_block_types": ["UpBlock2D"] * 2,
}
"""The same for the U-Net of `tests.tiny.diffusion.make_unet`."""


def make_brushnet(settings: dict[str, Any] = TINY, *, zeros: bool = False) -> BrushNetModel:
    """A BrushNet with the same random weights each time, its zero convolutions included.

    With `zeros` these are zero, as before training.
    """
    torch.manual_seed(11)
    with quiet():  # most settings are of no use
        brushnet = BrushNetModel.from_config(settings)
    if not zeros:
        for name, values in brushnet.named_parameters():
            if name.startswith("brushnet_"):
                torch.nn.init.normal_(values, std=0.3)
    return brushnet.eval()


def save_brushnet(folder: Path, settings: dict[str, Any] = TINY, *, zeros: bool = False) -> Path:
    """Save a BrushNet: ``config.json`` and the weights."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(settings), "utf-8")
    weights = make_brushnet(settings, zeros=zeros).state_dict()
    save_file(weights, folder / "diffusion_pytorch_model.safetensors", {"format": "pt"})
    return folder
