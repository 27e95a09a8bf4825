"""Tiny checkpoints with random weights of every model that looks at images, saved as real ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
from safetensors.torch import load_file, save_file
from transformers import (
    BitImageProcessorPil,
    CLIPConfig,
    CLIPImageProcessorPil,
    CLIPModel,
    CLIPSegConfig,
    CLIPSegForImageSegmentation,
    CLIPTokenizer,
    Dinov2Config,
    Dinov2Model,
    Mask2FormerConfig,
    Mask2FormerForUniversalSegmentation,
    Mask2FormerImageProcessorPil,
    Owlv2Config,
    Owlv2ForObjectDetection,
    Owlv2ImageProcessorPil,
    SamConfig,
    SamImageProcessorPil,
    SamModel,
    SegformerConfig,
    SegformerForSemanticSegmentation,
    SegformerImageProcessorPil,
    SwinConfig,
    ViTConfig,
    ViTImageProcessorPil,
    ViTModel,
)

from cobalance.vision.models.loading import quiet
from tests.tiny.text import clip_text_config, clip_tokenizer

torch.set_num_threads(1)

LAYERS: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
EYE: dict[str, Any] = LAYERS | {"image_size": 32, "patch_size": 8}
THINGS = ("person", "dog", "cat")
LABELS = ("Background", "Hat", "Hair", "Face", "Dress")


def save_clip(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    tokens = clip_tokenizer()
    config = CLIPConfig(text_config=_text_config(tokens), vision_config=EYE, projection_dim=16)
    save_model(CLIPModel(config), folder)
    _clip_processor().save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_dino(folder: Path, seed: int = 0) -> Path:
    """A ViT without a pooling layer, as DINO's are published."""
    torch.manual_seed(seed)
    save_model(ViTModel(ViTConfig(**EYE), add_pooling_layer=False), folder)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


def save_dinov2(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    save_model(Dinov2Model(Dinov2Config(**EYE)), folder)
    side = {"height": 32, "width": 32}
    BitImageProcessorPil(size={"shortest_edge": 32}, crop_size=side).save_pretrained(folder)
    return folder


def save_owlv2(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    tokens = clip_tokenizer(32)
    config = Owlv2Config(text_config=_text_config(tokens), vision_config=EYE, projection_dim=32)
    model = Owlv2ForObjectDetection(config)
    for layer in (model.class_head.logit_shift, model.class_head.logit_scale):
        layer.weight.data *= 0.05  # scores between 0 and 1, not at either end
    model.box_head.dense2.weight.data *= 0.05  # boxes about where their patches are
    save_model(model, folder)
    Owlv2ImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_sam(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    side = {"image_size": 64, "patch_size": 8}
    config = SamConfig(
        vision_config=side
        | {
            "hidden_size": 32,
            "output_channels": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "mlp_dim": 64,
            "num_pos_feats": 8,
            "global_attn_indexes": [1],
            "window_size": 4,
        },
        prompt_encoder_config=side | {"hidden_size": 16, "mask_input_channels": 4},
        mask_decoder_config={
            "hidden_size": 16,
            "mlp_dim": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "iou_head_hidden_dim": 16,
        },
    )
    save_model(SamModel(config), folder)
    SamImageProcessorPil(
        size={"longest_edge": 64},
        mask_size={"longest_edge": 16},
        pad_size={"height": 64, "width": 64},
        mask_pad_size={"height": 16, "width": 16},
    ).save_pretrained(folder)
    return folder


def save_parsing(folder: Path, seed: int = 0, labels: Sequence[str] = LABELS) -> Path:
    torch.manual_seed(seed)
    config = SegformerConfig(
        num_encoder_blocks=4,
        depths=[1] * 4,
        hidden_sizes=[8, 16, 16, 32],
        num_attention_heads=[1, 1, 2, 2],
        decoder_hidden_size=16,
        id2label=dict(enumerate(labels)),
        label2id={name: number for number, name in enumerate(labels)},
    )
    save_model(SegformerForSemanticSegmentation(config), folder)
    SegformerImageProcessorPil(size={"height": 64, "width": 64}).save_pretrained(folder)
    return folder


def save_clipseg(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    tokens = clip_tokenizer()
    config = CLIPSegConfig(
        text_config=_text_config(tokens),
        vision_config=EYE,
        projection_dim=16,
        extract_layers=[0, 1],
        reduce_dim=16,
        decoder_num_attention_heads=2,
        decoder_intermediate_size=32,
        conditional_layer=0,
    )
    model = CLIPSegForImageSegmentation(config)
    save_model(model, folder)
    ViTImageProcessorPil(size={"height": 48, "width": 48}).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_mask2former(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    config = Mask2FormerConfig(
        backbone_config=SwinConfig(
            image_size=64,
            embed_dim=8,
            depths=[1, 1, 1, 1],
            num_heads=[1, 1, 2, 2],
            window_size=4,
            out_features=["stage1", "stage2", "stage3", "stage4"],
        ),
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_feedforward_dim=32,
        dim_feedforward=32,
        encoder_layers=1,
        decoder_layers=2,
        num_attention_heads=2,
        num_queries=12,
        id2label=dict(enumerate(THINGS)),
        label2id={name: number for number, name in enumerate(THINGS)},
    )
    model = Mask2FormerForUniversalSegmentation(config)
    save_model(model, folder)
    Mask2FormerImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 128}).save_pretrained(
        folder
    )
    return folder


def save_safety(folder: Path, seed: int = 0, threshold: float = 0.42) -> Path:
    """A checker whose concepts are random directions, and whose thresholds are about their median.

    It flags some images and passes others; with a threshold of 1 it passes all. The file has the
    published one's names: transformers 5 has taken a level out of CLIPVisionModel, and reads both.
    """
    torch.manual_seed(seed)
    config = CLIPConfig(
        text_config=_text_config(clip_tokenizer()), vision_config=EYE, projection_dim=16
    )
    checker = StableDiffusionSafetyChecker(config)
    checker.concept_embeds.data.normal_()
    checker.special_care_embeds.data.normal_()
    checker.concept_embeds_weights.data.fill_(threshold)
    checker.special_care_embeds_weights.data.fill_(threshold - 0.04)
    save_model(checker, folder)
    tensors = {
        name.replace("vision_model.", "vision_model.vision_model.", 1): tensor
        for name, tensor in load_file(folder / "model.safetensors").items()
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _clip_processor().save_pretrained(folder)
    return folder


def _text_config(tokens: CLIPTokenizer) -> dict[str, Any]:
    return clip_text_config(tokens).to_dict()


def save_model(model: Any, folder: Path) -> None:
    with quiet():
        model.save_pretrained(folder)


def _clip_processor() -> CLIPImageProcessorPil:
    return CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
