"""Tiny pipelines of the families that few people use, each for what is peculiar about it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from diffusers import (
    ControlNetModel,
    DDPMScheduler,
    FlowMatchEulerDiscreteScheduler,
    FluxKontextPipeline,
    FluxPipeline,
    FluxTransformer2DModel,
    IFPipeline,
    SD3Transformer2DModel,
    StableDiffusion3Pipeline,
    StableDiffusionControlNetPipeline,
)
from transformers import CLIPTextModelWithProjection, T5Config, T5EncoderModel

from cobalance.vision.models.loading import quiet
from tests.tiny.diffusion import flux_fill, make_unet, make_vae, text_to_image
from tests.tiny.text import clip_text_config, clip_tokenizer


def _t5() -> dict[str, Any]:
    parts = flux_fill()
    return {"tokenizer": parts.tokenizer_2, "text_encoder": parts.text_encoder_2}


def _flux(kind: Any) -> Any:
    parts = dict(flux_fill().components)
    parts["transformer"] = FluxTransformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=(4, 4, 8),
    )
    return kind(**parts)


def flux() -> Any:
    """Takes a negative prompt, and ignores it."""
    return _flux(FluxPipeline)


def flux_kontext() -> Any:
    """Brings every size to an area of its own."""
    return _flux(FluxKontextPipeline)


def stable_3() -> Any:
    """Matches flows, and heeds a negative prompt."""
    tokenizer = clip_tokenizer()
    t5 = _t5()
    return StableDiffusion3Pipeline(
        transformer=SD3Transformer2DModel(
            sample_size=8,
            patch_size=1,
            in_channels=4,
            out_channels=4,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            joint_attention_dim=64,
            caption_projection_dim=32,
            pooled_projection_dim=64,
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=make_vae(use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06),
        text_encoder=CLIPTextModelWithProjection(clip_text_config(tokenizer, projection_dim=32)),
        tokenizer=tokenizer,
        text_encoder_2=CLIPTextModelWithProjection(clip_text_config(tokenizer, projection_dim=32)),
        tokenizer_2=tokenizer,
        text_encoder_3=T5EncoderModel(
            T5Config(vocab_size=29, d_model=64, d_kv=8, d_ff=37, num_layers=2, num_heads=4)
        ),
        tokenizer_3=t5["tokenizer"],
    )


def controlled() -> Any:
    """Needs a picture that guides it."""
    parts = dict(text_to_image().components)
    control = ControlNetModel.from_unet(parts["unet"], conditioning_embedding_out_channels=(4, 8))
    return StableDiffusionControlNetPipeline(
        **parts, controlnet=control, requires_safety_checker=False
    )


def deepfloyd() -> Any:
    """Paints small pictures, without latents."""
    return IFPipeline(
        **_t5(),
        unet=make_unet(3, out_channels=6),
        scheduler=DDPMScheduler(variance_type="learned_range"),
        safety_checker=None,
        feature_extractor=None,
        watermarker=None,
        requires_safety_checker=False,
    )


OTHER_PIPELINES: dict[str, Callable[[], Any]] = {
    "flux": flux,
    "flux-kontext": flux_kontext,
    "sd3": stable_3,
    "controlnet": controlled,
    "deepfloyd": deepfloyd,
}


def save_other_pipeline(name: str, folder: Path) -> Path:
    """Save one of `OTHER_PIPELINES` below a folder, the same weights each time."""
    torch.manual_seed(sorted(OTHER_PIPELINES).index(name))
    with quiet():
        OTHER_PIPELINES[name]().save_pretrained(folder / name, safe_serialization=True)
    return folder / name
