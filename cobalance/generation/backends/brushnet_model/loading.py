"""Check BrushNet and a base model for it: refuse two that do not fit together."""

from collections.abc import Mapping
from typing import Any

import diffusers

from cobalance.base import JobBlockedError
from cobalance.generation.backends.brushnet_model.pipeline import DOWN_BLOCKS, MID_BLOCKS, UP_BLOCKS
from cobalance.generation.backends.pipelines.kinds import check_pipeline, wrong_kind
from cobalance.vision import MODEL_FILE, Checkpoint, describe_error, quiet

SCHEDULER_FILE = "scheduler/scheduler_config.json"

_REQUIRED: Mapping[str, tuple[object, str]] = {
    "mid_block_type": ("MidBlock2D", "its middle block is"),
    "brushnet_conditioning_channel_order": ("rgb", "its images have their colours in the order"),
    "resnet_time_scale_shift": ("default", "resnet_time_scale_shift is"),
    "global_pool_conditions": (False, "global_pool_conditions is"),
    "class_embed_type": (None, "class_embed_type is"),
    "addition_embed_type": (None, "addition_embed_type is"),
    "encoder_hid_dim_type": (None, "encoder_hid_dim_type is"),
}
"""What the published checkpoints for Stable Diffusion 1.5 say; others have parts more, or fewer."""


def check_base(base: Checkpoint, wanted: str) -> None:
    """Raise JobBlockedError for a base whose U-Net is not of Stable Diffusion 1's kind and task."""
    unet = base.read_config("unet/config.json")
    blocks = (
        (unet.get("down_block_types"), DOWN_BLOCKS),
        ([unet.get("mid_block_type", "UNetMidBlock2DCrossAttn")], MID_BLOCKS),
        (unet.get("up_block_types"), UP_BLOCKS),
    )

    problem = ""
    if not unet:
        problem = "it has no U-Net"
    elif unet.get("addition_embed_type") is not None:
        problem = "its U-Net takes more than a text, as that of Stable Diffusion XL does"
    elif not all(known.issuperset(types or ()) for types, known in blocks):
        problem = "its U-Net is built of other blocks than Stable Diffusion's"

    if problem:
        raise wrong_kind(base, problem, wanted)
    check_pipeline(base, 1, 0, wanted)


def check_brushnet(brushnet: Checkpoint, base: Checkpoint, wanted: str) -> None:
    """Raise JobBlockedError for no BrushNet, one with blocks of text, or one of another base."""
    config = brushnet.read_config(MODEL_FILE)
    problem = _problem_of(config) or _mismatch(config, base)
    if problem:
        raise wrong_kind(brushnet, problem, wanted)


def _problem_of(config: Mapping[str, Any]) -> str:
    """Describe why a model is no BrushNet that is known here; empty if it is."""
    kind = config.get("_class_name")
    if kind != "BrushNetModel":
        return f"it is a {kind}, not a BrushNetModel" if kind else "it is no BrushNetModel"

    for direction in ("down", "up"):
        types = set(map(str, config.get(f"{direction}_block_types", [])))
        unknown = sorted(types - {f"{direction.title()}Block2D"})
        if unknown:
            return f"it has blocks of the type {unknown[0]}, which BrushNet has not"
    for name, (expected, words) in _REQUIRED.items():
        if config.get(name, expected) != expected:
            return f"{words} {config[name]!r}, not {expected!r}"
    return ""


def _mismatch(config: Mapping[str, Any], base: Checkpoint) -> str:
    """Describe how a BrushNet does not fit a base; empty if it fits."""
    unet = base.read_config("unet/config.json")
    latents = int(base.read_config("vae/config.json").get("latent_channels", 4))

    # Where a file does not say, diffusers' defaults hold.
    widths, layers = [320, 640, 1280, 1280], 2
    for name, default, needed, unit in (
        ("in_channels", 4, latents, "channels of latents"),
        ("conditioning_channels", 5, latents + 1, "channels for the image and its mask"),
        ("block_out_channels", widths, unet.get("block_out_channels", widths), "channels"),
        ("layers_per_block", layers, unet.get("layers_per_block", layers), "layers a block"),
    ):
        value = config.get(name, default)
        if value != needed:
            return f"it has {_in_words(value)} {unit}, where {base.name} needs {_in_words(needed)}"

    text, base_text = config.get("cross_attention_dim"), unet.get("cross_attention_dim")
    if text is not None and base_text is not None and text != base_text:
        return (
            f"it was trained beside a U-Net with texts of {text} numbers a word, and that of "
            f"{base.name} has {base_text}"
        )
    return ""


def _in_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def make_scheduler(base: Checkpoint) -> Any:
    """UniPC with the base's noise levels, as the authors have it; JobBlockedError if unfit."""
    config = base.read_config(SCHEDULER_FILE)
    if not config:
        raise JobBlockedError(
            f"The model {base.name} is incomplete: it has no {SCHEDULER_FILE}. Copy or download it "
            "again."
        )

    try:
        with quiet():
            kind: Any = diffusers.UniPCMultistepScheduler
            return kind.from_config(config)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise JobBlockedError(
            f"The model {base.name}: UniPC cannot use {SCHEDULER_FILE} ({describe_error(error)}). "
            "Give another base."
        ) from error
