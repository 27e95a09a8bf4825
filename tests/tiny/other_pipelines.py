"""Tiny pipelines of the families that few people use, each for what is peculiar about it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from diffusers import (
    AutoencoderDC,
    ControlNetModel,
    DDIMScheduler,
    DDPMScheduler,
    DPMSolverMultistepScheduler,
    FlowMatchEulerDiscreteScheduler,
    FluxKontextPipeline,
    FluxPipeline,
    FluxTransformer2DModel,
    IFPipeline,
    KandinskyV22InpaintCombinedPipeline,
    PixArtAlphaPipeline,
    PixArtTransformer2DModel,
    PriorTransformer,
    SanaPipeline,
    SanaTransformer2DModel,
    SD3Transformer2DModel,
    StableDiffusion3Pipeline,
    StableDiffusionControlNetPipeline,
    UnCLIPScheduler,
    UNet2DConditionModel,
    VQModel,
)
from transformers import (
    CLIPImageProcessorPil,
    CLIPTextModelWithProjection,
    CLIPVisionConfig,
    CLIPVisionModelWithProjection,
    Gemma2Config,
    Gemma2Model,
    T5Config,
    T5EncoderModel,
)

from cobalance.ingest.models.loading import quiet
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


def _pixart(sample_size: int) -> Any:
    return PixArtAlphaPipeline(
        **_t5(),
        vae=make_vae(),
        transformer=PixArtTransformer2DModel(
            sample_size=sample_size,
            num_layers=1,
            patch_size=2,
            attention_head_dim=8,
            num_attention_heads=2,
            caption_channels=32,
            cross_attention_dim=16,
            in_channels=4,
            out_channels=8,
            norm_type="ada_norm_single",
            use_additional_conditions=False,
        ),
        scheduler=DPMSolverMultistepScheduler(),
    )


def pixart() -> Any:
    """Knows its size by its transformer alone, and paints one of a few near to what is asked."""
    return _pixart(32)


def pixart_of_an_odd_size() -> Any:
    """Has no list of sizes to choose from."""
    return _pixart(8)


def sana() -> Any:
    """Samples a flow with DPM-Solver++, and shrinks images by 32."""
    tokens = _t5()["tokenizer"]
    tokens.padding_side = "right"
    vae = AutoencoderDC(
        in_channels=3,
        latent_channels=4,
        attention_head_dim=2,
        encoder_block_types=("ResBlock",) * 6,
        decoder_block_types=("ResBlock",) * 6,
        encoder_block_out_channels=(8,) * 6,
        decoder_block_out_channels=(8,) * 6,
        encoder_qkv_multiscales=((),) * 6,
        decoder_qkv_multiscales=((),) * 6,
        encoder_layers_per_block=(1,) * 6,
        decoder_layers_per_block=(1,) * 6,
        downsample_block_type="conv",
        upsample_block_type="interpolate",
        decoder_norm_types="rms_norm",
        decoder_act_fns="silu",
        scaling_factor=0.41407,
    )
    encoder = Gemma2Model(
        Gemma2Config(
            vocab_size=29,
            hidden_size=8,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            pad_token_id=0,
        )
    )
    return SanaPipeline(
        tokenizer=tokens,
        text_encoder=encoder,
        vae=vae,
        transformer=SanaTransformer2DModel(
            patch_size=1,
            in_channels=4,
            out_channels=4,
            num_layers=1,
            num_attention_heads=2,
            attention_head_dim=4,
            num_cross_attention_heads=2,
            cross_attention_head_dim=4,
            cross_attention_dim=8,
            caption_channels=8,
            sample_size=32,
        ),
        scheduler=DPMSolverMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0
        ),
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


def kandinsky_inpainting() -> Any:
    """Two pipelines in one: the words' image embedding, and the image of that."""
    tokenizer = clip_tokenizer()
    eye = CLIPVisionConfig(
        hidden_size=32,
        projection_dim=32,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        image_size=32,
        patch_size=8,
    )
    return KandinskyV22InpaintCombinedPipeline(
        unet=UNet2DConditionModel(
            in_channels=9,
            out_channels=8,
            addition_embed_type="image",
            down_block_types=("ResnetDownsampleBlock2D", "SimpleCrossAttnDownBlock2D"),
            up_block_types=("SimpleCrossAttnUpBlock2D", "ResnetUpsampleBlock2D"),
            mid_block_type="UNetMidBlock2DSimpleCrossAttn",
            block_out_channels=(8, 16),
            norm_num_groups=4,
            layers_per_block=1,
            encoder_hid_dim=32,
            encoder_hid_dim_type="image_proj",
            cross_attention_dim=16,
            attention_head_dim=4,
            resnet_time_scale_shift="scale_shift",
        ),
        scheduler=DDIMScheduler(clip_sample=False, set_alpha_to_one=False, steps_offset=1),
        movq=VQModel(
            block_out_channels=[32] * 4,
            down_block_types=["DownEncoderBlock2D"] * 4,
            up_block_types=["UpDecoderBlock2D"] * 4,
            latent_channels=4,
            layers_per_block=1,
            norm_num_groups=4,
            norm_type="spatial",
            num_vq_embeddings=12,
            vq_embed_dim=4,
        ),
        prior_prior=PriorTransformer(
            num_attention_heads=2,
            attention_head_dim=12,
            embedding_dim=32,
            num_layers=1,
            num_embeddings=77,
        ),
        prior_image_encoder=CLIPVisionModelWithProjection(eye),
        prior_text_encoder=CLIPTextModelWithProjection(
            clip_text_config(tokenizer, projection_dim=32)
        ),
        prior_tokenizer=tokenizer,
        prior_scheduler=UnCLIPScheduler(
            variance_type="fixed_small_log", prediction_type="sample", clip_sample_range=5.0
        ),
        prior_image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
    )


OTHER_PIPELINES: dict[str, Callable[[], Any]] = {
    "flux": flux,
    "flux-kontext": flux_kontext,
    "sd3": stable_3,
    "pixart": pixart,
    "pixart-odd": pixart_of_an_odd_size,
    "sana": sana,
    "controlnet": controlled,
    "deepfloyd": deepfloyd,
    "kandinsky-inpaint": kandinsky_inpainting,
}


def save_other_pipeline(name: str, folder: Path) -> Path:
    """Save one of `OTHER_PIPELINES` below a folder, the same weights each time."""
    torch.manual_seed(sorted(OTHER_PIPELINES).index(name))
    with quiet():
        OTHER_PIPELINES[name]().save_pretrained(folder / name, safe_serialization=True)
    return folder / name
