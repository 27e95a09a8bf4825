"""Pipelines of diffusers with tiny random weights, saved as the real ones are.

They paint noise, but through all the code that the real ones run through. Each is some 200 KB.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    EulerAncestralDiscreteScheduler,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
    FluxFillPipeline,
    FluxTransformer2DModel,
    PNDMScheduler,
    StableDiffusionInpaintPipeline,
    StableDiffusionInstructPix2PixPipeline,
    StableDiffusionPipeline,
    StableDiffusionXLInpaintPipeline,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from transformers import (
    CLIPTextModel,
    CLIPTextModelWithProjection,
    PreTrainedTokenizerFast,
    T5Config,
    T5EncoderModel,
)

from cobalance.vision.models.loading import quiet
from tests.tiny.text import clip_text_config, clip_tokenizer

NATIVE_PX = 64
"""Side of the squares that the U-Nets say they were trained on."""
_NOISE = {
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "num_train_timesteps": 1000,
}


def make_unet(in_channels: int, **options: Any) -> UNet2DConditionModel:
    defaults: dict[str, Any] = {
        "cross_attention_dim": 32,
        "attention_head_dim": 2,
        "out_channels": 4,
        "layers_per_block": 1,
    }
    return UNet2DConditionModel(
        block_out_channels=(4, 8),
        sample_size=NATIVE_PX // 8,
        in_channels=in_channels,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=2,
        **{**defaults, **options},
    )


def make_vae(latent_channels: int = 4, **options: Any) -> AutoencoderKL:
    """Four blocks, so that it shrinks images by 8 as the real ones do."""
    return AutoencoderKL(
        block_out_channels=[4, 4, 8, 8],
        latent_channels=latent_channels,
        down_block_types=["DownEncoderBlock2D"] * 4,
        up_block_types=["UpDecoderBlock2D"] * 4,
        norm_num_groups=2,
        sample_size=NATIVE_PX,
        **options,
    )


def _stable(kind: Any, in_channels: int, scheduler: Any) -> Any:
    tokenizer = clip_tokenizer()
    return kind(
        vae=make_vae(),
        text_encoder=CLIPTextModel(clip_text_config(tokenizer)),
        tokenizer=tokenizer,
        unet=make_unet(in_channels),
        scheduler=scheduler,
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def text_to_image() -> Any:
    """As Stable Diffusion 1.5."""
    scheduler = PNDMScheduler(skip_prk_steps=True, steps_offset=1, **_NOISE)
    return _stable(StableDiffusionPipeline, 4, scheduler)


def inpainting() -> Any:
    """As Stable Diffusion 1.5 for inpainting: latents, mask, latents of what is kept."""
    scheduler = DDIMScheduler(clip_sample=False, set_alpha_to_one=False, steps_offset=1, **_NOISE)
    return _stable(StableDiffusionInpaintPipeline, 9, scheduler)


def instruct() -> Any:
    """As InstructPix2Pix: latents, and those of the source."""
    scheduler = EulerAncestralDiscreteScheduler(**_NOISE)
    return _stable(StableDiffusionInstructPix2PixPipeline, 8, scheduler)


def _stable_xl(kind: Any, in_channels: int) -> Any:
    tokenizer = clip_tokenizer()
    return kind(
        vae=make_vae(),
        text_encoder=CLIPTextModel(clip_text_config(tokenizer)),
        text_encoder_2=CLIPTextModelWithProjection(clip_text_config(tokenizer, projection_dim=32)),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        unet=make_unet(
            in_channels,
            cross_attention_dim=64,
            attention_head_dim=(2, 4),
            use_linear_projection=True,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + 32,
        ),
        scheduler=EulerDiscreteScheduler(timestep_spacing="leading", steps_offset=1, **_NOISE),
    )


def text_to_image_xl() -> Any:
    """As Stable Diffusion XL."""
    return _stable_xl(StableDiffusionXLPipeline, 4)


def inpainting_xl() -> Any:
    """As Stable Diffusion XL for inpainting."""
    return _stable_xl(StableDiffusionXLInpaintPipeline, 9)


def flux_fill() -> Any:
    """As Flux Fill: packed latents, those of what is kept, and the mask of each latent."""
    words = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    words += [(chr(code), -1.0) for code in range(97, 123)]
    t5_tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(Unigram(words, unk_id=2)),
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )
    t5 = T5Config(vocab_size=len(words), d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4)
    tokenizer = clip_tokenizer()
    return FluxFillPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=make_vae(
            latent_channels=1,
            use_quant_conv=False,
            use_post_quant_conv=False,
            shift_factor=0.06,
            scaling_factor=1.5,
        ),
        text_encoder=CLIPTextModel(clip_text_config(tokenizer)),
        tokenizer=tokenizer,
        text_encoder_2=T5EncoderModel(t5),
        tokenizer_2=t5_tokenizer,
        transformer=FluxTransformer2DModel(
            patch_size=1,
            in_channels=4 + 4 + 256,
            out_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            guidance_embeds=True,
            axes_dims_rope=(4, 4, 8),
        ),
    )


PIPELINES: dict[str, Callable[[], Any]] = {
    "sd-text2img": text_to_image,
    "sd-inpaint": inpainting,
    "sd-ip2p": instruct,
    "sdxl-text2img": text_to_image_xl,
    "sdxl-inpaint": inpainting_xl,
    "flux-fill": flux_fill,
}


def save_pipeline(name: str, folder: Path) -> Path:
    """Save one of `PIPELINES` below a folder, the same weights each time."""
    torch.manual_seed(sorted(PIPELINES).index(name))
    # Euler's schedulers make arrays of tensors in a way that NumPy 2 warns about
    with quiet():
        PIPELINES[name]().save_pretrained(folder / name, safe_serialization=True)
    return folder / name
