"""Tiny pipelines of the families that few people use, each for what is peculiar about it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from diffusers import (
    AutoencoderKLFlux2,
    AutoencoderKLQwenImage,
    ControlNetModel,
    DDPMScheduler,
    FlowMatchEulerDiscreteScheduler,
    Flux2KleinPipeline,
    Flux2Transformer2DModel,
    FluxKontextPipeline,
    FluxPipeline,
    FluxTransformer2DModel,
    IFPipeline,
    QwenImageEditPipeline,
    QwenImageEditPlusPipeline,
    QwenImageTransformer2DModel,
    SD3Transformer2DModel,
    StableDiffusion3Pipeline,
    StableDiffusionControlNetPipeline,
    ZImagePipeline,
    ZImageTransformer2DModel,
)
from transformers import (
    CLIPTextModelWithProjection,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2Tokenizer,
    Qwen2VLImageProcessorPil,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3Model,
    T5Config,
    T5EncoderModel,
)

from cobalance.vision.models.loading import quiet
from tests.tiny.conversation import SIGNS, byte_words
from tests.tiny.diffusion import NATIVE_PX, flux_fill, make_unet, make_vae, text_to_image
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
            in_channels=16,
            out_channels=16,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            joint_attention_dim=64,
            caption_projection_dim=32,
            pooled_projection_dim=64,
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=make_vae(16, use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06),
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


def _chat() -> Any:
    """A tokenizer of Qwen's, with a template for one question."""
    vocabulary, merges = byte_words(("photo", "cat"))
    vocabulary |= {sign: len(vocabulary) + at for at, sign in enumerate(SIGNS)}
    tokens = Qwen2Tokenizer(vocab=vocabulary, merges=merges, pad_token=SIGNS[0])
    tokens.add_special_tokens({"additional_special_tokens": list(SIGNS[1:])})
    tokens.chat_template = (
        "{% for message in messages %}<|im_start|>{{ message.content }}<|im_end|>{% endfor %}"
    )
    return tokens


def _qwen(tokens: Any, layers: int) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=len(tokens),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=1024,
    )


def flux_2_klein() -> Any:
    """Takes an image beside the mask as a reference, and says that it was distilled."""
    tokens = _chat()
    return Flux2KleinPipeline(
        is_distilled=True,
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=AutoencoderKLFlux2(
            block_out_channels=(4, 4, 8, 8),
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
            layers_per_block=1,
            latent_channels=1,
            norm_num_groups=2,
            sample_size=NATIVE_PX,
        ),
        # The pipeline reads its layers 9, 18 and 27.
        text_encoder=Qwen3ForCausalLM(_qwen(tokens, 27)),
        tokenizer=tokens,
        transformer=Flux2Transformer2DModel(
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=3 * 16,
            axes_dims_rope=(4, 4, 4, 4),
            guidance_embeds=False,
        ),
    )


def z_image() -> Any:
    """Its transformer does not say on which size it was trained."""
    tokens = _chat()
    transformer = ZImageTransformer2DModel(
        in_channels=4,
        dim=32,
        n_layers=1,
        n_refiner_layers=1,
        n_heads=2,
        n_kv_heads=2,
        cap_feat_dim=16,
        axes_dims=[8, 4, 4],
        axes_lens=[1024, 64, 64],
    )
    # diffusers leaves these as they lie in memory.
    for token in (transformer.x_pad_token, transformer.cap_pad_token):
        torch.nn.init.normal_(token)
    return ZImagePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=make_vae(use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06),
        text_encoder=Qwen3Model(_qwen(tokens, 2)),
        tokenizer=tokens,
        transformer=transformer,
    )


def _qwen_edit(kind: Any) -> Any:
    tokens = _chat()
    signs = {sign: tokens.convert_tokens_to_ids(sign) for sign in SIGNS}
    names = ("vision_start", "vision_end", "image", "video")
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokens),
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [1, 1, 2],
            },
        },
        vision_config={
            "depth": 1,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_heads": 2,
            "out_hidden_size": 16,
            "fullatt_block_indexes": [0],
        },
        **{f"{name}_token_id": signs[sign] for name, sign in zip(names, SIGNS[3:], strict=True)},
    )
    latents = 4
    return kind(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=AutoencoderKLQwenImage(
            base_dim=8,
            z_dim=latents,
            dim_mult=[1, 1, 1, 1],
            num_res_blocks=1,
            latents_mean=[0.0] * latents,
            latents_std=[1.0] * latents,
        ),
        text_encoder=Qwen2_5_VLForConditionalGeneration(config),
        tokenizer=tokens,
        # It sees images small, as it would see thousands of patches.
        processor=Qwen2VLProcessor(
            Qwen2VLImageProcessorPil(size={"shortest_edge": 28 * 28, "longest_edge": 56 * 56}),
            tokens,
            Qwen2VLVideoProcessor(),
        ),
        transformer=QwenImageTransformer2DModel(
            in_channels=4 * latents,
            out_channels=latents,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=16,
            axes_dims_rope=(8, 4, 4),
        ),
    )


def qwen_edit() -> Any:
    """Reads the image with the words, and brings it to an area of its own."""
    return _qwen_edit(QwenImageEditPipeline)


def qwen_edit_plus() -> Any:
    """Takes several images for one prompt."""
    return _qwen_edit(QwenImageEditPlusPipeline)


OTHER_PIPELINES: dict[str, Callable[[], Any]] = {
    "flux": flux,
    "flux-kontext": flux_kontext,
    "flux2-klein": flux_2_klein,
    "qwen-edit": qwen_edit,
    "qwen-edit-plus": qwen_edit_plus,
    "sd3": stable_3,
    "z-image": z_image,
    "controlnet": controlled,
    "deepfloyd": deepfloyd,
}


def save_other_pipeline(name: str, folder: Path) -> Path:
    """Save one of `OTHER_PIPELINES` below a folder, the same weights each time."""
    torch.manual_seed(sorted(OTHER_PIPELINES).index(name))
    with quiet():
        OTHER_PIPELINES[name]().save_pretrained(folder / name, safe_serialization=True)
    return folder / name
